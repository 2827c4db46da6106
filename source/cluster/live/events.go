package live

import (
	"cmp"
	"context"
	"net/url"
	"strconv"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd/composed"
)

// eventNamespace is where the events about objects without a namespace are.
const eventNamespace = "default"

// addEvents adds the events about objects. A caller who may not list events sees the
// objects without them, and so does everyone if the events are too large.
func (r *Reader) addEvents(ctx context.Context, objects []composed.Object) error {
	for i := range objects {
		o := &objects[i]
		if o.State != composed.Present {
			continue
		}
		ns := cmp.Or(o.Ref.Namespace, eventNamespace)
		if _, ok := r.events[ns]; !ok {
			all, err := r.eventsOf(ctx, ns)
			if err != nil && reasonOf(err) != cluster.Forbidden && !cluster.IsTooLarge(err) {
				return err
			}
			r.events[ns] = all
		}
		o.Events = r.events[ns][o.Node.Get("metadata", "uid").Str()]
	}
	return nil
}

// eventsOf returns the events of a namespace, by the uid of the object.
func (r *Reader) eventsOf(ctx context.Context, namespace string) (map[string][]composed.Event, error) {
	out := map[string][]composed.Event{}
	_, err := r.pages(ctx, cluster.Call{
		Doing: "list events", Path: "/api/v1/namespaces/" + url.PathEscape(namespace) + "/events", Query: url.Values{},
		Needs: cluster.Rule{Groups: []string{""}, Resources: []string{"events"}, Verbs: []string{"list"}},
	}, mostEventPages, func(n *tree.Node) {
		uid := n.Get("involvedObject", "uid").Str()
		out[uid] = append(out[uid], eventOf(n))
	})
	return out, err
}

// eventOf reads an event.
func eventOf(n *tree.Node) composed.Event {
	e := composed.Event{Type: n.Get("type").Str(), Reason: n.Get("reason").Str(), Message: n.Get("message").Str(), Count: 1}
	for _, count := range []*tree.Node{n.Get("series", "count"), n.Get("count")} {
		if times, err := strconv.Atoi(count.Scalar()); err == nil && times > 0 {
			e.Count = times
			break
		}
	}
	for _, at := range []*tree.Node{n.Get("series", "lastObservedTime"), n.Get("lastTimestamp"), n.Get("eventTime"), n.Get("firstTimestamp")} {
		if t, err := time.Parse(time.RFC3339, at.Str()); err == nil {
			e.Last = t
			break
		}
	}
	return e
}
