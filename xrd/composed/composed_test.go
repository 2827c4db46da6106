package composed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd/composed"
)

// world is a cluster: its objects, what cannot be read, and how often it was asked.
type world struct {
	objects   map[string]*tree.Node
	events    map[string][]composed.Event
	forbidden map[string]bool
	reads     int
	err       error
}

func (w *world) Read(_ context.Context, refs []composed.Ref) ([]composed.Object, error) {
	w.reads++
	out := make([]composed.Object, len(refs))
	for i, r := range refs {
		key := r.Kind + "/" + r.Name
		o := composed.Object{Ref: r, State: composed.Present, Node: w.objects[key], Events: w.events[key]}
		switch {
		case w.forbidden[r.Kind]:
			o.State, o.Node, o.Problem = composed.Forbidden, nil, "you may not get "+r.Kind
		case o.Node == nil:
			o.State = composed.Missing
		case o.Node.Get("metadata", "namespace").Str() == "":
			o.Ref.Namespace = ""
		}
		out[i] = o
	}
	return out, w.err
}

// newWorld reads objects from YAML documents.
func newWorld(t *testing.T, text string) *world {
	t.Helper()
	w := &world{objects: map[string]*tree.Node{}}
	docs, errs := parser.DecodeBytes([]byte(text))
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	for _, d := range docs {
		w.objects[d.Get("kind").Str()+"/"+d.Get("metadata", "name").Str()] = d
	}
	return w
}

const root = `
apiVersion: platform.example.org/v1
kind: Shop
metadata: {name: invoices, namespace: team-a, uid: u1, creationTimestamp: "2026-11-01T08:00:00Z"}
spec:
  crossplane:
    resourceRefs:
      - {apiVersion: rds.example.org/v1, kind: Database, name: invoices-db}
      - {apiVersion: v1, kind: ConfigMap, name: invoices-config}
      - {apiVersion: rds.example.org/v1, kind: Unnamed}
status:
  conditions:
    - {type: Ready, status: "False", reason: Creating, message: "Unready resources: db", lastTransitionTime: "2026-11-01T08:00:05Z"}
    - {type: Synced, status: "True", reason: ReconcileSuccess, lastTransitionTime: "2026-11-01T08:00:01Z"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: invoices-config, namespace: team-a}
---
`

// unsynced returns objects whose composite could not apply what it composes.
func unsynced(objects string) string {
	return strings.Replace(objects, `{type: Synced, status: "True", reason: ReconcileSuccess`, `{type: Synced, status: "False", message: "Unsynced resources: db", reason: ReconcileError`, 1)
}

