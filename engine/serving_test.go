package engine_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// inCluster returns a definition from a cluster with conditions: pairs of a
// type and a status, with a reason and a message unless the status is True.
func inCluster(tb testing.TB, cluster string, v words.Vocabulary, conditions []string, edits ...edit) *xrd.Definition {
	tb.Helper()
	var list []any
	for i := 0; i < len(conditions); i += 2 {
		c := object{"type": conditions[i], "status": conditions[i+1], "lastTransitionTime": "2026-01-01T00:00:00Z"}
		if conditions[i+1] != "True" {
			c["reason"], c["message"] = "Why"+conditions[i], "because \"x\" in "+cluster
		}
		list = append(list, c)
	}
	if list != nil {
		edits = append(edits, set(list, "status", "conditions"))
	}
	docs, errs := parser.DecodeBytes(text(tb, v, database(edits...)))
	if len(docs) != 1 || len(errs) > 0 {
		tb.Fatalf("%d documents, errors %v", len(docs), errs)
	}
	return xrd.NewDefinition(docs[0], xrd.Origin{Source: xrd.SourceCluster, Cluster: cluster, Location: "url:https://" + cluster + ".example.org"})
}

// said returns the serving annotations of entities, by their names.
func said(v words.Vocabulary, all []*entity.Entity) map[string]string {
	out := map[string]string{}
	for _, e := range all {
		var parts []string
		for _, key := range []string{"condition-established", "condition-offered", "unserved"} {
			if value, ok := e.Metadata.Annotations[in(v, "composer.io/"+key)]; ok {
				parts = append(parts, key+"="+value)
			}
		}
		if len(parts) > 0 {
			out[e.Kind+" "+e.Metadata.Name] = strings.Join(parts, " ")
		}
	}
	return out
}

// TestServing checks that entities of a definition which a cluster does not
// serve have an annotation with the reason; those that are served, or come from
// no cluster, have none.
func TestServing(t *testing.T) {
	const (
		established = `{"cluster":"prod","condition":"Established","status":"False","reason":"WhyEstablished","message":"because \"x\" in prod"}`
		offered     = `{"cluster":"prod","condition":"Offered","status":"Unknown","reason":"WhyOffered","message":"because \"x\" in prod"}`
	)
	every := func(unserved, conditions string) map[string]string {
		return map[string]string{
			"Template databases.platform.io": "unserved=" + unserved, "Template databases.platform.io-update": "unserved=" + unserved,
			"API databases.platform.io-api": "unserved=" + unserved, "Resource databases.platform.io-xrd": conditions + " unserved=" + unserved,
		}
	}
	cases := map[string]struct {
		reason     string
		conditions []string
		edits      []edit
		want       map[string]string
		findings   int
	}{
		"None":   {reason: "Without conditions there are no annotations.", want: map[string]string{}},
		"Served": {reason: "A served definition has the condition only on its Resource.", conditions: []string{"Established", "True"}, want: map[string]string{"Resource databases.platform.io-xrd": "condition-established=True"}},
		"NotEstablished": {
			reason: "All entities that need the cluster have the reason, except delete Templates.", conditions: []string{"Established", "False"},
			want: every("["+established+"]", "condition-established=False (WhyEstablished)"), findings: 1,
		},
		"NotOffered": {
			reason: "A claim that is not offered is reported.", conditions: []string{"Established", "True", "Offered", "Unknown"}, edits: []edit{claimed("DB", "dbs")},
			want: every("["+offered+"]", "condition-established=True condition-offered=Unknown (WhyOffered)"), findings: 1,
		},
		"Neither": {
			reason: "Both conditions are reported.", conditions: []string{"Established", "False", "Offered", "Unknown"}, edits: []edit{claimed("DB", "dbs")},
			want: every("["+established+","+offered+"]", "condition-established=False (WhyEstablished) condition-offered=Unknown (WhyOffered)"), findings: 2,
		},
	}
	for name, tc := range cases {
		for _, v := range vocabularies {
			t.Run(name+" "+v.String(), func(t *testing.T) {
				res := transform(t, engine.ComposerIngestor, engine.Options{DayTwo: true}, engine.Input{Definition: inCluster(t, "prod", v, tc.conditions, tc.edits...)})
				if diff := cmp.Diff(tc.want, said(v, res.Entities)); diff != "" {
					t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
				}
				found := 0
				for _, f := range res.Findings {
					if f.Rule == xrd.RuleUnserved {
						found++
					}
				}
				if found != tc.findings {
					t.Errorf("%s\n%d findings, want %d", tc.reason, found, tc.findings)
				}
			})
		}
	}
}

