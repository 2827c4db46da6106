package workload

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/source/cluster"
)

const (
	// usualLines and mostLines are how many lines of a log are returned.
	usualLines = 200
	mostLines  = 1000
	// mostLog is how much of a log is read, and shownLog how much of its end is returned.
	mostLog  = 4 << 20
	shownLog = 512 << 10
	// mostEvents is how many events are returned.
	mostEvents = 100
)

// place is an object in a cluster.
type place struct{ cluster, namespace, name string }

// logs answers GET /logs/by-name/{kind}/{namespace}/{name}: the end of the log of a
// container, in a pod that the entity selects.
func (s *Workloads) logs(w http.ResponseWriter, r *http.Request) error {
	ctx, q := r.Context(), r.URL.Query()
	lines, err := rest.Count(q, "tailLines", usualLines)
	if err != nil {
		return err
	}
	at, err := placeOf(q, "pod")
	if err != nil {
		return err
	}
	on, pod, leave, err := s.object(ctx, r, pods, at, permission.KubernetesLogs)
	if err != nil {
		return err
	}
	defer leave()
	container, err := containerOf(pod, q.Get("container"))
	if err != nil {
		return err
	}
	return writeLog(w, r, on, at, container, lines)
}

// placeOf reads the object that a request names.
func placeOf(q url.Values, name string) (place, error) {
	at := place{cluster: q.Get("cluster"), namespace: q.Get("namespace"), name: q.Get(name)}
	switch {
	case at.cluster == "" || !rest.IsText(at.cluster):
		return at, rest.Input("Parameter cluster must be the name of a cluster")
	case !dnsLabel.MatchString(at.namespace):
		return at, rest.Input("Parameter namespace must be the name of a namespace")
	case !isName(at.name):
		return at, rest.Input("Parameter %s must be the name of an object", name)
	}
	return at, nil
}

// object returns an object that the entity of a request selects, if the caller has the
// permission. An object that the entity does not select does not exist. The caller calls
// leave when it has read from the cluster.
func (s *Workloads) object(ctx context.Context, r *http.Request, k kind, at place, needed string) (on *cluster.Cluster, object *tree.Node, leave func(), err error) {
	ref := entity.Ref{Kind: r.PathValue("kind"), Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}.String()
	e, sel, err := s.find(ctx, ref)
	if err != nil {
		return nil, nil, nil, err
	}
	missing := rest.NotFound("%s has no %s %s in namespace %s of cluster %s", rest.Short(ref), strings.TrimSuffix(k.plural, "s"), at.name, at.namespace, rest.Short(at.cluster))
	if !sel.has(s.opts.Clusters, at.cluster, at.namespace) {
		return nil, nil, nil, missing
	}
	if on, err = s.opts.Cluster(ctx, at.cluster); err != nil {
		return nil, nil, nil, fault(at.cluster, err)
	}
	if err := s.opts.Policy.Require(ctx, needed, within(e, on)); err != nil {
		return nil, nil, nil, err
	}
	if leave, err = s.readings.Enter(ctx, at.cluster); err != nil {
		return nil, nil, nil, err
	}
	object, err = selected(ctx, on, k, at, sel)
	if object == nil {
		leave()
		return nil, nil, nil, cmp.Or(err, error(missing))
	}
	return on, object, leave, nil
}

// selected returns an object if it is selected; nil if not.
func selected(ctx context.Context, on *cluster.Cluster, k kind, at place, sel selection) (*tree.Node, error) {
	for _, labels := range sel.labels {
		var found *tree.Node
		query := url.Values{"labelSelector": {labels}, "fieldSelector": {"metadata.name=" + at.name}}
		if _, err := list(ctx, on, k, at.namespace, query, 1, func(n *tree.Node, _ string) bool {
			found = n
			return false
		}); err != nil {
			return nil, fault(at.cluster, err)
		}
		// The server has selected it; a server that ignores selectors is not trusted.
		if found.Get("metadata", "name").Str() == at.name && found.Get("metadata", "namespace").Str() == at.namespace {
			return found, nil
		}
	}
	return nil, nil
}

// fault converts the error of a cluster to the fault that the caller sees.
func fault(name string, err error) error {
	if _, ok := errors.AsType[*rest.Fault](err); ok {
		return err
	}
	e, ok := errors.AsType[*cluster.Error](err)
	if !ok || e.Reason == cluster.Canceled {
		return err
	}
	refusal, answered := cluster.RefusalOf(err)
	switch {
	case e.Reason == cluster.Forbidden:
		return &rest.Fault{Status: http.StatusForbidden, Name: "NotAllowedError", Message: "Cluster " + name + " does not allow the request: " + hintOf(e), Err: err}
	case answered && refusal.Code == http.StatusNotFound:
		return rest.NotFound("The object no longer exists in cluster %s", name)
	case answered && refusal.Code == http.StatusBadRequest:
		// Such as: the container is waiting to start.
		return rest.Input("Cluster %s rejected the request: %s", name, rest.Short(refusal.Message))
	}
	return rest.Unavailable(err, "%s", told(name, err))
}

