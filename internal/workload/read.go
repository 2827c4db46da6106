package workload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
)

const (
	// pageSize is how many objects are requested at once, and mostObjects how many are
	// returned of a kind.
	pageSize    = 100
	mostObjects = 500
	// mostPage is the size limit of a response of a cluster, mostBytes that of the objects
	// of a cluster, and mostResponse that of all clusters together.
	mostPage     = 16 << 20
	mostBytes    = 16 << 20
	mostResponse = 48 << 20
	// listsAtOnce is how many kinds of a cluster are read concurrently.
	listsAtOnce = 5
)

// Objects is the response to a query. The items are ClusterObjects.
type Objects struct {
	Items []json.RawMessage `json:"items"`
}

// ClusterObjects are the objects of a cluster.
type ClusterObjects struct {
	Cluster struct {
		Name string `json:"name"`
	} `json:"cluster"`
	Resources []Resources `json:"resources"`
	// PodMetrics are always empty: metrics are not read.
	PodMetrics []struct{}   `json:"podMetrics"`
	Errors     []FetchError `json:"errors"`
}

// Resources are the objects of a kind.
type Resources struct {
	Type      string            `json:"type"`
	Resources []json.RawMessage `json:"resources"`
}

// FetchError is why something is missing in a response, in the form of Backstage's
// plugin: with status and path for a list that a cluster refused, and otherwise with the
// type FETCH_ERROR and a message.
type FetchError struct {
	ErrorType    string `json:"errorType"`
	StatusCode   int    `json:"statusCode,omitempty"`
	ResourcePath string `json:"resourcePath,omitempty"`
	Message      string `json:"message,omitempty"`
}

// fetchFailed is the type of an error with a message.
const fetchFailed = "FETCH_ERROR"

// Cluster is the part of a response about a cluster, encoded.
type Cluster struct {
	name string
	body []byte
	// empty reports that there are neither objects nor errors.
	empty bool
}

func newCluster(name string, found []Resources, errs []FetchError) Cluster {
	o := ClusterObjects{Resources: found, PodMetrics: []struct{}{}, Errors: errs}
	o.Cluster.Name = name
	if o.Errors == nil {
		o.Errors = []FetchError{}
	}
	if o.Resources == nil {
		o.Resources = []Resources{}
	}
	c := Cluster{name: name, empty: len(errs) == 0}
	for _, r := range found {
		c.empty = c.empty && len(r.Resources) == 0
	}
	// The objects have been encoded before.
	c.body, _ = json.Marshal(o)
	return c
}

// failed returns a cluster that could not be read.
func failed(name, message string) Cluster {
	return newCluster(name, nil, []FetchError{{ErrorType: fetchFailed, Message: message}})
}

// newObjects returns the response for some clusters: as that of Backstage, without those
// that have nothing.
func newObjects(all []Cluster) Objects {
	out, size := Objects{Items: []json.RawMessage{}}, 0
	for _, c := range all {
		if c.empty {
			continue
		}
		if size+len(c.body) > mostResponse {
			c = failed(c.name, fmt.Sprintf("The objects of the cluster are left out: the response would be larger than %d MiB", mostResponse>>20))
		}
		size += len(c.body)
		out.Items = append(out.Items, c.body)
	}
	return out
}

