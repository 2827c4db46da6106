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

// mutate changes the i-th node of n: a scalar gets another value, any other
// node loses a child.
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
				t.Errorf("%q: after a change of %s the form of another definition is found", in.Definition.Name, what)
			}
			if got == want && slices.Equal(gotFindings, wantFindings) {
				return
			}
			seen++
			if engine.Fingerprint(changed) == before {
				t.Errorf("%q: %s changes the entities, but not the fingerprint", in.Definition.Name, what)
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
	t.Logf("%d mutations changed the entities; a form was found %d times", seen, cache.hits)
}

// TestFingerprint checks what is part of the fingerprint besides the documents,
// and what is not.
func TestFingerprint(t *testing.T) {
	base := func() engine.Input {
		in := engine.Input{Definition: define(t, words.Portal), Base: "b", Clusters: []string{"east", "west"}, Untracked: map[string]bool{"a": true}}
		give(t, words.Portal, &in, xrd.Origin{File: "x.yaml", Cluster: "east"}, composition("a"), composition("b"), composite("shop", "orders"))
		return in
	}
	document := func(edits ...edit) func(*engine.Input) {
		return func(in *engine.Input) {
			// Positions are unchanged: only messages are compared.
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
		"nothing":                 {"The same input has the same fingerprint.", func(*engine.Input) {}, nil, true},
		"base":                    {"The base name is part of names.", func(in *engine.Input) { in.Base = "c" }, nil, false},
		"clusters":                {"Clusters are listed in an annotation.", func(in *engine.Input) { in.Clusters = []string{"east"} }, nil, false},
		"clusters run on":         {"The parts of the fingerprint are separated.", func(in *engine.Input) { in.Clusters = []string{"eastwest"} }, nil, false},
		"untracked":               {"Another untracked object changes the entities.", func(in *engine.Input) { in.Untracked = map[string]bool{"b": true} }, nil, false},
		"untracked false":         {"An entry that is false is the same as none.", func(in *engine.Input) { in.Untracked["b"] = false }, nil, true},
		"origin":                  {"The location is in an annotation.", func(in *engine.Input) { in.Definition.Origin.Location = "url:https://x" }, nil, false},
		"file":                    {"Findings have the file.", func(in *engine.Input) { in.Definition.Origin.File = "y.yaml" }, nil, false},
		"place":                   {"Findings have the position.", func(in *engine.Input) { in.Definition.Node.Get("spec").Pos.Line++ }, nil, false},
		"Composition's origin":    {"The location of a Composition is in an annotation.", func(in *engine.Input) { in.Compositions[0].Origin.Location = "url:https://x" }, nil, false},
		"composite's cluster":     {"The cluster of a composite is in its name.", func(in *engine.Input) { in.Composites[0].Origin.Cluster = "west" }, nil, false},
		"a Composition less":      {"A Composition is missing.", func(in *engine.Input) { in.Compositions = in.Compositions[1:] }, nil, false},
		"a composite less":        {"A composite is missing.", func(in *engine.Input) { in.Composites = nil }, nil, false},
		"given":                   {"A given fingerprint replaces that of the definition.", func(in *engine.Input) { in.Fingerprint = "x" }, nil, false},
		"given again":             {"With a given fingerprint the definition is ignored.", func(in *engine.Input) { in.Fingerprint, in.Definition = "x", define(t, words.Portal, named("y.z")) }, func(in *engine.Input) { in.Fingerprint = "x" }, true},
		"read fields":             {"A hook can change parsed fields without the document.", func(in *engine.Input) { in.Definition.Annotations = map[string]string{words.AnnotationOwner: "x"} }, nil, false},
		"read schema":             {"A hook can change a parsed schema without the document.", func(in *engine.Input) { in.Definition.Versions[0].Schema = tree.Obj() }, nil, false},
		"words":                   {"The vocabulary changes the entities.", func(in *engine.Input) { in.Definition.Words = words.Upstream }, nil, false},
		"resource version":        {"The resource version is ignored.", document(set("2", "metadata", "resourceVersion")), document(set("1", "metadata", "resourceVersion")), true},
		"status of a definition":  {"The status of a definition is ignored.", document(set("Ready", "status", "x")), document(), true},
		"what kubectl notes down": {"The annotation of kubectl is ignored.", document(annotated(xrd.LastApplied, "{}")), document(annotated("x", "y"), annotated(xrd.LastApplied, "{1}"), without("metadata", "annotations", "x")), true},
		"generation":              {"The generation decides between two definitions with the same name.", document(set(2, "metadata", "generation")), document(set(1, "metadata", "generation")), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before, after := base(), base()
			if tc.from != nil {
				tc.from(&before)
			}
			tc.change(&after)
			if (engine.Fingerprint(before) == engine.Fingerprint(after)) != tc.same {
				t.Errorf("%s\nfingerprints are equal: %v", tc.reason, !tc.same)
			}
		})
	}
}
