package engine_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// workload returns a workload of a cluster with the id "shop".
func workload(tb testing.TB, v words.Vocabulary, cluster, namespace, kind, name string, edits ...edit) *xrd.Object {
	tb.Helper()
	o := object{"apiVersion": "apps/v1", "kind": kind, "metadata": object{"name": name, "namespace": namespace}}
	labelled("portal.io/cluster-id", "shop")(o)
	for _, e := range edits {
		e(o)
	}
	origin := xrd.Origin{Source: xrd.SourceCluster, Cluster: cluster, File: cluster + "/" + name, Location: "url:https://" + cluster}
	if cluster == "" {
		origin = xrd.Origin{File: "shop.yaml"}
	}
	var set xrd.Set
	if err := set.Read(bytes.NewReader(text(tb, v, o)), origin); err != nil || len(set.Others) != 1 {
		tb.Fatalf("%d objects, error %v", len(set.Others), err)
	}
	return set.Others[0]
}

// ownedBy sets the owner reference of an object.
func ownedBy(kind, name string) edit {
	return set([]any{object{"apiVersion": "batch/v1", "kind": kind, "name": name}}, "metadata", "ownerReferences")
}

// component makes a Component without hooks.
func component(t *testing.T, id string, workloads []*xrd.Object, opts engine.Options) (*entity.Entity, []finding.Finding) {
	t.Helper()
	res, err := engine.New(engine.ClusterIngestor, opts, engine.Hooks{}).Component(id, workloads)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Entities) == 0 {
		return nil, res.Findings
	}
	return res.Entities[0], res.Findings
}

func TestComponent(t *testing.T) {
	w := func(cluster, namespace, kind, name string, edits ...edit) *xrd.Object {
		return workload(t, words.Portal, cluster, namespace, kind, name, edits...)
	}
	owner := func(s string) edit { return annotated("portal.io/owner", s) }
	head := func(annotations, tags, description, spec string) string {
		return "apiVersion: portal.io/v1alpha1\nkind: Component\nmetadata:\n  name: shop\n  namespace: default\n  title: shop\n  description: " + description +
			"\n  annotations:\n" + annotations + "  tags:\n    - composer\n    - source:composer-ingestor\n" + tags + "spec:\n  type: service\n" + spec
	}
	at := func(namespace, from string) string {
		where, _, _ := strings.Cut(from, ",")
		if namespace != "" {
			namespace = "    portal.io/cluster-namespace: " + namespace + "\n"
		}
		return "    portal.io/cluster-id: shop\n" + namespace + "    portal.io/discovered-from: " + from +
			"\n    portal.io/managed-by-location: url:https://" + where + "\n    portal.io/managed-by-origin-location: url:https://" + where +
			"\n    portal.io/source-location: url:https://" + where + "\n"
	}
	const usual = "  lifecycle: production\n  owner: platform-team\n"
	cases := map[string]struct {
		reason    string
		workloads []*xrd.Object
		opts      engine.Options
		want      string
		rules     []string
	}{
		"one": {
			reason: "A single workload gets all defaults.", workloads: []*xrd.Object{w("east", "shop", "Deployment", "api")},
			want: head(at("shop", "east"), "    - deployment\n", "Deployment api", usual),
		},
		"several": {
			reason:    "Kinds and names are sorted and unique across all clusters.",
			workloads: []*xrd.Object{w("west", "shop", "Deployment", "web"), w("west", "shop", "StatefulSet", "db"), w("east", "shop", "Deployment", "web"), w("east", "shop", "Deployment", "api")},
			want:      head(at("shop", "east,west"), "    - deployment\n    - statefulset\n", "Deployment api, web; StatefulSet db", usual),
		},
		"namespaces": {
			reason: "Workloads of several namespaces give no namespace.", workloads: []*xrd.Object{w("east", "a", "Deployment", "web"), w("east", "b", "Deployment", "web")},
			want: head(at("", "east"), "    - deployment\n", "Deployment web", usual),
		},
		"jobs": {
			reason:    "A Job of a CronJob counts as the CronJob, whether it exists or not; any other Job counts itself.",
			workloads: []*xrd.Object{w("east", "shop", "Job", "clean-1", ownedBy("CronJob", "clean")), w("east", "shop", "Job", "clean-2", ownedBy("CronJob", "clean")), w("east", "shop", "CronJob", "clean"), w("east", "shop", "Job", "once"), w("east", "shop", "Job", "mail-7", ownedBy("CronJob", "mail"))},
			want:      head(at("shop", "east"), "    - cronjob\n    - job\n", "CronJob clean, mail; Job once", usual),
		},
		"many": {
			reason: "A description is readable.",
			workloads: func() (all []*xrd.Object) {
				for _, c := range "abcdefghij" {
					all = append(all, w("east", "shop", "Deployment", string(c)))
				}
				return all
			}(),
			want: head(at("shop", "east"), "    - deployment\n", "Deployment a, b, c, d, e, f, g, h, …", usual),
		},
		"annotations": {
			reason:    "The owner is the one that all workloads name; a system is set only if one is named.",
			workloads: []*xrd.Object{w("west", "shop", "Deployment", "web"), w("east", "shop", "Deployment", "web", owner("group:shop/carts")), w("east", "shop", "Deployment", "api", annotated("portal.io/system", "sales"))},
			opts:      engine.Options{Owner: "option", System: "option"},
			want:      head(at("shop", "east,west"), "    - deployment\n", "Deployment api, web", "  lifecycle: production\n  owner: group:shop/carts\n  system: sales\n"),
		},
		"disputed": {
			reason:    "A label cannot claim the Component of another workload.",
			workloads: []*xrd.Object{w("west", "shop", "Deployment", "web", owner("thieves")), w("east", "shop", "Deployment", "web", owner("group:shop/carts"))},
			opts:      engine.Options{Owner: "option"},
			want:      head(at("shop", "east,west"), "    - deployment\n", "Deployment web", "  lifecycle: production\n  owner: option\n"),
			rules:     []string{"ENG003"},
		},
		"options": {
			reason: "Options override defaults.", workloads: []*xrd.Object{w("east", "shop", "Deployment", "web")},
			opts: engine.Options{Owner: "option", Lifecycle: "experimental", Tags: []string{"Team A"}},
			want: head(at("shop", "east"), "    - deployment\n    - team-a\n", "Deployment web", "  lifecycle: experimental\n  owner: option\n"),
		},
		"broken references": {
			reason: "A value that is not a reference is reported and ignored.", workloads: []*xrd.Object{w("east", "shop", "Deployment", "web", owner("the cart people"), annotated("portal.io/system", "component:x"))},
			opts: engine.Options{Owner: "not a reference"},
			want: head(at("shop", "east"), "    - deployment\n", "Deployment web", usual), rules: []string{"ENG003", "ENG003", "ENG003"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				e, findings := component(t, "shop", tc.workloads, tc.opts)
				valid(t, []*entity.Entity{e})
				if diff := cmp.Diff(tc.want, string(entity.AppendYAML(nil, e))); diff != "" {
					t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
				}
				if diff := cmp.Diff(tc.rules, rules(findings)); diff != "" {
					t.Errorf("%s\nfindings (-want +got):\n%s", tc.reason, diff)
				}
				// The order of workloads does not matter.
				slices.Reverse(tc.workloads)
			}
		})
	}
}

