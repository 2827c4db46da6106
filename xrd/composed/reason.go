package composed

import (
	"slices"
	"strings"
	"time"
)

// Reason says why an object is not ready.
type Reason struct {
	// Path leads from the root to the object that causes it, without the root.
	Path []Ref `json:"path"`
	// Object is the object that causes it, the root itself if Path is empty.
	Object Ref `json:"object"`
	// Message is what the object's controller says, or what is known about the object.
	Message string `json:"message"`
	// Source says where Message comes from: the type of a condition, "event", or the state
	// of the object.
	Source string `json:"source"`
	// Since is when it began; zero if that is unknown.
	Since time.Time `json:"since,omitzero"`
	// Field is the field of the root that Message is about, such as spec.region; empty if
	// that is unknown. See AddField.
	Field string `json:"field,omitempty"`
}

// Why returns why the root of a tree is not ready, and nil if it is ready. A root that is
// ready also has a reason if the last reconciliation of an object failed: Crossplane keeps
// it ready, but a change was not applied. Why descends to the deepest object that fails: its
// ancestors wait for it, and only repeat that.
func (n *Node) Why() *Reason {
	if n.Readiness == Ready && n.Deleted.IsZero() && n.severity() < failed {
		return nil
	}
	at := n
	path := []Ref{}
	for {
		next := at.worstChild()
		if next == nil || at.knowsMoreThan(next) {
			break
		}
		path = append(path, next.Ref)
		at = next
	}
	if at == n && n.Readiness == None {
		return nil
	}
	r := at.says()
	r.Path, r.Object = path, at.Ref
	return &r
}

// worstChild returns the child that most likely keeps its parent from being ready, or
// nil.
func (n *Node) worstChild() *Node {
	var worst *Node
	for _, c := range n.Children {
		if c.Loop || c.severity() == 0 {
			continue
		}
		if worst == nil || c.severity() > worst.severity() {
			worst = c
		}
	}
	return worst
}

// severity orders objects by how likely they are the cause; zero means that they are not.
// An object that reports an error precedes one that only waits.
func (n *Node) severity() int {
	below := 0
	for _, c := range n.Children {
		if !c.Loop {
			below = max(below, c.severity())
		}
	}
	return max(below, n.ownSeverity())
}

// The severities of objects.
const (
	// unread is an object that cannot be read.
	unread = iota + 1
	// silent is an object whose controller has not reported a state.
	silent
	// waiting is an object that is not ready, or being deleted, and does not say why.
	waiting
	// missing is an object that does not exist.
	missing
	// explained is an object that says why it is not ready.
	explained
	// failed is an object whose reconciliation failed.
	failed
)

func (n *Node) ownSeverity() int {
	s := find(n.Conditions, synced)
	switch {
	case n.State == Present && s != nil && s.Status == "False":
		return failed
	case n.State == Present && n.Readiness == NotReady && (n.warning != nil || n.hasMessage()):
		return explained
	case n.State == Missing:
		return missing
	case n.State == Forbidden, n.State == Unreadable:
		return unread
	case n.Readiness == NotReady, !n.Deleted.IsZero():
		return waiting
	case n.Readiness == Unknown:
		return silent
	}
	return 0
}

// knowsMoreThan reports whether an object says more about its problem than a child: one
// whose reconciliation failed knows why the child does not exist or only waits, and one
// with a message says more than a child that cannot be read.
func (n *Node) knowsMoreThan(child *Node) bool {
	if n.ownSeverity() == failed {
		return child.severity() < explained
	}
	return child.severity() == unread && n.hasMessage()
}

// hasMessage reports whether a condition about readiness has a message.
func (n *Node) hasMessage() bool {
	return slices.ContainsFunc(n.Conditions, func(c Condition) bool {
		return c.Status == "False" && c.Message != "" && slices.Contains(readinessTypes, c.Type)
	})
}

// says returns what an object says about its problem.
func (n *Node) says() Reason {
	switch {
	case n.State != Present:
		return Reason{Message: stateMessage(n), Source: string(n.State)}
	case n.Paused:
		return Reason{Message: "reconciliation is paused by the annotation " + paused, Source: "paused"}
	}
	// A failed reconciliation says more than the readiness that follows from it.
	if c := find(n.Conditions, synced); c != nil && c.Status == "False" {
		return n.told(c)
	}
	for _, typ := range readinessTypes {
		if c := find(n.Conditions, typ); c != nil && c.Status != "True" {
			return n.told(c)
		}
	}
	if n.warning != nil {
		return Reason{Message: oneLine(n.warning.Message), Source: "event", Since: n.warning.Last}
	}
	if !n.Deleted.IsZero() {
		return Reason{Message: "the object is being deleted", Source: "deleted", Since: n.Deleted}
	}
	return Reason{Message: "the controller has not reported a state so far", Source: "unknown", Since: n.Created}
}

// told returns the message of a condition, or that of the last event about a problem if
// the condition has none, or refers to events.
func (n *Node) told(c *Condition) Reason {
	hasEvent := n.warning != nil && n.warning.Message != ""
	switch {
	case c.Message != "" && !(hasEvent && refersToEvents(c.Message)):
		return Reason{Message: oneLine(c.Message), Source: c.Type, Since: c.Since}
	case hasEvent:
		return Reason{Message: oneLine(n.warning.Message), Source: "event", Since: n.warning.Last}
	case !n.Deleted.IsZero():
		return Reason{Message: "the object is being deleted", Source: "deleted", Since: n.Deleted}
	case c.Reason != "":
		return Reason{Message: c.Type + " is " + c.Status + ": " + c.Reason, Source: c.Type, Since: c.Since}
	}
	return Reason{Message: c.Type + " is " + c.Status, Source: c.Type, Since: c.Since}
}

// refersToEvents reports whether a condition of a composite says only that objects could
// not be applied. Why the API server refused them is in an event: Crossplane keeps it out
// of the condition, because it may differ each time.
func refersToEvents(message string) bool {
	return strings.HasPrefix(message, "Unsynced resources: ") || strings.Contains(message, "some resources were invalid, check events")
}

func stateMessage(n *Node) string {
	if n.Problem != "" {
		return n.Problem
	}
	switch n.State {
	case Missing:
		return "the object does not exist"
	case Forbidden:
		return "you may not read the object"
	}
	return "the object cannot be read"
}

// oneLine joins the lines of a message.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// String returns the reason as a sentence: the path, and what the object says.
func (r *Reason) String() string {
	var b strings.Builder
	for i, ref := range r.Path {
		if i > 0 {
			b.WriteString(" → ")
		}
		b.WriteString(ref.String())
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(r.Message)
	return b.String()
}
