package lint

import (
	"slices"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/text"
)

// fields maps the fields that an object may have to the kinds of their values.
type fields map[string]tree.Kind

var (
	objectFields = fields{
		"apiVersion": tree.String, "kind": tree.String, "metadata": tree.Map, "spec": tree.Map, "status": tree.Map,
	}
	specFields = fields{
		"group": tree.String, "names": tree.Map, "claimNames": tree.Map, "versions": tree.List, "scope": tree.String,
		"connectionSecretKeys": tree.List, "defaultCompositionRef": tree.Map, "enforcedCompositionRef": tree.Map,
		"defaultCompositionUpdatePolicy": tree.String, "defaultCompositeDeletePolicy": tree.String,
		"defaultCompositionRevisionSelector": tree.Map, "conversion": tree.Map, "metadata": tree.Map,
	}
	nameFields = fields{
		"kind": tree.String, "plural": tree.String, "singular": tree.String, "listKind": tree.String,
		"shortNames": tree.List, "categories": tree.List,
	}
	versionFields = fields{
		"name": tree.String, "served": tree.Bool, "referenceable": tree.Bool, "schema": tree.Map,
		"additionalPrinterColumns": tree.List, "deprecated": tree.Bool, "deprecationWarning": tree.String,
		"subresources": tree.Map,
	}
	schemaFields = fields{"openAPIV3Schema": tree.Map}
)

// fieldHints are the hints for common mistakes: fields of older versions, of
// CustomResourceDefinitions, and of the level above or below.
var fieldHints = map[string]string{
	"spec.crdSpecTemplate":          "move group, names and versions directly under spec; crdSpecTemplate is from v1alpha1",
	"spec.defaultComposition":       "write defaultCompositionRef with a name",
	"spec.enforcedComposition":      "write enforcedCompositionRef with a name",
	"spec.categories":               "move it under spec.names",
	"spec.kind":                     "move it under spec.names",
	"spec.plural":                   "move it under spec.names",
	"spec.singular":                 "move it under spec.names",
	"spec.listKind":                 "move it under spec.names",
	"spec.shortNames":               "move it under spec.names",
	"spec.version":                  "write a list under spec.versions",
	"spec.schema":                   "move it into an entry of spec.versions",
	"spec.validation":               "move it into an entry of spec.versions, as schema",
	"spec.additionalPrinterColumns": "move it into an entry of spec.versions",
	"version.storage":               "use referenceable; it determines which version is stored",
	"version.schemas":               "write schema",
}

// knownFields reports the fields of n that are unknown or have a value of the wrong
// kind; what names n in messages. A field without a value counts as absent.
func (l *linter) knownFields(n *tree.Node, what string, known fields) {
	for i := range n.Fields {
		f := &n.Fields[i]
		kind, ok := known[f.Key]
		switch {
		case ok && f.Value.IsNull():
		case ok && f.Value.Kind != kind:
			l.wrongKind(f, kind)
		case ok:
		case f.Key == "openAPIV3Schema":
			l.report(RuleSchemaMisplaced, f.Key, f.Pos, "put it under schema of an entry of spec.versions",
				"openAPIV3Schema is directly under the %s, where it is ignored", what)
		default:
			l.report(RuleUnknownField, f.Key, f.Pos, l.unknownHint(what, f.Key, known),
				"%q is not a field of the %s", shorten(f.Key), what)
		}
	}
}

func (l *linter) unknownHint(what, key string, known fields) string {
	if hint, ok := fieldHints[what+"."+key]; ok {
		return hint
	}
	if near := l.nearest(key, sortedKeys(known)); near != "" {
		return "did you mean " + near + "?"
	}
	return "remove it, or check the indentation: it may belong one level up or down"
}

// wrongKind reports a field whose value has the wrong kind.
func (l *linter) wrongKind(f *tree.Field, want tree.Kind) {
	hint := "write " + kindNames[want]
	if want == tree.String && f.Value.Kind < tree.List {
		hint = "put it in quotes"
	}
	if want == tree.Bool && f.Value.IsString() && (f.Value.Text == "true" || f.Value.Text == "false") {
		hint = "remove the quotes"
	}
	l.report(RuleFieldType, f.Key, f.Value.At(), hint, "%s is %s, but must be %s", shorten(f.Key), kindNames[kindOf(f.Value)], kindNames[want])
}

// kindNames are the names of kinds in messages.
var kindNames = [...]string{
	tree.Null: "empty", tree.Bool: "a boolean", tree.Int: "an integer", tree.Float: "a number",
	tree.String: "a string", tree.List: "a list", tree.Map: "a map",
}

// kindOf returns the kind of n, or Null if n is absent.
func kindOf(n *tree.Node) tree.Kind {
	if n == nil || int(n.Kind) >= len(kindNames) {
		return tree.Null
	}
	return n.Kind
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// nearest is text.Nearest until the guesses are used up: a document with hundreds of
// typos does not need hundreds of guesses.
func (l *linter) nearest(s string, words []string) string {
	if l.guesses--; l.guesses < 0 {
		return ""
	}
	return text.Nearest(s, words)
}

// shorten shortens user input for a message.
func shorten(s string) string { return text.Shorten(s, 60) }
