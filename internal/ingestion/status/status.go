// Package status stores what is known of each target between scans: when it was read,
// which lists failed, which objects are stale, and which removals wait for a confirmation.
package status

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/source/cluster"
)

// Target identifies a cluster or folder as a variant reads it.
type Target struct {
	// Name is the name of the source in the API; At is the display name of the cluster or
	// folder.
	Name, At string
	// Cluster says that it is a cluster, and URL is its address, if that is known.
	Cluster bool
	URL     string
}

// Status is the stored state of a target between scans.
type Status struct {
	// Tried is when it was last read, Good when that last succeeded.
	Tried time.Time `json:"tried"`
	Good  time.Time `json:"good,omitzero"`
	// Error is the error of the last scan.
	Error string `json:"error,omitempty"`
	// Reason classifies the error: unreachable, forbidden and so on. Hint is how to fix
	// it.
	Reason string          `json:"reason,omitempty"`
	Hint   string          `json:"hint,omitempty"`
	Lists  map[string]List `json:"lists,omitempty"`
	// Problems are the unreadable objects and files, the first mostProblems of
	// ProblemCount.
	Problems     []Problem `json:"problems,omitempty"`
	ProblemCount int       `json:"problemCount,omitempty"`
	// Selection says how many definitions are selected; nil if that is unknown.
	Selection *Selection `json:"selection,omitempty"`
	// Pending is a mass removal that is not confirmed yet; nil if there is none.
	Pending *PendingRemoval `json:"pending,omitempty"`
	// Unsettled are files that have lost objects recently.
	Unsettled map[string]Unsettled `json:"unsettled,omitempty"`
}

// List is the stored state of a list.
type List struct {
	Count   int    `json:"count"`
	Version int64  `json:"version,omitempty"`
	Error   string `json:"error,omitempty"`
	// Stale is since when its content is unknown; zero if it is known.
	Stale time.Time `json:"stale,omitzero"`
	// Good is when it was last read successfully.
	Good time.Time `json:"good,omitzero"`
	// Unreadable counts its unreadable objects.
	Unreadable int `json:"spoilt,omitempty"`
	// Kept are objects that could not be read, unlike others of the list, by key.
	Kept map[string]Kept `json:"kept,omitempty"`
	// Untracked is why the list is not read, which is not an error; empty if it is read.
	Untracked string `json:"untracked,omitempty"`
	// Unserved says that the cluster does not serve the list's kind.
	Unserved bool `json:"unserved,omitempty"`
}

// Kept is an object that stays as it was last read.
type Kept struct {
	// Since is when it was last read.
	Since time.Time `json:"since"`
	Unit  string    `json:"unit,omitempty"`
}

// Unsettled is a file that has lost objects recently.
type Unsettled struct {
	// Digest is a hash of its remaining objects and its stamp, and Since when it was first
	// seen. A file that was truncated, written and truncated again between two scans has
	// another stamp.
	Digest string    `json:"digest"`
	Since  time.Time `json:"since"`
}

// NotSource is the prefix of the journal keys that are not states of sources.
const NotSource = "about "

// KeyFailures is the journal key of the units that cannot be built.
const KeyFailures = NotSource + "units that failed"

// Load returns the states of the named targets, or of all that were ever read. Callers share
// what is in them, and must not change it.
func Load(ctx context.Context, m *mirror.Mirror, names ...string) (map[string]Status, error) {
	states, err := m.SourceStates(ctx, names...)
	if err != nil {
		return nil, err
	}
	return decodeAll(states, func(name string, data []byte) (Status, error) {
		c, err := m.Decoded(name, data, func(data []byte) (any, error) { return decode(data) })
		if err != nil {
			return Status{}, err
		}
		return c.(Status), nil
	})
}

// Decode decodes the stored states of targets.
func Decode(states map[string][]byte) (map[string]Status, error) {
	return decodeAll(states, func(_ string, data []byte) (Status, error) { return decode(data) })
}

func decode(data []byte) (c Status, err error) {
	err = json.Unmarshal(data, &c)
	return c, err
}

func decodeAll(states map[string][]byte, decode func(name string, data []byte) (Status, error)) (map[string]Status, error) {
	out := make(map[string]Status, len(states))
	for name, data := range states {
		if strings.HasPrefix(name, NotSource) {
			continue
		}
		c, err := decode(name, data)
		if err != nil {
			return nil, fmt.Errorf("cannot read the state of source %q: %w", name, err)
		}
		out[name] = c
	}
	return out, nil
}

// Failures returns the units that could not be built at the last attempt, by any
// replica, and why.
func Failures(ctx context.Context, m *mirror.Mirror) (map[string]string, error) {
	states, err := m.SourceStates(ctx, KeyFailures)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	if data, ok := states[KeyFailures]; ok {
		err = json.Unmarshal(data, &out)
	}
	return out, err
}

// SetFailures stores the failing units.
func SetFailures(ctx context.Context, m *mirror.Mirror, failures map[string]string) error {
	data, err := json.Marshal(failures)
	if err != nil {
		return err
	}
	return m.SetSource(ctx, KeyFailures, data)
}

// StaleObject returns since when an object of the list is stale; zero if it is not.
func (c *List) StaleObject(key string) time.Time {
	if k, ok := c.Kept[key]; ok && (c.Stale.IsZero() || k.Since.Before(c.Stale)) {
		return k.Since
	}
	return c.Stale
}

// StaleSince returns since when the content of a list that cannot be read now is
// unknown.
func (c *List) StaleSince(now time.Time) time.Time {
	since := c.Stale
	if since.IsZero() {
		since = c.Good
	}
	if since.IsZero() || since.After(now) {
		// The list was never read, or the clock was set back.
		return now
	}
	return since
}

// Turned returns the units of objects that have become stale or fresh, and reports
// whether the whole list has.
func (c *List) Turned(now List) (units []string, all bool) {
	all = !c.Stale.Equal(now.Stale)
	compare := func(a, b map[string]Kept) {
		for key, k := range a {
			if b[key].Since.Equal(k.Since) {
				continue
			}
			// An object without a unit may belong to any.
			if all = all || k.Unit == ""; k.Unit != "" {
				units = append(units, k.Unit)
			}
		}
	}
	compare(c.Kept, now.Kept)
	compare(now.Kept, c.Kept)
	slices.Sort(units)
	return slices.Compact(units), all
}

// UnservedKinds returns those of a definition's kinds that its cluster did not serve when
// it was last scanned.
func (s *Status) UnservedKinds(kinds []cluster.Kind) []string {
	var out []string
	for _, k := range kinds {
		if s.Lists[object.ListComposites+k.String()].Unserved && !slices.Contains(out, k.Kind) {
			out = append(out, k.Kind)
		}
	}
	return out
}

// Selection says how many of a source's definitions are selected.
type Selection struct {
	Found    int `json:"found"`
	Selected int `json:"selected"`
	// Message says why none is selected, and Hint how to change that; both are empty if
	// one is, or if there are none.
	Message string `json:"message,omitempty"`
	Hint    string `json:"hint,omitempty"`
}
