// Package composed describes what a composite resource consists of: the tree of the
// objects that it composes, whether each of them is ready, and why the composite is not.
//
// The objects come from a Reader. Build follows the references that Crossplane keeps in
// composites and claims, level by level, so that a Reader can read many objects with few
// requests. It never searches for objects by owner or category.
package composed

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/document/tree"
)

// Ref refers to an object in a cluster.
type Ref struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// String returns kind and name, as people refer to objects.
func (r Ref) String() string { return r.Kind + " " + r.Name }

// State says whether an object could be read.
type State string

// The states of objects.
const (
	// Present is an object that was read.
	Present State = "present"
	// Missing is an object that does not exist.
	Missing State = "missing"
	// Forbidden is an object that the caller may not read.
	Forbidden State = "forbidden"
	// Unreadable is an object that could not be read for another reason.
	Unreadable State = "unreadable"
)

// Object is what a Reader found for a reference.
type Object struct {
	// Ref is the reference, with the namespace of the object, which is empty if its kind
	// has none.
	Ref   Ref
	State State
	// Problem says why the object could not be read, and what to do.
	Problem string
	// Node is the object, if it is Present.
	Node *tree.Node
	// Events are the events about the object, if the Reader knows them.
	Events []Event
}

// Event is an event about an object.
type Event struct {
	Type    string    `json:"type"`
	Reason  string    `json:"reason,omitempty"`
	Message string    `json:"message,omitempty"`
	Count   int       `json:"count,omitempty"`
	Last    time.Time `json:"last,omitzero"`
}

// Warning reports whether the event is about a problem.
func (e Event) Warning() bool { return e.Type == "Warning" }

// Reader reads objects of one cluster, as one caller.
type Reader interface {
	// Read returns an Object for each reference, in the same order. The namespace of a
	// reference to a kind without namespaces is ignored. An error means that nothing could
	// be read, for example because the cluster does not answer.
	Read(ctx context.Context, refs []Ref) ([]Object, error)
}

// Readiness says whether an object is ready.
type Readiness string

// The values of Readiness.
const (
	Ready    Readiness = "ready"
	NotReady Readiness = "not ready"
	// Unknown is an object whose readiness is not known: it could not be read, or its
	// controller has not said so far.
	Unknown Readiness = "unknown"
	// None is an object that has no readiness, such as a ConfigMap.
	None Readiness = "none"
)

// Condition is a status condition.
type Condition struct {
	Type    string    `json:"type"`
	Status  string    `json:"status"`
	Reason  string    `json:"reason,omitempty"`
	Message string    `json:"message,omitempty"`
	Since   time.Time `json:"lastTransitionTime,omitzero"`
}

// Node is an object in the tree.
type Node struct {
	Ref     Ref    `json:"ref"`
	State   State  `json:"state"`
	Problem string `json:"problem,omitempty"`

	UID     string    `json:"uid,omitempty"`
	Created time.Time `json:"created,omitzero"`
	// Deleted is when the deletion began; zero if it is not being deleted.
	Deleted time.Time `json:"deleted,omitzero"`
	// External is the name of the object in the system outside of the cluster.
	External string `json:"externalName,omitempty"`
	// Paused reports that Crossplane does not reconcile the object.
	Paused bool `json:"paused,omitempty"`

	Readiness Readiness `json:"readiness"`
	// Since is when Readiness last changed; zero if that is unknown.
	Since      time.Time   `json:"since,omitzero"`
	Conditions []Condition `json:"conditions,omitempty"`
	// Event is the last event.
	Event *Event `json:"event,omitempty"`
	// warning is the last event about a problem, and events are all.
	warning *Event
	events  []Event
	// part is the name of the object in the Composition of its composite, and composition is
	// the Composition of the object itself.
	part        string
	composition *Ref

	Children []*Node `json:"children,omitempty"`
	// Skipped is how many children come before Children, and More how many after them.
	Skipped int `json:"skipped,omitempty"`
	More    int `json:"more,omitempty"`
	// Loop reports that the object is also one of its own ancestors, so that its children
	// are not repeated.
	Loop bool `json:"loop,omitempty"`
}

const (
	externalName = "crossplane.io/external-name"
	paused       = "crossplane.io/paused"

	// mostConditions, longestMessage and longestWord limit what is taken of an object.
	mostConditions = 40
	longestMessage = 2048
	longestWord    = 316
)

