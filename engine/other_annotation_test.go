package engine_test

import (
	"slices"
	"strings"
	"testing"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// TestOtherAnnotations checks that annotations of other ingestors are read if
// those of the contract are missing, in both vocabularies, and that the source
// is recorded.
func TestOtherAnnotations(t *testing.T) {
	last := func(m made) string {
		_, more, _ := strings.Cut(strings.Join(m.template.Metadata.Tags, ","), "ingestor,")
		return more
	}
	lifecycle := func(m made) string { return m.api.Spec.Get("lifecycle").Str() }
	cases := map[string]struct {
		reason string
		edits  []edit
		look   func(made) string
		want   string
		// source is the source that won, as "field value from key".
		source string
	}{
		"tags":       {"The tags annotation of another ingestor is read.", []edit{annotated("example.dev/tags", "one, two")}, last, "one,two", "tags annotation example.dev/tags"},
		"own tags":   {"The tags annotation of the contract overrides it.", []edit{annotated("example.dev/tags", "one"), annotated("portal.io/template-tags", "three")}, last, "three", "tags annotation portal.io/template-tags"},
		"owner":      {"The owner annotation of another ingestor is read.", []edit{annotated("vendor.portal.io/owner", "team-v")}, specs("owner"), "team-v|team-v|team-v", "owner annotation vendor.portal.io/owner"},
		"own owner":  {"The owner annotation of the contract overrides it.", []edit{annotated("vendor.portal.io/owner", "team-v"), annotated("portal.io/owner", "team-p")}, specs("owner"), "team-p|team-p|team-p", "owner annotation portal.io/owner"},
		"system":     {"The system annotation of another ingestor is read.", []edit{annotated("vendor.portal.io/system", "shop")}, func(m made) string { return m.api.Spec.Get("system").Str() }, "shop", "system annotation vendor.portal.io/system"},
		"own system": {"The owner annotation of the contract overrides it.", []edit{annotated("vendor.portal.io/system", "shop"), annotated("portal.io/system", "bank")}, func(m made) string { return m.api.Spec.Get("system").Str() }, "bank", "system annotation portal.io/system"},
		"lifecycle":  {"The lifecycle annotation of another ingestor is read.", []edit{annotated("vendor.portal.io/lifecycle", "experimental")}, lifecycle, "experimental", "lifecycle annotation vendor.portal.io/lifecycle"},
		"default":    {"Without an annotation the default lifecycle is used.", nil, lifecycle, "production", ""},
	}
	for name, tc := range cases {
		for _, v := range vocabularies {
			t.Run(name+" "+v.String(), func(t *testing.T) {
				res := transform(t, engine.CLI, engine.Options{}, engine.Input{Definition: define(t, v, tc.edits...)})
				if got := tc.look(make3(t, res.Entities)); got != tc.want {
					t.Errorf("%s\ngot %q, want %q", tc.reason, got, tc.want)
				}
				if tc.source == "" {
					return
				}
				want := strings.Fields(tc.source)
				if !slices.ContainsFunc(res.Sources, func(s engine.Source) bool {
					return s.Field == want[0] && s.From == want[1] && s.Key == v.Out(words.Key, want[2])
				}) {
					t.Errorf("%s\ngot %v, want %s", tc.reason, res.Sources, tc.source)
				}
			})
		}
	}
}

// TestOtherAnnotationsOfObjects checks the same on composites.
func TestOtherAnnotationsOfObjects(t *testing.T) {
	in := engine.Input{Definition: define(t, words.Upstream)}
	give(t, words.Upstream, &in, xrd.Origin{File: "x.yaml"}, composite("dev", "mine", annotated("vendor.portal.io/owner", "team-v")))
	res := transform(t, engine.CLI, engine.Options{}, in)
	i := slices.IndexFunc(res.Entities, func(e *entity.Entity) bool { return strings.HasPrefix(e.Metadata.Name, "mine-") })
	if i < 0 {
		t.Fatalf("no Resource of the composite in %v", list(res.Entities))
	}
	if owner := res.Entities[i].Spec.Get("owner").Str(); owner != "team-v" {
		t.Errorf("owner of the composite is %q, want team-v", owner)
	}
}
