package object

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/internal/ingestion/mirror"
)

// Composite identifies a composite or claim, as its entity does.
type Composite struct {
	Cluster, APIVersion, Kind, Namespace, Name string
}

// Condition is a status condition of a composite, including the fields that change
// often.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Since is when Status last changed; the zero time if that is unknown.
	Since time.Time `json:"lastTransitionTime,omitzero"`
}

const (
	// mostConditions is how many conditions of a composite are stored.
	mostConditions = 40
	// longestMessage is the length to which a message is truncated, longestWord the
	// maximum length of a type, a status and a reason.
	longestMessage = 2048
	longestWord    = 316
)

// access matches user information in a URL: a user name, possibly with a password.
var access = regexp.MustCompile(`://[^/\s@]*@`)

// storedStatus returns the status that is stored of a composite: its conditions as JSON, and
// nothing else, because the rest may be secret. It is nil if there are none.
func storedStatus(n *tree.Node) []byte {
	all := conditionsOf(n)
	if len(all) == 0 {
		return nil
	}
	data, err := json.Marshal(all)
	if err != nil {
		return nil
	}
	return data
}

// conditionsOf reads the conditions in the status of an object.
func conditionsOf(n *tree.Node) []Condition {
	var out []Condition
	for _, it := range n.Get("status", "conditions").List() {
		c := Condition{Type: it.Get("type").Str(), Status: it.Get("status").Str(), Reason: it.Get("reason").Str()}
		if c.Type == "" || c.Status == "" || len(c.Type) > longestWord || len(c.Status) > longestWord || len(out) == mostConditions {
			continue
		}
		if len(c.Reason) > longestWord {
			c.Reason = ""
		}
		c.Message = access.ReplaceAllString(it.Get("message").Str(), "://")
		if len(c.Message) > longestMessage {
			c.Message = strings.ToValidUTF8(c.Message[:longestMessage], "") + "…"
		}
		if at, err := time.Parse(time.RFC3339, it.Get("lastTransitionTime").Scalar()); err == nil {
			c.Since = at.UTC()
		}
		out = append(out, c)
	}
	return out
}

// Conditions returns the last seen conditions of a composite or claim. It reports false
// if no source has that object.
func Conditions(ctx context.Context, m *mirror.Mirror, c Composite) ([]Condition, bool, error) {
	group, _, _ := strings.Cut(c.APIVersion, "/")
	found, err := m.ObjectsNamed(ctx, kindKey(group, c.Kind),
		Key(c.Namespace, c.Name), Bounded(FolderKey(group, c.Kind, c.Namespace, c.Name)))
	if err != nil {
		return nil, false, err
	}
	// Both variants may read the same cluster, one later than the other.
	slices.SortStableFunc(found, func(a, b mirror.Object) int { return cmp.Compare(b.Version, a.Version) })
	for i := range found {
		o := &found[i]
		if NoteOf(o).Origin.Cluster != c.Cluster {
			continue
		}
		all := []Condition{}
		if len(o.Status) > 0 {
			err := json.Unmarshal(o.Status, &all)
			return all, true, err
		}
		// The object was stored before the status had its own column.
		n, err := wire.Decoder{}.Decode(o.Body)
		return append(all, conditionsOf(n)...), true, err
	}
	return nil, false, nil
}