// newNode describes an object.
func newNode(o Object) *Node {
	n := &Node{Ref: o.Ref, State: o.State, Problem: shorten(o.Problem, longestMessage), Readiness: Unknown}
	if o.State != Present {
		return n
	}
	meta := o.Node.Get("metadata")
	n.UID = meta.Get("uid").Str()
	n.Created, n.Deleted = timeOf(meta.Get("creationTimestamp")), timeOf(meta.Get("deletionTimestamp"))
	annotations := meta.Get("annotations")
	n.External = shorten(annotations.Get(externalName).Str(), longestWord)
	n.Paused = annotations.Get(paused).Str() == "true"
	n.part, n.composition = annotations.Get(resourceName).Str(), compositionOf(o.Node)
	n.Conditions = conditions(o.Node)
	deciding := (*Condition)(nil)
	if n.Readiness, deciding = readiness(o.Node, n.Conditions); deciding != nil {
		n.Since = deciding.Since
	}
	n.events = shortEvents(o.Events)
	n.Event, n.warning = lastEvents(n.events)
	return n
}

// conditions reads the conditions of an object, sorted by type. If a type occurs several
// times, the last one counts.
func conditions(n *tree.Node) []Condition {
	var out []Condition
	for _, it := range n.Get("status", "conditions").List() {
		c := Condition{
			Type: shorten(it.Get("type").Str(), longestWord), Status: shorten(it.Get("status").Str(), longestWord),
			Reason: shorten(it.Get("reason").Str(), longestWord), Message: shorten(it.Get("message").Str(), longestMessage),
			Since: timeOf(it.Get("lastTransitionTime")),
		}
		i := slices.IndexFunc(out, func(o Condition) bool { return o.Type == c.Type })
		switch {
		case c.Type == "":
		case i >= 0:
			out[i] = c
		case len(out) < mostConditions:
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Condition) int { return strings.Compare(a.Type, b.Type) })
	return out
}

// readinessTypes are the conditions that say whether an object is ready. The first one
// that an object has counts.
var readinessTypes = []string{"Ready", "Available", "Healthy", "Established", "Complete"}

// ReadinessOf returns whether an object is ready, and the condition that decides it; nil if
// none does.
func ReadinessOf(n *tree.Node) (Readiness, *Condition) { return readiness(n, conditions(n)) }

// readiness is ReadinessOf for an object whose conditions are known.
func readiness(n *tree.Node, all []Condition) (Readiness, *Condition) {
	for _, typ := range readinessTypes {
		if c := find(all, typ); c != nil {
			return readinessOf(c.Status), c
		}
	}
	c := find(all, synced)
	if c != nil && c.Status == "False" {
		return NotReady, c
	}
	// A composite, or a resource that Crossplane manages, gets its conditions soon.
	if isComposite(n) || n.Get("spec", "forProvider") != nil || c != nil {
		return Unknown, nil
	}
	return None, nil
}

// synced is the condition that says whether the last reconciliation succeeded.
const synced = "Synced"

func readinessOf(status string) Readiness {
	switch status {
	case "True":
		return Ready
	case "False":
		return NotReady
	}
	return Unknown
}

func find(all []Condition, typ string) *Condition {
	i := slices.IndexFunc(all, func(c Condition) bool { return c.Type == typ })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// shortEvents returns events with texts that are short enough to be shown: anyone who may
// create events decides how long they are.
func shortEvents(all []Event) []Event {
	out := slices.Clone(all)
	for i := range out {
		e := &out[i]
		e.Type, e.Reason, e.Message = shorten(e.Type, longestWord), shorten(e.Reason, longestWord), shorten(e.Message, longestMessage)
	}
	return out
}

// lastEvents returns the last event, and the last one about a problem.
func lastEvents(all []Event) (last, warning *Event) {
	for i := range all {
		e := &all[i]
		if last == nil || e.Last.After(last.Last) {
			last = e
		}
		if e.Warning() && (warning == nil || e.Last.After(warning.Last)) {
			warning = e
		}
	}
	return last, warning
}

func timeOf(n *tree.Node) time.Time {
	t, err := time.Parse(time.RFC3339, n.Str())
	if err != nil {
		return time.Time{}
	}
	return t
}

// shorten truncates a text to a number of bytes, at the end of a character.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// compareRefs orders references by kind, namespace and name.
func compareRefs(a, b Ref) int {
	return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.APIVersion, b.APIVersion),
		strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}
