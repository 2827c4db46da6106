// Package status shows the tree of a composite resource in a terminal, and why it is not
// ready.
package status

import (
	"fmt"
	"strings"
	"time"

	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/xrd/composed"
)

// Result is the state of an object in a cluster.
type Result struct {
	Cluster string           `json:"cluster"`
	Ready   bool             `json:"ready"`
	Reason  *composed.Reason `json:"reason,omitempty"`
	Tree    *composed.Node   `json:"tree"`
}

// New returns the result for a tree.
func New(cluster string, tree *composed.Node) Result {
	return Result{Cluster: cluster, Ready: tree.Readiness == composed.Ready, Reason: tree.Why(), Tree: tree}
}

// Text returns the sentence and the tree.
func (r Result) Text(now time.Time, style term.Style) string {
	var b strings.Builder
	switch {
	case r.Reason == nil && r.Ready:
		fmt.Fprintf(&b, "%s\n", style.Green("ready"))
	case r.Reason == nil:
		fmt.Fprintf(&b, "%s has no readiness\n", term.Safe(r.Tree.Ref.String()))
	default:
		fmt.Fprintf(&b, "%s: %s%s\n", style.Red(r.word()), term.Safe(r.Reason.String()), ago(now, r.Reason.Since))
	}
	b.WriteByte('\n')
	var rows [][]string
	add(&rows, r.Tree, "", "", now, style)
	b.WriteString(term.Table(rows, []string{"OBJECT", "READY", "SYNCED", "AGE", "EXTERNAL NAME", "STATUS"}, style))
	return b.String()
}

// word says in which state an object is that has a reason.
func (r Result) word() string {
	switch {
	case r.Ready && r.Tree.Deleted.IsZero():
		return "ready, but a change was not applied"
	case !r.Tree.Deleted.IsZero():
		return "being deleted"
	case r.Tree.Readiness == composed.Unknown:
		return "readiness unknown"
	}
	return "not ready"
}

// add appends the rows of a node and of those below it. first is drawn before its own row,
// and rest before the rows below.
func add(rows *[][]string, n *composed.Node, first, rest string, now time.Time, style term.Style) {
	*rows = append(*rows, []string{
		first + n.Ref.String(), color(status(n, "Ready"), style), color(status(n, "Synced"), style), age(now, n.Created), n.External, says(n),
	})
	for i, c := range n.Children {
		branch, below := "├─ ", "│  "
		if i == len(n.Children)-1 && n.More == 0 {
			branch, below = "└─ ", "   "
		}
		add(rows, c, rest+branch, rest+below, now, style)
	}
	if n.More > 0 {
		*rows = append(*rows, []string{fmt.Sprintf("%s└─ %d more", rest, n.More)})
	}
}

// status returns the status of a condition, "-" if there is none.
func status(n *composed.Node, typ string) string {
	for _, c := range n.Conditions {
		if c.Type == typ {
			return c.Status
		}
	}
	return "-"
}

func color(s string, style term.Style) string {
	switch s {
	case "True":
		return style.Green(s)
	case "False":
		return style.Red(s)
	}
	return s
}

// says returns what is worth knowing about a node, on one line.
func says(n *composed.Node) string {
	var parts []string
	add := func(s string) {
		if s != "" {
			parts = append(parts, strings.Join(strings.Fields(s), " "))
		}
	}
	if n.State != composed.Present {
		add(string(n.State))
		add(n.Problem)
		return strings.Join(parts, ": ")
	}
	switch {
	case n.Loop:
		add("already above: the references form a loop")
	case !n.Deleted.IsZero():
		add("being deleted")
	case n.Paused:
		add("paused")
	}
	for _, typ := range []string{"Synced", "Ready"} {
		for _, c := range n.Conditions {
			if c.Type == typ && c.Status != "True" && len(parts) == 0 {
				add(c.Reason)
				add(c.Message)
			}
		}
	}
	if len(parts) == 0 && n.Event != nil && n.Event.Warning() {
		add(n.Event.Message)
	}
	return strings.Join(parts, ": ")
}

// ago returns how long ago something was, in parentheses.
func ago(now, at time.Time) string {
	if at.IsZero() || at.After(now) {
		return ""
	}
	return " (" + age(now, at) + " ago)"
}

// age returns a duration as kubectl shows it.
func age(now, since time.Time) string {
	if since.IsZero() {
		return ""
	}
	d := max(0, now.Sub(since))
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