func TestWhy(t *testing.T) {
	shop := composed.Ref{APIVersion: "platform.example.org/v1", Kind: "Shop", Namespace: "team-a", Name: "invoices"}
	claim := composed.Ref{APIVersion: "platform.example.org/v1", Kind: "ShopClaim", Namespace: "team-a", Name: "invoices"}
	at := func(s string) time.Time {
		v, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	tests := map[string]struct {
		reason    string
		objects   string
		from      composed.Ref
		events    map[string][]composed.Event
		forbidden map[string]bool
		want      string
		source    string
	}{
		"Synced": {
			reason:  "A failed reconciliation says more than the condition Ready.",
			objects: root + `{apiVersion: rds.example.org/v1, kind: Database, metadata: {name: invoices-db}, status: {conditions: [{type: Ready, status: "False", reason: Creating}, {type: Synced, status: "False", reason: ReconcileError, message: "cannot create: DBSubnetGroup\n not found"}]}}`,
			want:    "Database invoices-db: cannot create: DBSubnetGroup not found", source: "Synced",
		},
		"Event": {
			reason:  "A condition without a message is explained by the last warning.",
			objects: root + `{apiVersion: rds.example.org/v1, kind: Database, metadata: {name: invoices-db}, status: {conditions: [{type: Ready, status: "False", reason: Creating}]}}`,
			events: map[string][]composed.Event{"Database/invoices-db": {
				{Type: "Warning", Message: "old", Last: at("2026-11-01T08:00:00Z")},
				{Type: "Warning", Message: "quota exceeded", Last: at("2026-11-01T09:00:00Z")},
				{Type: "Normal", Message: "tried", Last: at("2026-11-01T10:00:00Z")},
			}},
			want: "Database invoices-db: quota exceeded", source: "event",
		},
		"Waiting": {
			reason:  "Without message and event, the condition itself is named.",
			objects: root + `{apiVersion: rds.example.org/v1, kind: Database, metadata: {name: invoices-db}, status: {conditions: [{type: Ready, status: "False", reason: Creating}]}}`,
			want:    "Database invoices-db: Ready is False: Creating", source: "Ready",
		},
		"Refused": {
			reason:  "A composite whose object was refused knows more than the object that does not exist, and refers to an event.",
			objects: unsynced(root),
			events: map[string][]composed.Event{"Shop/invoices": {
				{Type: "Warning", Message: `cannot apply composed resource "db": Database "invoices-db" is invalid: spec.size: must be positive`, Last: at("2026-11-01T09:00:00Z")},
				{Type: "Normal", Message: `Composed resource "db" is not yet valid`, Last: at("2026-11-01T09:00:01Z")},
			}},
			want: `cannot apply composed resource "db": Database "invoices-db" is invalid: spec.size: must be positive`, source: "event",
		},
		"RefusedLongAgo": {
			reason:  "Events expire; the condition stays.",
			objects: unsynced(root),
			want:    "Unsynced resources: db", source: "Synced",
		},
		"FailedWhileWaiting": {
			reason:  "A composite that failed says more than an object that only waits.",
			objects: strings.Replace(unsynced(root), "Unsynced resources: db", "cannot compose resources: no such step", 1) + `{apiVersion: rds.example.org/v1, kind: Database, metadata: {name: invoices-db}, status: {conditions: [{type: Ready, status: "False", reason: Creating}]}}`,
			events: map[string][]composed.Event{"Shop/invoices": {
				{Type: "Warning", Message: "an earlier problem", Last: at("2026-11-01T07:00:00Z")},
			}},
			want: "cannot compose resources: no such step", source: "Synced",
		},
		"FailedAboveExplained": {
			reason:  "An object that says why it is not ready is deeper than a composite that failed.",
			objects: unsynced(root) + `{apiVersion: rds.example.org/v1, kind: Database, metadata: {name: invoices-db}, status: {conditions: [{type: Ready, status: "False", message: quota exceeded}]}}`,
			want:    "Database invoices-db: quota exceeded", source: "Ready",
		},
		"ReadyButFailed": {
			reason:  "A change that was not applied is a problem, although the composite is still ready.",
			objects: strings.Replace(root, `{type: Ready, status: "False"`, `{type: Ready, status: "True"`, 1) + `{apiVersion: rds.example.org/v1, kind: Database, metadata: {name: invoices-db}, status: {conditions: [{type: Ready, status: "True"}, {type: Synced, status: "False", message: size is negative}]}}`,
			want:    "Database invoices-db: size is negative", source: "Synced",
		},
		"Missing": {
			reason:  "An object that does not exist is the cause.",
			objects: root,
			want:    "Database invoices-db: the object does not exist", source: "missing",
		},
		"Forbidden": {
			reason:    "An object that cannot be read is named with the reason.",
			objects:   strings.Replace(root, `message: "Unready resources: db", `, "", 1) + `{apiVersion: rds.example.org/v1, kind: Database, metadata: {name: invoices-db}}`,
			forbidden: map[string]bool{"Database": true},
			want:      "Database invoices-db: you may not get Database", source: "forbidden",
		},
		"ForbiddenBelow": {
			reason:    "A parent that knows the reason says more than an object that cannot be read.",
			objects:   root + `{apiVersion: rds.example.org/v1, kind: Database, metadata: {name: invoices-db}}`,
			forbidden: map[string]bool{"Database": true},
			want:      "Unready resources: db", source: "Ready",
		},
		"Own": {
			reason:  "If everything below is ready, the composite speaks for itself.",
			objects: root + `{apiVersion: rds.example.org/v1, kind: Database, metadata: {name: invoices-db}, status: {conditions: [{type: Ready, status: "True"}]}}`,
			want:    "Unready resources: db", source: "Ready",
		},
		"Paused": {
			reason:  "A paused object does not change.",
			objects: root + `{apiVersion: rds.example.org/v1, kind: Database, metadata: {name: invoices-db, annotations: {crossplane.io/paused: "true"}}, status: {conditions: [{type: Ready, status: "False"}]}}`,
			want:    "Database invoices-db: reconciliation is paused by the annotation crossplane.io/paused", source: "paused",
		},
		"Deepest": {
			reason: "A claim leads to its composite, and that to a nested one.",
			from:   claim,
			objects: root + `{apiVersion: platform.example.org/v1, kind: ShopClaim, metadata: {name: invoices, namespace: team-a}, spec: {resourceRef: {apiVersion: platform.example.org/v1, kind: Shop, name: invoices}}, status: {conditions: [{type: Ready, status: "False", reason: Waiting}]}}
---
{apiVersion: rds.example.org/v1, kind: Database, metadata: {name: invoices-db}, spec: {resourceRefs: [{apiVersion: a/v1, kind: Instance, name: x7k}, {apiVersion: a/v1, kind: Subnet, name: s}]}, status: {conditions: [{type: Ready, status: "False"}]}}
---
{apiVersion: a/v1, kind: Instance, metadata: {name: x7k}, status: {conditions: [{type: Ready, status: "False", message: waiting}]}}
---
{apiVersion: a/v1, kind: Subnet, metadata: {name: s}, status: {conditions: [{type: Synced, status: "False", message: no permission}]}}`,
			want: "Shop invoices → Database invoices-db → Subnet s: no permission", source: "Synced",
		},
		"Ready": {
			reason:  "There is no reason if it is ready.",
			objects: strings.Replace(root, `{type: Ready, status: "False"`, `{type: Ready, status: "True"`, 1),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tc.objects)
			w.events, w.forbidden = tc.events, tc.forbidden
			from := tc.from
			if from.Kind == "" {
				from = shop
			}
			n, err := composed.Build(t.Context(), w, from, composed.Options{})
			if err != nil {
				t.Fatal(err)
			}
			why, got := n.Why(), ""
			if why != nil {
				got = why.String()
			}
			if got != tc.want {
				t.Errorf("%s\ngot  %s\nwant %s", tc.reason, got, tc.want)
			}
			if why != nil && why.Source != tc.source {
				t.Errorf("%s The source is %s, want %s", tc.reason, why.Source, tc.source)
			}
		})
	}
}

