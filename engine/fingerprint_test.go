package engine_test

import (
	"slices"
	"testing"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// nodesOf counts the nodes of a document.
func nodesOf(n *tree.Node) int {
	count := 1
	for i := range n.Fields {
		count += nodesOf(n.Fields[i].Value)
	}
	for _, it := range n.Items {
		count += nodesOf(it)
	}
	return count
}

// mutate changes the i-th node of n: a scalar says something else, anything
// else loses a part.
func mutate(n *tree.Node, i *int) bool {
	if *i == 0 {
		switch {
		case len(n.Fields) > 0:
			n.Fields = n.Fields[1:]
		case len(n.Items) > 0:
			n.Items = n.Items[:len(n.Items)-1]
		case n.Kind == tree.Bool:
			n.Text = map[string]string{"true": "false", "false": "true"}[n.Text]
		case n.Kind == tree.Int:
			n.Text += "1"
		default:
			n.Kind, n.Text = tree.String, n.Text+"x"
		}
		return true
	}
	*i--
	for k := range n.Fields {
		if mutate(n.Fields[k].Value, i) {
			return true
		}
	}
	for _, it := range n.Items {
		if mutate(it, i) {
			return true
		}
	}
	return false
}

// TestFingerprintMutations changes one value after the other in the examples:
// whatever changes entities or findings changes the fingerprint, and no form is
// mistaken for another.
func TestFingerprintMutations(t *testing.T) {
	seen := 0
	cache := &shelf{}
	for _, in := range inputs(examples(t), func(n *tree.Node, _ xrd.Role) *tree.Node { return noisy(n) }) {
		want, wantFindings := outcome(t, in, nil)
		before := engine.Fingerprint(in)
		if again := engine.Fingerprint(in); again != before {
			t.Fatalf("%q has fingerprint %s, then %s", in.Definition.Name, before, again)
		}
		check := func(what string, changed engine.Input) {
			got, gotFindings := outcome(t, changed, nil)
			cached, cachedFindings := outcome(t, changed, cache)
			if cached != got || !slices.Equal(cachedFindings, gotFindings) {
				t.Errorf("%q: after a change of %s it gets the form of another", in.Definition.Name, what)
			}
			if got == want && slices.Equal(gotFindings, wantFindings) {
				return
			}
			seen++
			if engine.Fingerprint(changed) == before {
				t.Errorf("%q: %s changes what is made, but not the fingerprint", in.Definition.Name, what)
			}
		}
		each := func(n *tree.Node, use func(*tree.Node)) {
			for i := range nodesOf(n) {
				c, at := n.Clone(), i
				mutate(c, &at)
				use(c)
			}
		}
		each(in.Definition.Node, func(n *tree.Node) {
			x := in
			x.Definition = xrd.NewDefinition(n, in.Definition.Origin)
			check("the definition", x)
		})
		for i, c := range in.Compositions {
			each(c.Node, func(n *tree.Node) {
				x := in
				x.Compositions = append([]*xrd.Composition{xrd.NewComposition(n, c.Origin)}, append(in.Compositions[:i:i], in.Compositions[i+1:]...)...)
				check("a Composition", x)
			})
		}
		for _, c := range in.Composites {
			each(c.Node, func(n *tree.Node) {
				var one xrd.Set
				one.Add(n, c.Origin)
				if len(one.Others) == 1 {
					if made := xrd.NewComposite(one.Others[0], in.Definition); made != nil {
						x := in
						x.Composites = []*xrd.Composite{made}
						check("a composite", x)
					}
				}
			})
		}
	}
	if seen < 500 {
		t.Errorf("only %d mutations changed anything", seen)
	}
	t.Logf("%d mutations changed something; a form was found %d times", seen, cache.hits)
}

// TestFingerprint tells what counts besides the documents, and what does not.
func TestFingerprint(t *testing.T) {
	base := func() engine.Input {
		in := engine.Input{Definition: define(t, words.Portal), Base: "b", Clusters: []string{"east", "west"}, Untracked: map[string]bool{"a": true}}
		give(t, words.Portal, &in, xrd.Origin{File: "x.yaml", Cluster: "east"}, composition("a"), composition("b"), composite("shop", "orders"))
		return in
	}
	document := func(edits ...edit) func(*engine.Input) {
		return func(in *engine.Input) {
			// Places are where they were: only what is said is looked at.
			d := define(t, words.Portal, edits...)
			in.Definition = xrd.NewDefinition(d.Node, xrd.Origin{})
		}
	}
	cases := map[string]struct {
		reason string
		change func(*engine.Input)
		from   func(*engine.Input)
		same   bool
	}{
		"nothing":                 {"the same again", func(*engine.Input) {}, nil, true},
		"base":                    {"names are made of it", func(in *engine.Input) { in.Base = "c" }, nil, false},
		"clusters":                {"they are listed", func(in *engine.Input) { in.Clusters = []string{"east"} }, nil, false},
		"clusters run on":         {"the parts do not run into each other", func(in *engine.Input) { in.Clusters = []string{"eastwest"} }, nil, false},
		"untracked":               {"another has no Resource", func(in *engine.Input) { in.Untracked = map[string]bool{"b": true} }, nil, false},
		"untracked false":         {"a false one is none", func(in *engine.Input) { in.Untracked["b"] = false }, nil, true},
		"origin":                  {"the location is written down", func(in *engine.Input) { in.Definition.Origin.Location = "url:https://x" }, nil, false},
		"file":                    {"findings name it", func(in *engine.Input) { in.Definition.Origin.File = "y.yaml" }, nil, false},
		"place":                   {"findings name it", func(in *engine.Input) { in.Definition.Node.Get("spec").Pos.Line++ }, nil, false},
		"Composition's origin":    {"its location is written down", func(in *engine.Input) { in.Compositions[0].Origin.Location = "url:https://x" }, nil, false},
		"composite's cluster":     {"it is in the name", func(in *engine.Input) { in.Composites[0].Origin.Cluster = "west" }, nil, false},
		"a Composition less":      {"one is missing", func(in *engine.Input) { in.Compositions = in.Compositions[1:] }, nil, false},
		"a composite less":        {"one is missing", func(in *engine.Input) { in.Composites = nil }, nil, false},
		"given":                   {"it stands for the definition", func(in *engine.Input) { in.Fingerprint = "x" }, nil, false},
		"given again":             {"whatever that is", func(in *engine.Input) { in.Fingerprint, in.Definition = "x", define(t, words.Portal, named("y.z")) }, func(in *engine.Input) { in.Fingerprint = "x" }, true},
		"read fields":             {"a hook may change what was read and not the document", func(in *engine.Input) { in.Definition.Annotations = map[string]string{words.AnnotationOwner: "x"} }, nil, false},
		"read schema":             {"even a schema", func(in *engine.Input) { in.Definition.Versions[0].Schema = tree.Obj() }, nil, false},
		"words":                   {"the entities speak otherwise", func(in *engine.Input) { in.Definition.Words = words.Upstream }, nil, false},
		"resource version":        {"it says nothing", document(set("2", "metadata", "resourceVersion")), document(set("1", "metadata", "resourceVersion")), true},
		"status of a definition":  {"it is not looked at", document(set("Ready", "status", "x")), document(), true},
		"what kubectl notes down": {"nor is this", document(annotated(xrd.LastApplied, "{}")), document(annotated("x", "y"), annotated(xrd.LastApplied, "{1}"), without("metadata", "annotations", "x")), true},
		"generation":              {"of two definitions with the same name it decides", document(set(2, "metadata", "generation")), document(set(1, "metadata", "generation")), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before, after := base(), base()
			if tc.from != nil {
				tc.from(&before)
			}
			tc.change(&after)
			if (engine.Fingerprint(before) == engine.Fingerprint(after)) != tc.same {
				t.Errorf("%s: the fingerprints are the same: %v", tc.reason, !tc.same)
			}
		})
	}
}