// TestServingClusters checks that the annotation of a definition from several
// clusters names those that do not serve it, and that it survives a round trip.
func TestServingClusters(t *testing.T) {
	kept, _ := xrd.Merge([]*xrd.Definition{
		inCluster(t, "c", words.Upstream, []string{"Established", "False"}),
		inCluster(t, "b", words.Upstream, []string{"Established", "True"}),
		inCluster(t, "a", words.Upstream, nil),
	})
	res := transform(t, engine.ComposerIngestor, engine.Options{}, engine.Input{Definition: kept[0], Clusters: []string{"a", "b", "c"}})
	want := []xrd.Unserved{{Cluster: "c", Condition: xrd.Condition{Type: "Established", Status: "False", Reason: "WhyEstablished", Message: `because "x" in c`}}}
	for _, e := range res.Entities {
		if diff := cmp.Diff(want, engine.Unserved(e.Metadata.Annotations)); diff != "" {
			t.Errorf("%s (-want, +got):\n%s", e.Kind, diff)
		}
	}
	if got := said(words.Upstream, res.Entities)["Resource databases.platform.io-xrd"]; !strings.HasPrefix(got, "condition-established=False (WhyEstablished)") {
		t.Errorf("worst condition of all clusters is %s", got)
	}
	for _, text := range []string{"", "x", "{}", `[1, {"cluster": "a"}]`} {
		if got := engine.Unserved(map[string]string{words.AnnotationUnserved: text}); got != nil {
			t.Errorf("%q was parsed as %v", text, got)
		}
	}
}

// TestServingTemplated checks that the Templates of a folder have the serving
// annotations too.
func TestServingTemplated(t *testing.T) {
	tr := engine.New(engine.Concept, engine.Options{}, engine.Hooks{}).Templated(open(t, files()), engine.TemplateOptions{})
	res, err := tr.Transform(engine.Input{Definition: inCluster(t, "prod", words.Portal, []string{"Established", "False"})})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, e := range res.Entities {
		if e.Kind == entity.KindTemplate && len(engine.Unserved(e.Metadata.Annotations)) == 1 {
			seen++
		}
	}
	if seen != 1 {
		t.Errorf("%d Templates of %q have the annotation of an unserved definition", seen, list(res.Entities))
	}
}

// TestServingStable checks that names and forms do not depend on how a cluster
// serves a definition, and that nothing depends on the time.
func TestServingStable(t *testing.T) {
	nameless := without("metadata", "name")
	plural := without("spec", "names", "plural")
	var names, versions []string
	for _, conditions := range [][]string{nil, {"Established", "False"}, {"Established", "True"}} {
		d := inCluster(t, "prod", words.Portal, conditions, nameless, plural)
		for _, e := range transform(t, engine.ComposerIngestor, engine.Options{}, engine.Input{Definition: d}).Entities {
			if e.Kind == entity.KindResource {
				names = append(names, e.Metadata.Name)
			}
		}
		d = inCluster(t, "prod", words.Portal, conditions)
		for _, e := range transform(t, engine.ComposerIngestor, engine.Options{}, engine.Input{Definition: d}).Entities {
			if e.Kind == entity.KindTemplate {
				versions = append(versions, e.Metadata.Annotations[words.AnnotationTemplateVersion])
			}
		}
	}
	for _, all := range [][]string{names, versions} {
		if len(all) != 3 || all[0] == "" || all[0] != all[1] || all[0] != all[2] {
			t.Errorf("%q differ", all)
		}
	}
	now := inCluster(t, "prod", words.Portal, []string{"Established", "False"})
	later := inCluster(t, "prod", words.Portal, []string{"Established", "False"})
	later.Node.Get("status", "conditions").Items[0].Set("lastTransitionTime", tree.Str("2027-01-01T00:00:00Z"))
	other := inCluster(t, "prod", words.Portal, []string{"Established", "True"})
	fingerprint := func(d *xrd.Definition) string { return engine.Fingerprint(engine.Input{Definition: d}) }
	if fingerprint(now) != fingerprint(later) || fingerprint(now) == fingerprint(other) {
		t.Error("fingerprint does not depend on the conditions, or depends on their time")
	}
	unserved := inCluster(t, "prod", words.Portal, nil)
	before := fingerprint(unserved)
	unserved.NotServed("Database")
	if fingerprint(unserved) == before {
		t.Error("fingerprint does not depend on whether a kind is served")
	}
	before = fingerprint(unserved)
	unserved.Serving[0].Conditions[0].Message += " still"
	if fingerprint(unserved) == before {
		t.Error("fingerprint does not depend on the conditions of another cluster")
	}
}