// TestTree checks the fields of a node.
func TestTree(t *testing.T) {
	w := newWorld(t, root+`{apiVersion: rds.example.org/v1, kind: Database, metadata: {name: invoices-db, uid: u2, deletionTimestamp: "2026-11-01T09:00:00Z", annotations: {crossplane.io/external-name: db-7}}, spec: {forProvider: {}}}`)
	n, err := composed.Build(t.Context(), w, composed.Ref{APIVersion: "platform.example.org/v1", Kind: "Shop", Namespace: "team-a", Name: "invoices"}, composed.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range n.Children {
		got = append(got, fmt.Sprintf("%s %q %s %s external=%s deleted=%t", c.Ref, c.Ref.Namespace, c.State, c.Readiness, c.External, !c.Deleted.IsZero()))
	}
	want := []string{
		`ConfigMap invoices-config "team-a" present none external= deleted=false`,
		`Database invoices-db "" present unknown external=db-7 deleted=true`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("children (-want +got):\n%s", diff)
	}
	if w.reads != 2 {
		t.Errorf("read %d times, want once per level", w.reads)
	}
	w.err = errors.New("cluster does not answer")
	if _, err := composed.Build(t.Context(), w, n.Ref, composed.Options{}); !errors.Is(err, w.err) {
		t.Errorf("got %v, want the error of the cluster", err)
	}
}

// TestBounds builds trees of random shape, with loops, and checks that they are bounded
// and complete.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 60).Draw(t, "objects")
		most := rapid.IntRange(1, 40).Draw(t, "most")
		w := &world{objects: map[string]*tree.Node{}}
		children := map[string]int{}
		for i := range count {
			refs := tree.Arr()
			targets := rapid.SliceOfNDistinct(rapid.IntRange(0, count-1), 0, min(count, 6), rapid.ID).Draw(t, "references")
			for _, to := range targets {
				refs.Items = append(refs.Items, tree.Obj(tree.F("apiVersion", tree.Str("a/v1")), tree.F("kind", tree.Str("X")), tree.F("name", tree.Str(fmt.Sprint(to)))))
			}
			name := fmt.Sprint(i)
			children[name] = len(targets)
			w.objects["X/"+name] = tree.Obj(tree.F("kind", tree.Str("X")), tree.F("metadata", tree.Obj(tree.F("name", tree.Str(name)))),
				tree.F("spec", tree.Obj(tree.F("resourceRefs", refs))))
		}
		n, err := composed.Build(context.Background(), w, composed.Ref{APIVersion: "a/v1", Kind: "X", Name: "0"}, composed.Options{Most: most})
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		var walk func(n *composed.Node, above map[string]bool)
		walk = func(n *composed.Node, above map[string]bool) {
			seen++
			if n.Loop != above[n.Ref.Name] {
				t.Fatalf("object %s is a loop: %t, want %t", n.Ref.Name, n.Loop, above[n.Ref.Name])
			}
			if n.Loop {
				return
			}
			if got := len(n.Children) + n.More; got != children[n.Ref.Name] {
				t.Fatalf("object %s has %d children, want %d", n.Ref.Name, got, children[n.Ref.Name])
			}
			inside := map[string]bool{n.Ref.Name: true}
			for k := range above {
				inside[k] = true
			}
			for _, c := range n.Children {
				walk(c, inside)
			}
		}
		walk(n, map[string]bool{})
		if seen > most {
			t.Fatalf("tree has %d objects, want at most %d", seen, most)
		}
		_ = n.Why()
	})
}