// read reads the objects of some kinds that are selected in a cluster.
func read(ctx context.Context, on *cluster.Cluster, sel selection, kinds []kind) Cluster {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	found, errs := make([]Resources, len(kinds)), make([][]FetchError, len(kinds))
	var group errgroup.Group
	group.SetLimit(listsAtOnce)
	for i, k := range kinds {
		group.Go(func() error {
			var err error
			found[i], errs[i], err = readKind(ctx, on, sel, k)
			if err != nil {
				// The other lists of the cluster would fail too, after as much time.
				cancel(err)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		// The error of another list may be that it was canceled.
		if first, ok := errors.AsType[*cluster.Error](context.Cause(ctx)); ok {
			err = first
		}
		return failed(on.Name(), told(on.Name(), err))
	}
	var kept []Resources
	var problems []FetchError
	size := 0
	for i := range kinds {
		problems = append(problems, errs[i]...)
		if found[i].Type == "" {
			continue
		}
		if size += sizeOf(found[i]); size > mostBytes {
			size -= sizeOf(found[i])
			problems = append(problems, FetchError{ErrorType: fetchFailed, Message: fmt.Sprintf("%s are left out: the objects of the cluster are larger than %d MiB", kinds[i].plural, mostBytes>>20)})
			continue
		}
		kept = append(kept, found[i])
	}
	return newCluster(on.Name(), kept, problems)
}

func sizeOf(r Resources) (n int) {
	for _, o := range r.Resources {
		n += len(o)
	}
	return n
}

// readKind reads the objects of a kind. What concerns only the kind is a FetchError; an
// error concerns the cluster.
func readKind(ctx context.Context, on *cluster.Cluster, sel selection, k kind) (Resources, []FetchError, error) {
	out, seen := Resources{Type: k.typ, Resources: []json.RawMessage{}}, map[string]bool{}
	for _, labels := range sel.labels {
		more, err := list(ctx, on, k, sel.namespace, url.Values{"labelSelector": {labels}}, mostObjects, func(n *tree.Node, kind string) bool {
			name := n.Get("metadata", "namespace").Str() + "/" + n.Get("metadata", "name").Str()
			if seen[name] {
				return true
			}
			if len(out.Resources) == mostObjects {
				return false
			}
			seen[name] = true
			if k.typ == customType && kind != "" {
				n.Set("kind", tree.Str(kind))
			}
			out.Resources = append(out.Resources, tree.AppendJSON(nil, redact(n), ""))
			return true
		})
		if err != nil {
			problem, ok := problemOf(k, sel.namespace, err)
			if !ok {
				return out, nil, err
			}
			// Another label would be refused too.
			return Resources{}, []FetchError{problem}, nil
		}
		if more {
			return out, []FetchError{{ErrorType: fetchFailed, Message: fmt.Sprintf("Only %d %s are shown; there are more", mostObjects, k.plural)}}, nil
		}
	}
	return out, nil, nil
}

// list calls each for the objects of a list, with the kind of the list, until it returns
// false or most objects were read. more reports that there are others.
func list(ctx context.Context, on *cluster.Cluster, k kind, namespace string, query url.Values, most int, each func(n *tree.Node, kind string) bool) (more bool, err error) {
	query.Set("limit", strconv.Itoa(min(pageSize, most)))
	for read := 0; ; {
		answer, err := on.Do(ctx, cluster.Call{Doing: "list " + k.plural, Path: k.path(namespace), Query: query, Needs: k.needs("list"), Most: mostPage})
		if err != nil {
			return false, err
		}
		kind := strings.TrimSuffix(answer.Get("kind").Str(), "List")
		for _, n := range answer.Get("items").List() {
			if read++; !each(n, kind) {
				return true, nil
			}
		}
		next := answer.Get("metadata", "continue").Str()
		if next == "" || read >= most {
			return next != "", nil
		}
		query.Set("continue", next)
	}
}

func (k kind) needs(verb string) cluster.Rule {
	return cluster.Rule{Groups: []string{k.group}, Resources: []string{k.plural}, Verbs: []string{verb}}
}

// problemOf returns the problem of a list that a cluster refused; false if the error
// concerns the whole cluster.
func problemOf(k kind, namespace string, err error) (FetchError, bool) {
	e, ok := errors.AsType[*cluster.Error](err)
	if !ok {
		return FetchError{}, false
	}
	refusal, answered := cluster.RefusalOf(err)
	switch {
	case e.Reason == cluster.Forbidden && answered:
		p := FetchError{ErrorType: errorType(refusal.Code), StatusCode: refusal.Code, ResourcePath: k.path(namespace)}
		if e.Missing.Empty() {
			p.Message = "The portal's account may not impersonate users"
			return p, true
		}
		p.Message = fmt.Sprintf("Missing RBAC rule: { apiGroups: [%q], resources: [%q], verbs: [\"list\"] }", k.group, k.plural)
		return p, true
	case answered && e.Reason != cluster.Unauthorized:
		return FetchError{ErrorType: errorType(refusal.Code), StatusCode: refusal.Code, ResourcePath: k.path(namespace)}, true
	case e.Reason == cluster.Server && !answered:
		return FetchError{ErrorType: fetchFailed, Message: "Cannot read " + k.plural + ": the response is too large or not a list"}, true
	}
	return FetchError{}, false
}

// errorType is the type of an error in Backstage's plugin.
func errorType(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "BAD_REQUEST"
	case http.StatusUnauthorized:
		return "UNAUTHORIZED_ERROR"
	case http.StatusNotFound:
		return "NOT_FOUND"
	case http.StatusInternalServerError:
		return "SYSTEM_ERROR"
	}
	return "UNKNOWN_ERROR"
}

// told returns what callers are told about an error of a cluster. The text of the error
// is not shown: it may contain the address of the cluster.
func told(name string, err error) string {
	e, ok := errors.AsType[*cluster.Error](err)
	if !ok {
		e = &cluster.Error{}
	}
	return "Cluster " + name + " " + e.Reason.Describe()
}