// hintOf returns which rule is missing, on one line.
func hintOf(e *cluster.Error) string {
	if e.Missing.Empty() {
		return "the portal's account may not impersonate users"
	}
	return "missing RBAC rule { apiGroups: [\"" + strings.Join(e.Missing.Groups, "\", \"") + "\"], resources: [\"" +
		strings.Join(e.Missing.Resources, "\", \"") + "\"], verbs: [\"" + strings.Join(e.Missing.Verbs, "\", \"") + "\"] }"
}

// containerOf returns the name of a container of a pod: the named one, else the default.
func containerOf(pod *tree.Node, name string) (string, error) {
	var all []string
	for _, key := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for _, c := range pod.Get("spec", key).List() {
			all = append(all, c.Get("name").Str())
		}
	}
	if name == "" {
		name = pod.Get("metadata", "annotations", "kubectl.kubernetes.io/default-container").Str()
	}
	if name == "" && len(all) > 0 {
		name = all[0]
	}
	if !slices.Contains(all, name) {
		return "", rest.NotFound("Pod %s has no container %s", pod.Get("metadata", "name").Str(), rest.Short(name))
	}
	return name, nil
}

// writeLog responds with the end of the log of a container.
func writeLog(w http.ResponseWriter, r *http.Request, on *cluster.Cluster, at place, container string, lines int) error {
	previous, err := rest.Flag(r.URL.Query(), "previous")
	if err != nil {
		return err
	}
	query := url.Values{"tailLines": {strconv.Itoa(min(lines, mostLines))}, "limitBytes": {strconv.Itoa(mostLog)}}
	if container != "" {
		query.Set("container", container)
	}
	if previous {
		query.Set("previous", "true")
	}
	text, err := on.Text(r.Context(), cluster.Call{
		Doing: "read the log of pod " + at.name, Path: pods.path(at.namespace) + "/" + at.name + "/log", Query: query, Most: mostLog,
		Needs: cluster.Rule{Groups: []string{""}, Resources: []string{"pods/log"}, Verbs: []string{"get"}},
	})
	if err != nil {
		return fault(at.cluster, err)
	}
	w.Header().Set("Cache-Control", "no-store")
	return rest.Write(w, r, rest.Content{Type: "text/plain; charset=utf-8", Body: bytes.ToValidUTF8(ending(text), []byte("\uFFFD"))})
}

// ending returns the end of a log, from the beginning of a line.
func ending(text []byte) []byte {
	if len(text) <= shownLog {
		return text
	}
	text = text[len(text)-shownLog:]
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	return text
}

// Event is an event about an object.
type Event struct {
	Type    string     `json:"type"`
	Reason  string     `json:"reason"`
	Message string     `json:"message"`
	Count   int        `json:"count"`
	Last    *time.Time `json:"last,omitempty"`
}

// eventKind is the kind of events.
var eventKind = kind{"events", "", "v1", "events"}

// events answers GET /events/by-name/{kind}/{namespace}/{name}: the events about an
// object that the entity selects, the latest first.
func (s *Workloads) events(w http.ResponseWriter, r *http.Request) error {
	ctx, q := r.Context(), r.URL.Query()
	at, err := placeOf(q, "object")
	if err != nil {
		return err
	}
	i := slices.IndexFunc(usualKinds, func(k kind) bool { return k.typ == q.Get("type") })
	if i < 0 {
		return rest.Input("Parameter type must be a type of objects, such as pods")
	}
	on, object, leave, err := s.object(ctx, r, usualKinds[i], at, permission.KubernetesResources)
	if err != nil {
		return err
	}
	defer leave()
	items := []Event{}
	query := url.Values{"fieldSelector": {"involvedObject.uid=" + object.Get("metadata", "uid").Str()}}
	if _, err := list(ctx, on, eventKind, at.namespace, query, mostObjects, func(n *tree.Node, _ string) bool {
		items = append(items, eventOf(n))
		return true
	}); err != nil {
		return fault(at.cluster, err)
	}
	slices.SortStableFunc(items, func(a, b Event) int { return timeOf(b).Compare(timeOf(a)) })
	return rest.WriteJSON(w, r, http.StatusOK, map[string]any{"items": items[:min(len(items), mostEvents)]})
}

func timeOf(e Event) time.Time {
	if e.Last == nil {
		return time.Time{}
	}
	return *e.Last
}

// eventOf reads an event.
func eventOf(n *tree.Node) Event {
	e := Event{Type: n.Get("type").Str(), Reason: n.Get("reason").Str(), Message: n.Get("message").Str(), Count: 1}
	for _, count := range []*tree.Node{n.Get("series", "count"), n.Get("count")} {
		if c, err := strconv.Atoi(count.Scalar()); err == nil && c > 0 {
			e.Count = c
			break
		}
	}
	for _, at := range []*tree.Node{n.Get("series", "lastObservedTime"), n.Get("lastTimestamp"), n.Get("eventTime"), n.Get("firstTimestamp"), n.Get("metadata", "creationTimestamp")} {
		if t, err := time.Parse(time.RFC3339, at.Str()); err == nil {
			e.Last = &t
			break
		}
	}
	return e
}
