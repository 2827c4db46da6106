package cluster

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
)

// Survey is the metadata of all objects of a kind.
type Survey struct {
	Items []Item
	// Version is the list's resource version; 0 if it is not a number.
	Version int64
	// Unreadable are objects that could not be decoded. They do exist.
	Unreadable []finding.Finding
}

// Item is the metadata of an object, as the server sends it.
type Item struct {
	Namespace, Name string
	// Version is the resource version; 0 if it is not a number.
	Version    int64
	UID        string
	Generation int64
	// Labels and Annotations are as the server has them, except for the copy of the
	// whole object that kubectl keeps in an annotation.
	Labels, Annotations map[string]string
	// Changed is the latest time that the server has recorded on the object: of its
	// creation, of the start of its deletion, or of a field being set. Times are whole
	// seconds, so two changes within one second look like one. A field that is set again
	// by the same program is recorded, but a removed field is not. The version changes
	// in all these cases.
	Changed time.Time
}

// Survey lists the metadata of a kind, of the objects that match the label selector;
// an empty one matches all. If there is an error, it returns what was read before it.
func (c *Cluster) Survey(ctx context.Context, res Resource, labels string) (Survey, error) {
	all, err := c.list(ctx, listing{Resource: res, labels: labels, metadata: true, survey: true})
	return Survey{Items: all.items, Version: number(all.version), Unreadable: c.findings(res.short(), all.unreadable)}, err
}

// Each reads whole objects, and passes them to take page by page, so that no more
// than two pages are in memory. The version is that of the list. If the continue token
// expires before the last page, the list is restarted, the second time in one piece:
// take then gets objects again, possibly newer ones, and may have got some that are
// not in the list of that version. If take returns an error, Each ends. Unless the
// error is nil, there may be objects that take did not get.
func (c *Cluster) Each(ctx context.Context, res Resource, labels string, take func(objects []*tree.Node, unreadable []finding.Finding) error) (version int64, err error) {
	err = c.walk(ctx, listing{Resource: res, labels: labels}, func() {}, func(p page) error {
		version = number(p.version)
		return take(p.objects, c.findings(res.short(), p.unreadable))
	})
	return version, err
}

// Version returns the resource version of an object as a number; 0 if it is not one.
func Version(n *tree.Node) int64 { return number(n.Get("metadata", "resourceVersion").Str()) }

// number returns a version as a number; 0 if it is not one.
func number(version string) int64 {
	n, err := strconv.ParseInt(version, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// lastApplied is the annotation in which kubectl keeps a copy of the object.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// briefly decodes responses for a survey: what it omits is often most of the data.
var briefly = wire.Decoder{Omit: [][]string{{"managedFields", "fieldsV1"}, {"annotations", lastApplied}}}

// metadata is an object's metadata in JSON. Only the times of managedFields are read.
type metadata struct {
	Metadata struct {
		Name, Namespace, UID, ResourceVersion string
		Generation                            int64
		Labels, Annotations                   map[string]string
		CreationTimestamp, DeletionTimestamp  time.Time
		ManagedFields                         []struct{ Time time.Time }
	}
}

// skim adds an object of a list for a survey.
func (p *page) skim(raw string) {
	item, err := readItem([]byte(raw))
	if err != nil {
		p.unreadable = append(p.unreadable, unreadable{name: nameIn(raw), err: err})
		return
	}
	p.items = append(p.items, item)
}

// readItem decodes the metadata of an object.
func readItem(raw []byte) (Item, error) {
	var o metadata
	if err := json.Unmarshal(raw, &o); err != nil {
		return Item{}, err
	}
	return o.item()
}

func (o *metadata) item() (Item, error) {
	m := &o.Metadata
	if m.Name == "" {
		return Item{}, errNameless
	}
	delete(m.Annotations, lastApplied)
	item := Item{
		Namespace: m.Namespace, Name: m.Name, Version: number(m.ResourceVersion), UID: m.UID, Generation: m.Generation,
		Labels: m.Labels, Annotations: m.Annotations, Changed: m.CreationTimestamp,
	}
	if m.DeletionTimestamp.After(item.Changed) {
		item.Changed = m.DeletionTimestamp
	}
	for _, f := range m.ManagedFields {
		if f.Time.After(item.Changed) {
			item.Changed = f.Time
		}
	}
	return item, nil
}