func TestComponentWords(t *testing.T) {
	both := both(labelled("backstage.io/kubernetes-id", "shop"), labelled("portal.io/cluster-id", "shop"))
	of := func(v words.Vocabulary, name string, edits ...edit) *xrd.Object {
		return workload(t, v, "east", "shop", "Deployment", name, edits...)
	}
	cases := map[string]struct {
		reason    string
		words     string
		workloads []*xrd.Object
		want      words.Vocabulary
	}{
		"contract": {"The vocabulary is that of the label.", "auto", []*xrd.Object{of(words.Portal, "a")}, words.Portal},
		"upstream": {"The vocabulary is that of the label.", "auto", []*xrd.Object{of(words.Upstream, "a")}, words.Upstream},
		"mixed":    {"With mixed labels the portal vocabulary wins.", "auto", []*xrd.Object{of(words.Upstream, "a"), of(words.Portal, "b")}, words.Portal},
		"both":     {"With both labels on one workload the portal vocabulary wins.", "auto", []*xrd.Object{of(words.Portal, "a", both)}, words.Portal},
		"chosen":   {"A choice overrides the labels.", "upstream", []*xrd.Object{of(words.Portal, "a")}, words.Upstream},
		"chosen 2": {"A choice of the portal vocabulary overrides the labels.", "portal", []*xrd.Object{of(words.Upstream, "a", annotated("portal.io/owner", "x"))}, words.Portal},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e, _ := component(t, "shop", tc.workloads, engine.Options{Words: choice(t, tc.words), Now: found})
			valid(t, []*entity.Entity{e})
			if got := words.Of(e.APIVersion); got != tc.want {
				t.Errorf("%s\nvocabulary is %s", tc.reason, got)
			}
			for _, key := range []string{"portal.io/cluster-id", "portal.io/cluster-namespace", "portal.io/discovered-from", "portal.io/discovered-at", "portal.io/managed-by-location"} {
				if e.Metadata.Annotations[in(tc.want, key)] == "" {
					t.Errorf("%s\nannotation %s is missing; there are %v", tc.reason, in(tc.want, key), e.Metadata.Annotations)
				}
			}
		})
	}
}

// TestComponentNames checks ids that are not valid names, and no workloads.
func TestComponentNames(t *testing.T) {
	if e, findings := component(t, "shop", nil, engine.Options{}); e != nil || findings != nil {
		t.Errorf("without workloads: component %v, findings %v", e, findings)
	}
	id := "the shop: " + strings.Repeat("x", 80)
	e, findings := component(t, id, []*xrd.Object{workload(t, words.Portal, "", "", "Deployment", "a")}, engine.Options{Namespace: "Team A"})
	valid(t, []*entity.Entity{e})
	if diff := cmp.Diff([]string{engine.RuleName, engine.RuleNamespace}, rules(findings)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if e.Metadata.Title != id || e.Metadata.Annotations[words.AnnotationClusterID] != id {
		t.Errorf("id is not kept as it is: %+v", e.Metadata)
	}
	for _, f := range findings {
		if f.Message == "" || f.Severity == finding.Error {
			t.Errorf("finding %+v", f)
		}
	}
}
