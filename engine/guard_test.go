package engine_test

import (
	"strings"
	"testing"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// TestHooksOwnTheirEntities changes shared parts of forms in a hook: the change
// must not be visible in another form.
func TestHooksOwnTheirEntities(t *testing.T) {
	d := define(t, words.Portal, versions(version("v1", schemaOf(object{"type": "string", "enum": []any{"a", "b"}}, "properties", "spec", "properties", "size"))))
	clean := func() string {
		res := transform(t, engine.CLI, engine.Options{}, engine.Input{Definition: d})
		return string(entity.YAMLDocuments(res.Entities))
	}
	before, node := clean(), string(tree.AppendCanonical(nil, d.Node))
	hook := engine.Hooks{PostProcess: func(es []*entity.Entity) ([]*entity.Entity, error) {
		pages := es[0].Spec.Get("parameters").List()
		pages[0].Get("properties", "owner", "ui:options").Set("allowArbitraryValues", tree.Boolean(false))
		pages[1].Get("properties", "size", "enum").Items = append(pages[1].Get("properties", "size", "enum").Items, tree.Str("c"))
		return es, nil
	}}
	if _, err := engine.New(engine.CLI, engine.Options{}, hook).Transform(engine.Input{Definition: d}); err != nil {
		t.Fatal(err)
	}
	if after := clean(); after != before {
		t.Errorf("change of a hook is visible in an engine without the hook: has allowArbitraryValues %v", strings.Contains(after, "allowArbitraryValues"))
	}
	if string(tree.AppendCanonical(nil, d.Node)) != node {
		t.Error("definition was changed")
	}
}

// TestStampIsStable stamps an unchanged Template again in the upstream
// vocabulary: the version mark is unchanged.
func TestStampIsStable(t *testing.T) {
	e := transform(t, engine.CLI, engine.Options{}, engine.Input{Definition: define(t, words.Upstream)}).Entities[0]
	key := in(words.Upstream, templateVersion)
	before := e.Metadata.Annotations[key]
	engine.Stamp(e)
	if after := e.Metadata.Annotations[key]; after != before {
		t.Errorf("mark %s became %s though the spec is the same", before, after)
	}
}

// TestSystemNamespace checks a System in a namespace with capitals, which a
// catalog refuses.
func TestSystemNamespace(t *testing.T) {
	e := engine.New(engine.CLI, engine.Options{System: "Team/sys", Domain: "Team/dom"}, engine.Hooks{})
	res, _ := e.Transform(engine.Input{Definition: define(t, words.Portal)})
	refusedNone(t, e.Surroundings(res.Entities, "file:x", words.Portal))
}

// TestNamespaceOption checks a default namespace that no cluster accepts.
func TestNamespaceOption(t *testing.T) {
	res := transform(t, engine.CLI, engine.Options{ResourceNamespace: "Team A"}, engine.Input{Definition: define(t, words.Portal)})
	if got := page(res.Entities[0], 0, "properties", "namespace", "default").Str(); got != "default" {
		t.Errorf("default namespace of the form is %q, which its own pattern refuses; findings %v", got, rules(res.Findings))
	}
}

// TestNilEntity checks that a nil entity from a hook is an error, not a panic.
func TestNilEntity(t *testing.T) {
	for name, f := range map[string]func([]*entity.Entity) ([]*entity.Entity, error){
		"nil entity": func(es []*entity.Entity) ([]*entity.Entity, error) { return []*entity.Entity{nil}, nil },
	} {
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%s: panic %v", name, p)
				}
			}()
			_, err := engine.New(engine.CLI, engine.Options{}, engine.Hooks{PostProcess: f}).Transform(engine.Input{Definition: define(t, words.Upstream)})
			if err == nil {
				t.Errorf("%s: no error", name)
			}
		}()
	}
}

// TestVersionTwice checks that a duplicate version gives one Template.
func TestVersionTwice(t *testing.T) {
	res, _ := engine.New(engine.ClusterIngestor, engine.Options{}, engine.Hooks{}).Transform(engine.Input{Definition: define(t, words.Portal, versions(version("v1"), version("v1")))})
	refusedNone(t, res.Entities)
}

// TestBadVersion checks that a version with an invalid name does not affect the
// others.
func TestBadVersion(t *testing.T) {
	res := transform(t, engine.CLI, engine.Options{}, engine.Input{Definition: define(t, words.Portal, versions(version("v1"), version("V 2")))})
	if len(res.Entities) != 3 {
		t.Errorf("got %q, %v", list(res.Entities), res.Findings[0].Message)
	}
}

// TestXRAPIVersion checks a composite in a group that is also a word of the
// vocabulary.
func TestXRAPIVersion(t *testing.T) {
	input := engine.Input{Definition: define(t, words.Upstream, set("backstage.io", "spec", "group"))}
	give(t, words.Portal, &input, xrd.Origin{File: "c.yaml"}, composite("a", "b", set("backstage.io/v1", "apiVersion")))
	res := transform(t, engine.CLI, engine.Options{}, input)
	if got := res.Entities[len(res.Entities)-1].Metadata.Annotations["crossplane.terasky.io/xr-apiversion"]; got != "backstage.io/v1" {
		t.Errorf("xr-apiversion %q", got)
	}
}

// TestSystemThere checks that a System which a hook has already made is not
// made again.
func TestSystemThere(t *testing.T) {
	e := engine.New(engine.CLI, engine.Options{}, engine.Hooks{})
	res, _ := e.Transform(engine.Input{Definition: define(t, words.Portal)})
	own := &entity.Entity{APIVersion: "portal.io/v1alpha1", Kind: "System", Metadata: entity.Metadata{Name: "platform", Namespace: "default", Annotations: res.Entities[0].Metadata.Annotations}, Spec: tree.Obj(tree.F("owner", tree.Str("me")))}
	all := append(res.Entities, own)
	refusedNone(t, append(all, e.Surroundings(all, "file:x", words.Portal)...))
}

// refusedNone checks that a catalog accepts the entities.
func refusedNone(t *testing.T, es []*entity.Entity) {
	t.Helper()
	for _, x := range entity.CheckAll(es) {
		if x.Severity == finding.Error {
			t.Errorf("%s: %s: %s", x.Object, x.Path, x.Message)
		}
	}
}
