package crossplane_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/xrd/composed"
)

// object is an object as the API server returns it, with the objects and events that
// belong to it.
type object struct {
	APIVersion, Kind string
	Metadata         struct{ Name, Namespace, UID string }
	Spec             struct {
		Crossplane struct {
			ResourceRefs []composed.Ref
		}
	}
	Status struct{ Conditions []composed.Condition }

	children []*object
	events   []event
}

// event is an event as the API server returns it.
type event struct {
	InvolvedObject               struct{ UID string }
	Type, Message, LastTimestamp string
}

// paths are the paths of kinds in the namespace of the composites.
var paths = map[string]string{
	"ConfigMap": "/api/v1/namespaces/shops/configmaps/", "ResourceQuota": "/api/v1/namespaces/shops/resourcequotas/",
	"Website": composites + "websites/", "Quota": composites + "quotas/", "Shop": composites + "shops/", "Backup": composites + "backups/",
	"Snapshot": "/apis/disks.example.org/v1/namespaces/shops/snapshots/",
}

const composites = "/apis/shops.example.org/v1/namespaces/shops/"

// read reads an object and what it refers to, each with one request. An object that does
// not exist has no uid.
func (w *world) read(ref composed.Ref) (*object, error) {
	var events struct{ Items []event }
	if err := w.core.Get("/api/v1/namespaces/shops/events", &events); err != nil {
		return nil, err
	}
	return w.readWith(ref, events.Items)
}

func (w *world) readWith(ref composed.Ref, events []event) (*object, error) {
	o := &object{}
	if err := w.core.Get(paths[ref.Kind]+ref.Name, o); err != nil {
		if !strings.Contains(err.Error(), "404") {
			return nil, err
		}
		*o = object{APIVersion: ref.APIVersion, Kind: ref.Kind}
		o.Metadata.Name, o.Metadata.Namespace = ref.Name, "shops"
		return o, nil
	}
	for _, e := range events {
		if e.InvolvedObject.UID == o.Metadata.UID {
			o.events = append(o.events, e)
		}
	}
	for _, r := range o.Spec.Crossplane.ResourceRefs {
		child, err := w.readWith(r, events)
		if err != nil {
			return nil, err
		}
		o.children = append(o.children, child)
	}
	slices.SortFunc(o.children, func(a, b *object) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Metadata.Name, b.Metadata.Name))
	})
	return o, nil
}

// lines describes an object and all below it: kind, name, uid and conditions, indented.
func (o *object) lines() []string {
	out := []string{describe(o.APIVersion, o.Kind, o.Metadata.Namespace, o.Metadata.Name, o.Metadata.UID, o.Status.Conditions)}
	for _, c := range o.children {
		for _, line := range c.lines() {
			out = append(out, "  "+line)
		}
	}
	return out
}

// lines describes a tree in the same way.
func lines(n *composed.Node) []string {
	out := []string{describe(n.Ref.APIVersion, n.Ref.Kind, n.Ref.Namespace, n.Ref.Name, n.UID, n.Conditions)}
	for _, c := range n.Children {
		for _, line := range lines(c) {
			out = append(out, "  "+line)
		}
	}
	return out
}

func describe(apiVersion, kind, namespace, name, uid string, conditions []composed.Condition) string {
	var all []string
	for _, c := range conditions {
		all = append(all, fmt.Sprintf("%s=%s %s %q since %s", c.Type, c.Status, c.Reason, c.Message, c.Since.UTC()))
	}
	slices.Sort(all)
	return fmt.Sprintf("%s %s %s/%s %q %s", apiVersion, kind, namespace, name, uid, strings.Join(all, "; "))
}

// find returns the object below o, or o itself, that a reference means.
func (o *object) find(ref composed.Ref) *object {
	if o.Kind == ref.Kind && o.Metadata.Name == ref.Name {
		return o
	}
	for _, c := range o.children {
		if found := c.find(ref); found != nil {
			return found
		}
	}
	return nil
}

func (o *object) condition(typ string) composed.Condition {
	for _, c := range o.Status.Conditions {
		if c.Type == typ {
			return c
		}
	}
	return composed.Condition{}
}

// message returns what an object says in a condition, or in its last warning event.
func (o *object) message(source string) string {
	if source != "event" {
		return o.condition(source).Message
	}
	var last event
	for _, e := range o.events {
		// Times of this format have the same order as their texts.
		if e.Type == "Warning" && e.LastTimestamp >= last.LastTimestamp {
			last = e
		}
	}
	return last.Message
}
