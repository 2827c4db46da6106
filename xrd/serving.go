package xrd

import (
	"regexp"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
)

// The conditions of a definition that say whether a cluster serves its kinds.
const (
	// ConditionEstablished is True when the composite's kind is served.
	ConditionEstablished = "Established"
	// ConditionOffered is True when the claim's kind is served.
	ConditionOffered = "Offered"
)

// The statuses of a condition.
const (
	StatusTrue    = "True"
	StatusFalse   = "False"
	StatusUnknown = "Unknown"
)

// ReasonNotServed is the reason of a condition that the cluster has not set, while it
// does not serve the kind.
const ReasonNotServed = "NotServed"

const (
	// longestReason and longestMessage limit what is kept of a definition's condition, in
	// bytes.
	longestReason  = 316
	longestMessage = 1024
)

// Serving is the state of a definition's kinds in a cluster.
type Serving struct {
	Cluster string
	// Conditions are Established and Offered, as far as present.
	Conditions []Condition
}

// Unserved is why a cluster does not serve the kind that a definition's form creates.
type Unserved struct {
	Cluster string
	Condition
}

// String returns one line: "Established is False: Reason: message".
func (u Unserved) String() string {
	text := u.Type + " is " + u.Status
	for _, part := range []string{u.Reason, u.Message} {
		if part != "" {
			text += ": " + part
		}
	}
	return text
}

// Unserved returns the conditions of the definition that are not True, by cluster:
// Established and, if developers create claims, Offered. A missing condition is ignored.
func (d *Definition) Unserved() []Unserved {
	var out []Unserved
	for _, s := range d.Serving {
		for _, c := range s.Conditions {
			if c.Status == StatusTrue || c.Type == ConditionOffered && !d.HasClaim() {
				continue
			}
			out = append(out, Unserved{s.Cluster, c})
		}
	}
	return out
}

// NotServed records that the definition's cluster does not serve one of its kinds. A
// condition set by the cluster itself takes precedence.
func (d *Definition) NotServed(kind string) {
	c := Condition{
		Type: ConditionEstablished, Status: StatusUnknown, Reason: ReasonNotServed,
		Message: "the cluster does not serve the kind " + kind + ", and the definition has no such condition yet",
	}
	if d.HasClaim() && kind == d.Claim.Kind {
		c.Type = ConditionOffered
	}
	i := slices.IndexFunc(d.Serving, func(s Serving) bool { return s.Cluster == d.Origin.Cluster })
	if i < 0 {
		d.Serving = append(slices.Clone(d.Serving), Serving{d.Origin.Cluster, []Condition{c}})
		return
	}
	has := d.Serving[i].Conditions
	if slices.ContainsFunc(has, func(o Condition) bool { return o.Type == c.Type }) {
		return
	}
	has = append(slices.Clone(has), c)
	slices.SortFunc(has, func(a, b Condition) int { return strings.Compare(a.Type, b.Type) })
	d.Serving = slices.Clone(d.Serving)
	d.Serving[i].Conditions = has
}

// readServing parses the serving conditions of a definition from a cluster. The status
// of a definition in a file is ignored.
func readServing(n *tree.Node, origin Origin) []Serving {
	if origin.Source != SourceCluster {
		return nil
	}
	all := servingConditions(n.Get("status", "conditions"))
	if len(all) == 0 {
		return nil
	}
	return []Serving{{origin.Cluster, all}}
}

// access matches a user, with or without a password, in an address.
var access = regexp.MustCompile(`://[^/\s@]*@`)

// servingConditions parses Established and Offered, without their times. If a type
// occurs several times, the last one counts.
func servingConditions(list *tree.Node) []Condition {
	var out []Condition
	for _, it := range list.List() {
		c := Condition{Type: it.Get("type").Str(), Status: it.Get("status").Str(), Reason: it.Get("reason").Str()}
		if c.Type != ConditionEstablished && c.Type != ConditionOffered {
			continue
		}
		if c.Status != StatusTrue && c.Status != StatusFalse {
			c.Status = StatusUnknown
		}
		c.Reason = cut(c.Reason, longestReason)
		c.Message = cut(access.ReplaceAllString(it.Get("message").Str(), "://"), longestMessage)
		out = slices.DeleteFunc(out, func(o Condition) bool { return o.Type == c.Type })
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Condition) int { return strings.Compare(a.Type, b.Type) })
	return out
}

// cut shortens a text that is too long.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const more = "…"
	return strings.ToValidUTF8(text[:most-len(more)], "") + more
}

// pruneStatus keeps the conditions of a definition's status that are used; nil if there
// are none.
func pruneStatus(status *tree.Node) *tree.Node {
	list := tree.Arr()
	for _, c := range servingConditions(status.Get("conditions")) {
		list.Items = append(list.Items, tree.Obj(
			tree.F("type", tree.Str(c.Type)), tree.F("status", tree.Str(c.Status)),
			tree.F("reason", tree.OptStr(c.Reason)), tree.F("message", tree.OptStr(c.Message)),
		))
	}
	if list.Len() == 0 {
		return nil
	}
	return tree.Obj(tree.F("conditions", list))
}

// mergeServing merges the states of clusters, each cluster once.
func mergeServing(defs []*Definition) []Serving {
	var out []Serving
	for _, d := range defs {
		for _, s := range d.Serving {
			if !slices.ContainsFunc(out, func(o Serving) bool { return o.Cluster == s.Cluster }) {
				out = append(out, s)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Serving) int { return strings.Compare(a.Cluster, b.Cluster) })
	return out
}
