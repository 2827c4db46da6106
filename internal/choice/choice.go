// Package choice implements the HTTP API of live choices: the values that a cluster has
// for a field of a form, such as its StorageClasses.
//
// The stored Template says which objects are listed; nothing in a request widens that. A
// cluster that impersonates lists them for the caller. In the others the portal's account
// lists them, and the caller gets those that the permission rules let it read; of
// namespaces, those in which it may create what the Template creates.
package choice

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/reading"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/source/cluster/live"
)

// Template is a Template of the catalog.
type Template struct {
	// Resource is what permissions need to know, including the origin.
	Resource *permission.Resource
	Spec     *tree.Node
}

// Options configure New. All are required.
type Options struct {
	// Template returns the Template with a reference. The error is db.ErrNotFound if there
	// is none, or the caller of the context may not read it.
	Template func(ctx context.Context, ref string) (Template, error)
	// Cluster returns a cluster whose calls are made for the caller of the context: by the
	// user, if the cluster impersonates, and otherwise by the portal's account. An empty
	// name means the one that steps use which name none. The error is a *rest.Fault if the
	// caller may not use the cluster.
	Cluster func(ctx context.Context, name string) (*cluster.Cluster, error)
	Policy  *permission.Policy
	Now     func() time.Time
}

// Choices is the API.
type Choices struct {
	opts     Options
	kinds    *live.Kinds
	readings *reading.Readings[list]
}

const (
	// keepFor is how long a list is kept: a user types several letters in this time.
	keepFor = 10 * time.Second
	// mostKept is how many objects of lists are kept.
	mostKept = 100_000
	// mostItems is how many values are in a response, and longest the length of each.
	mostItems = 1000
	longest   = 512
)

// New returns the API.
func New(opts Options) *Choices {
	return &Choices{
		opts: opts, kinds: live.NewKinds(opts.Now),
		readings: reading.New(opts.Now, mostKept, func(l list) int { return len(l.objects) + 1 }).Keep(keepFor),
	}
}

// Route returns the route of GET /choices.
func (s *Choices) Route() rest.Route {
	return rest.Route{Method: http.MethodGet, Path: "/choices", Handle: s.choices, Timeout: 2 * reading.Timeout}
}

// Response are the choices of a field.
type Response struct {
	// Cluster and Kind are where the values come from.
	Cluster string `json:"cluster"`
	Kind    string `json:"kind"`
	Items   []Item `json:"items"`
	// More reports that there are other values, which a search may find.
	More bool `json:"more"`
}

// Item is a value, a string or an integer, and the text to show with it.
type Item struct {
	Value json.RawMessage `json:"value"`
	Label string          `json:"label,omitempty"`
}

// choices answers GET /choices.
func (s *Choices) choices(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	q, err := s.question(r)
	if err != nil {
		return err
	}
	on, err := s.opts.Cluster(ctx, q.cluster)
	if err != nil {
		return told(q.cluster, err)
	}
	q.cluster = on.Name()
	found, err := s.list(ctx, on, q)
	if err != nil {
		return told(q.cluster, err)
	}
	may, err := s.permitted(ctx, on, q, found)
	if err != nil {
		return told(q.cluster, err)
	}
	out := Response{Cluster: q.cluster, Kind: q.choices.Kind, More: found.more}
	out.fill(may, q)
	return rest.WriteJSON(w, r, http.StatusOK, out)
}

// fill adds the values that match the search, sorted and without duplicates.
func (r *Response) fill(objects []object, q question) {
	r.Items = []Item{}
	search := strings.ToLower(q.search)
	seen := map[string]bool{}
	for _, o := range objects {
		value, ok := o.encoded(q.integers)
		if !ok || seen[string(value)] || !strings.Contains(strings.ToLower(o.value+"\n"+o.label), search) {
			continue
		}
		if len(r.Items) == mostItems {
			r.More = true
			return
		}
		seen[string(value)] = true
		r.Items = append(r.Items, Item{Value: value, Label: o.label})
	}
}

// encoded returns the value as JSON; false if a field of its type cannot have it.
func (o object) encoded(integer bool) (json.RawMessage, bool) {
	if integer {
		n, err := strconv.ParseInt(o.value, 10, 64)
		return strconv.AppendInt(nil, n, 10), err == nil
	}
	text, err := json.Marshal(o.value)
	return text, err == nil
}

// compare orders objects by value.
func compare(a, b object) int { return strings.Compare(a.value, b.value) }

// sorted sorts the objects of a list.
func sorted(objects []object) []object {
	slices.SortStableFunc(objects, compare)
	return objects
}

// told converts the error of a cluster to the fault that the caller sees. The text of the
// error is only logged: it may contain the address of the cluster.
func told(name string, err error) error {
	e, ok := errors.AsType[*cluster.Error](err)
	if !ok || e.Reason == cluster.Canceled {
		return err
	}
	switch e.Reason {
	case cluster.Forbidden:
		return &rest.Fault{Status: http.StatusForbidden, Name: "NotAllowedError", Message: forbidden(name, e), Err: err}
	case cluster.Absent:
		return &rest.Fault{Status: http.StatusNotFound, Name: "NotFoundError", Message: "Cluster " + name + " does not have this kind of object", Err: err}
	}
	return rest.Unavailable(err, "Cluster %s %s", name, e.Reason.Describe())
}

// forbidden says what a cluster does not allow.
func forbidden(name string, e *cluster.Error) string {
	if e.Missing.Empty() {
		return "Cluster " + name + " does not let the portal act for you"
	}
	return "No permission to " + e.Doing + " in cluster " + name
}