// TestOwned checks that only parts that name their parent as owner are shown, if the
// caller may see less than the reader.
func TestOwned(t *testing.T) {
	w := newWorld(t, `{apiVersion: a/v1, kind: Claim, metadata: {name: c, namespace: n, uid: u0}, spec: {resourceRef: {apiVersion: a/v1, kind: Root, name: r}}}
---
{apiVersion: a/v1, kind: Root, metadata: {name: r, uid: u1}, spec: {claimRef: {kind: Claim, name: c, namespace: n}, resourceRefs: [{apiVersion: a/v1, kind: X, name: own}, {apiVersion: a/v1, kind: X, name: foreign}]}}
---
{apiVersion: a/v1, kind: X, metadata: {name: own, ownerReferences: [{uid: u1}]}}
---
{apiVersion: a/v1, kind: X, metadata: {name: foreign, uid: u9, annotations: {crossplane.io/external-name: secret}, ownerReferences: [{uid: other}]}}`)
	n, err := composed.Build(t.Context(), w, composed.Ref{APIVersion: "a/v1", Kind: "Claim", Namespace: "n", Name: "c"}, composed.Options{Owned: true})
	if err != nil {
		t.Fatal(err)
	}
	parts := n.Children[0].Children
	if len(parts) != 2 || parts[1].State != composed.Present || parts[0].State != composed.Forbidden || parts[0].External != "" || parts[0].UID != "" {
		t.Errorf("parts are %+v and %+v", parts[0], parts[1])
	}
}

// TestOwnedClaim checks that a kind of another group is not taken for the claim of a
// composite.
func TestOwnedClaim(t *testing.T) {
	w := newWorld(t, `{apiVersion: evil/v1, kind: Claim, metadata: {name: c, namespace: n, uid: u0}, spec: {resourceRef: {apiVersion: a/v1, kind: Root, name: r}}}
---
{apiVersion: a/v1, kind: Claim, metadata: {name: c, namespace: n, uid: u2}, spec: {resourceRef: {apiVersion: a/v1, kind: Root, name: r}}}
---
{apiVersion: a/v1, kind: Root, metadata: {name: r, uid: u1}, spec: {claimRef: {apiVersion: a/v1beta1, kind: Claim, name: c, namespace: n}}}`)
	for version, want := range map[string]composed.State{"a/v1": composed.Present, "evil/v1": composed.Forbidden} {
		n, err := composed.Build(t.Context(), w, composed.Ref{APIVersion: version, Kind: "Claim", Namespace: "n", Name: "c"}, composed.Options{Owned: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := n.Children[0].State; got != want {
			t.Errorf("the composite of the claim of %s is %s, want %s", version, got, want)
		}
	}
}

// TestLongTexts checks that what others write about an object is truncated.
func TestLongTexts(t *testing.T) {
	w := newWorld(t, `{apiVersion: a/v1, kind: Root, metadata: {name: r}, status: {conditions: [{type: Ready, status: "False"}]}}`)
	long := strings.Repeat("x", 1<<20)
	ref := composed.Ref{APIVersion: "a/v1", Kind: "Root", Name: "r"}
	w.events = map[string][]composed.Event{"Root/r": {{Type: "Warning", Reason: long, Message: long}}}
	n, err := composed.Build(t.Context(), w, ref, composed.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal([]any{n, n.Why(), n.Events(10)})
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 10_000 {
		t.Errorf("tree, reason and events have %d bytes", len(text))
	}
}

// TestSkip reads the children of a large composite page by page.
func TestSkip(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "{apiVersion: a/v1, kind: X, name: n%04d},", i)
	}
	w := newWorld(t, `{apiVersion: a/v1, kind: Root, metadata: {name: r}, spec: {resourceRefs: [`+b.String()+`]}}`)
	seen := map[string]bool{}
	for skip := 0; ; {
		n, err := composed.Build(t.Context(), w, composed.Ref{APIVersion: "a/v1", Kind: "Root", Name: "r"}, composed.Options{Skip: skip})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range n.Children {
			seen[c.Ref.Name] = true
		}
		skip += len(n.Children)
		if n.More == 0 {
			break
		}
	}
	if len(seen) != 2000 {
		t.Errorf("saw %d children, want 2000", len(seen))
	}
}
