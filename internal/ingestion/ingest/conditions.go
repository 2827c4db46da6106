package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/ingestion/mirror"
)

// Composite names a composite or claim, as its entity does.
type Composite struct {
	Cluster, APIVersion, Kind, Namespace, Name string
}

// Condition is one of a composite, with what changes all the time.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Since is when its status became so; the zero time if nobody knows.
	Since time.Time `json:"lastTransitionTime,omitzero"`
}

const (
	// mostConditions is how many conditions of a composite are remembered.
	mostConditions = 40
	// longestMessage is how much of a message is, longestWord how long a type
	// and a reason may be.
	longestMessage = 2048
	longestWord    = 316
)

// access is a user, perhaps with a password, in an address.
var access = regexp.MustCompile(`://[^/\s@]*@`)

// fares is what is remembered of how a composite fares: its conditions, and
// nothing else, which may be secret. It is nil if there are none.
func fares(n *tree.Node) []byte {
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

// Conditions returns the conditions of a composite or claim as they were last
// seen. It reports false if no source has it.
func (in *Ingest) Conditions(ctx context.Context, c Composite) ([]Condition, bool, error) {
	group, _, _ := strings.Cut(c.APIVersion, "/")
	found, err := in.Memory.ObjectsNamed(ctx, kindKey(group, c.Kind),
		keyOf(c.Namespace, c.Name), bounded(folderKey(group, c.Kind, c.Namespace, c.Name)))
	if err != nil {
		return nil, false, err
	}
	// Both parts may read the same cluster, and one of them later.
	slices.SortStableFunc(found, func(a, b mirror.Object) int { return cmp.Compare(b.Version, a.Version) })
	for i := range found {
		o := &found[i]
		if noteOf(o).Origin.Cluster != c.Cluster {
			continue
		}
		all := []Condition{}
		if len(o.Status) > 0 {
			err := json.Unmarshal(o.Status, &all)
			return all, true, err
		}
		// It was remembered before there was more to remember.
		n, err := tree.Wire{}.Decode(o.Body)
		return append(all, conditionsOf(n)...), true, err
	}
	return nil, false, nil
}
