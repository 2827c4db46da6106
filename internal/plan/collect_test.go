package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd/composed"
)

// world is a source whose kinds of other.org are not served, and whose kinds that begin
// with Cluster have no namespaces. It has objects by their names.
type world map[string]*tree.Node

// Kind implements Source.
func (world) Kind(_ context.Context, apiVersion, kind string) (string, bool, error) {
	if strings.HasPrefix(apiVersion, "other.org/") {
		return "", false, &cluster.Error{Reason: cluster.Absent, Err: errors.New("not served")}
	}
	return strings.ToLower(kind) + "s", !strings.HasPrefix(kind, "Cluster"), nil
}

// Get implements Source.
func (w world) Get(_ context.Context, ref composed.Ref) (*tree.Node, error) { return w[ref.Name], nil }

// List implements Source.
func (world) List(context.Context, string, string, string, map[string]string, int) ([]*tree.Node, error) {
	return nil, nil
}

// TestAdd checks what a plan says of an object that the composite does not have so far.
func TestAdd(t *testing.T) {
	deny := func(context.Context, composed.Ref) error { return errors.New("denied") }
	const object = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: team}, data: {x: y}}"
	cases := map[string]struct {
		reason, desired string
		exists          string
		authorize       func(context.Context, composed.Ref) error
		within          []string
		want            Action
		says            string
	}{
		"New":      {reason: "It is created.", desired: object, want: Create},
		"Free":     {reason: "An object without a controller is taken over.", desired: object, exists: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: team}, data: {x: z}}", want: Change, says: "Crossplane would take it over"},
		"Other":    {reason: "One that another composite has is not applied.", desired: object, exists: "{metadata: {ownerReferences: [{controller: true, uid: other, kind: Shop, name: s}]}}", want: Blocked, says: "belongs to Shop s: Crossplane cannot apply it"},
		"Denied":   {reason: "A caller who may not read it does not learn whether it exists.", desired: object, exists: "{metadata: {ownerReferences: [{controller: true, uid: other}]}}", authorize: deny, want: Uncertain, says: "you may not read it"},
		"Unserved": {reason: "A kind that the cluster does not serve is not applied.", desired: "{apiVersion: other.org/v1, kind: Bucket, metadata: {name: a, namespace: team}}", want: Blocked, says: "does not serve kind Bucket"},
		"Cluster":  {reason: "A namespaced composite composes nothing with a cluster-scoped kind.", desired: "{apiVersion: v1, kind: ClusterThing, metadata: {name: a}}", want: Blocked, says: "fatal: a namespaced composite cannot compose ClusterThing"},
		"Nested":   {reason: "In a nested composite that ends only the nested one.", desired: "{apiVersion: v1, kind: ClusterThing, metadata: {name: a}}", within: []string{"part"}, want: Blocked, says: "part: a namespaced composite cannot compose ClusterThing"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			source := world{}
			if tc.exists != "" {
				source["a"] = parse(t, tc.exists)
			}
			j := &job{Request: Request{Authorize: tc.authorize}, source: source, plan: &Plan{}, generated: map[string]string{}}
			c := &composite{desired: parse(t, "{metadata: {name: c, namespace: team}}"), within: tc.within}
			if err := j.add(t.Context(), c, part{resource: "x", desired: parse(t, tc.desired)}, nil); err != nil {
				t.Fatal(err)
			}
			j.finish()
			said := "fatal: " + j.plan.Fatal
			for _, r := range j.plan.Results {
				said += "\n" + r.Text()
			}
			for _, u := range j.plan.Unknown {
				said += "\n" + u.Message
			}
			if got := j.plan.Objects[0].Action; got != tc.want || !strings.Contains(said, tc.says) {
				t.Errorf("%s: got %s, which says %s", tc.reason, got, said)
			}
			if sum := j.plan.Counts.String(); !strings.Contains(sum, "1 "+string(tc.want)) && !strings.Contains(sum, "1 to "+string(tc.want)) {
				t.Errorf("counts are %s", sum)
			}
		})
	}
}

// TestObserve checks which of the objects that a composite refers to are compared.
func TestObserve(t *testing.T) {
	source := world{
		"own":    parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: own, ownerReferences: [{controller: true, uid: u}]}}"),
		"theirs": parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs, ownerReferences: [{controller: true, uid: other}]}}"),
		"free":   parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: free, ownerReferences: [{uid: u}]}}"),
		"closed": parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: closed}}"),
		"secret": parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: secret, ownerReferences: [{controller: true, uid: u}]}}"),
		"db":     parse(t, "{apiVersion: e.org/v1, kind: DB, metadata: {name: db, ownerReferences: [{controller: true, uid: u}]}, spec: {writeConnectionSecretToRef: {name: s}}}"),
	}
	var refs []string
	for _, name := range []string{"own", "theirs", "free", "closed", "secret", "db", "gone"} {
		kind := "ConfigMap"
		if n := source[name]; n != nil {
			kind = n.Get("kind").Str()
		}
		refs = append(refs, "{apiVersion: v1, kind: "+kind+", name: "+name+"}")
	}
	j := &job{source: source, plan: &Plan{}, Request: Request{Authorize: func(_ context.Context, ref composed.Ref) error {
		if ref.Name != "free" {
			return errors.New("denied")
		}
		return nil
	}}}
	c := &composite{live: parse(t, "{apiVersion: e.org/v1, kind: Thing, metadata: {name: c, namespace: team, uid: u}, spec: {crossplane: {resourceRefs: ["+strings.Join(refs, ", ")+"]}}}")}
	observed, hidden, err := j.observe(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range observed {
		names = append(names, n.Get("metadata", "name").Str())
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"db", "free", "own", "secret"}, names); diff != "" {
		t.Errorf("what the composite controls, and what has no controller and may be read (-want +got):\n%s", diff)
	}
	if len(hidden) != 1 || hidden[0].Name != "closed" {
		t.Errorf("hidden are %v", hidden)
	}
	unknown := fmt.Sprint(j.plan.Unknown)
	for _, want := range []string{"closed you may not read it", "its connection details are not passed", "secret its data is neither compared nor passed"} {
		if !strings.Contains(unknown, want) {
			t.Errorf("unknown is %s, want %s", unknown, want)
		}
	}
}

// TestDeleting checks that nothing is planned for a composite that is being deleted.
func TestDeleting(t *testing.T) {
	j := &job{plan: &Plan{}}
	n := parse(t, `{apiVersion: e.org/v1, kind: Thing, metadata: {name: c, deletionTimestamp: "2026-01-01T00:00:00Z"}}`)
	if err := j.compose(t.Context(), &composite{desired: n, live: n}); err != nil {
		t.Fatal(err)
	}
	if len(j.plan.Results) != 1 || !strings.Contains(j.plan.Results[0].Message, "is being deleted: Crossplane applies nothing") {
		t.Errorf("results are %+v", j.plan.Results)
	}
}
