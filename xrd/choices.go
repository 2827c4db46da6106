package xrd

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
)

// ChoicesKeyword is the keyword of a schema that says where the values of a field come
// from.
const ChoicesKeyword = "x-ui-choices"

// NamespaceOfForm is the namespace of Choices that means the one chosen in the form.
const NamespaceOfForm = "form"

// Choices says which objects of a cluster are the values of a field.
type Choices struct {
	APIVersion, Kind string
	// LabelSelector selects objects; empty means all.
	LabelSelector string
	// ValuePath leads to the value in an object, and LabelPath to the text that is shown
	// with it; an empty LabelPath means none.
	ValuePath, LabelPath []string
	// Namespace is the namespace of the objects, or NamespaceOfForm; empty means all.
	Namespace string
}

// ChoicesProblem is a mistake in Choices.
type ChoicesProblem struct {
	// Key is the key with the mistake; empty means the whole.
	Key           string
	Pos           tree.Pos
	Message, Hint string
	// Secret says that the values may be secret.
	Secret bool
}

const (
	keyAPIVersion = "apiVersion"
	keyKind       = "kind"
	keySelector   = "labelSelector"
	keyValuePath  = "valuePath"
	keyLabelPath  = "labelPath"
	keyNamespace  = "namespace"
	// usualPath is the default of valuePath.
	usualPath = "metadata.name"
	// longestChoice is the length limit of a value of Choices, and mostSteps that of a path.
	longestChoice = 512
	mostSteps     = 16
)

var (
	choicesKeys = []string{keyAPIVersion, keyKind, keyLabelPath, keySelector, keyNamespace, keyValuePath}

	choiceVersion   = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[a-z0-9]{1,30}$`)
	choiceKind      = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,62}$`)
	choiceNamespace = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	choiceStep      = regexp.MustCompile(`^(?:\.?([A-Za-z_][-A-Za-z0-9_]*)|\[(?:'([^']+)'|"([^"]+)")\])`)
	labelWord       = `[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?`
	choiceSelector  = regexp.MustCompile(`^` + labelTerm + `(?:\s*,\s*` + labelTerm + `)*$`)
	labelTerm       = `(?:!?` + labelWord + `|` + labelWord + `\s*(?:=|==|!=)\s*(?:` + labelWord + `)?|` +
		labelWord + `\s+(?:in|notin)\s*\(\s*` + labelWord + `(?:\s*,\s*` + labelWord + `)*\s*\))`
)

// ReadChoices reads Choices as an author writes them, or as a form has them. Choices with
// problems must not be used.
func ReadChoices(n *tree.Node) (Choices, []ChoicesProblem) {
	r := choicesReader{node: n}
	if !n.IsMap() {
		r.note("", n.At(), "write apiVersion and kind of the objects", "%s is not an object", ChoicesKeyword)
		return Choices{}, r.problems
	}
	for _, f := range n.Fields {
		if !slices.Contains(choicesKeys, f.Key) {
			r.note(f.Key, f.Pos, "write one of "+strings.Join(choicesKeys, ", "), "%s is not a key of %s", shortened(f.Key), ChoicesKeyword)
		}
	}
	c := Choices{
		APIVersion: r.text(keyAPIVersion, true, choiceVersion, "write the API version of the objects, such as v1 or storage.k8s.io/v1"),
		Kind:       r.text(keyKind, true, choiceKind, "write the kind of the objects, such as StorageClass"),
		Namespace:  r.text(keyNamespace, false, choiceNamespace, "write the name of a namespace, or form for the one that the user chooses"),
		ValuePath:  r.path(keyValuePath, usualPath), LabelPath: r.path(keyLabelPath, ""),
		LabelSelector: r.selector(),
	}
	if len(r.problems) == 0 {
		r.refuse(c)
	}
	return c, r.problems
}

// shortened returns the beginning of an author's text, for messages.
func shortened(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

type choicesReader struct {
	node     *tree.Node
	problems []ChoicesProblem
}

func (r *choicesReader) note(key string, pos tree.Pos, hint, format string, args ...any) {
	r.problems = append(r.problems, ChoicesProblem{Key: key, Pos: pos, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// text returns a string that matches a pattern.
func (r *choicesReader) text(key string, required bool, pattern *regexp.Regexp, hint string) string {
	f := r.node.Field(key)
	switch {
	case f == nil && !required:
		return ""
	case f == nil:
		r.note("", r.node.At(), hint, "%s has no %s", ChoicesKeyword, key)
	case !f.Value.IsString() || len(f.Value.Text) > longestChoice || !pattern.MatchString(f.Value.Text):
		r.note(key, f.Value.At(), hint, "%s of %s is not valid: %q", key, ChoicesKeyword, shortened(f.Value.Scalar()))
	default:
		return f.Value.Text
	}
	return ""
}

// path returns the steps of a path.
func (r *choicesReader) path(key, byDefault string) []string {
	text, pos := byDefault, r.node.At()
	if f := r.node.Field(key); f != nil {
		text, pos = f.Value.Str(), f.Value.At()
		if text == "" {
			r.note(key, pos, "write a path such as metadata.name", "%s of %s is not a path", key, ChoicesKeyword)
			return nil
		}
	}
	steps, ok := splitPath(text)
	if !ok {
		r.note(key, pos, `write a path such as metadata.name or metadata.labels["example.org/zone"]`, "%s of %s is not a path: %q", key, ChoicesKeyword, shortened(text))
	}
	return steps
}

// splitPath returns the steps of a path such as metadata.labels["a.b/c"].
func splitPath(text string) (steps []string, ok bool) {
	if len(text) > longestChoice || strings.HasPrefix(text, "[") {
		return nil, false
	}
	for rest := strings.TrimPrefix(text, "."); rest != ""; {
		m := choiceStep.FindStringSubmatch(rest)
		if m == nil || len(steps) == mostSteps || len(steps) > 0 && m[1] != "" && rest[0] != '.' {
			return nil, false
		}
		steps, rest = append(steps, m[1]+m[2]+m[3]), rest[len(m[0]):]
	}
	return steps, true
}

// joinPath is the inverse of splitPath.
func joinPath(steps []string) string {
	var b strings.Builder
	for i, s := range steps {
		m := choiceStep.FindStringSubmatch(s)
		switch {
		case m == nil || m[1] != s:
			quote := `"`
			if strings.Contains(s, quote) {
				quote = `'`
			}
			b.WriteString("[" + quote + s + quote + "]")
			continue
		case i > 0:
			b.WriteByte('.')
		}
		b.WriteString(s)
	}
	return b.String()
}

// selector returns the label selector, which is written as a string or as matchLabels.
func (r *choicesReader) selector() string {
	f := r.node.Field(keySelector)
	if f == nil {
		return ""
	}
	const hint = "write a selector such as tier=fast, or matchLabels with labels and their values"
	text := f.Value.Str()
	if labels := f.Value.Get("matchLabels"); f.Value.Len() == 1 && labels.IsMap() && labels.Len() > 0 {
		found := labels.StringMap()
		if len(found) != labels.Len() {
			r.note(keySelector, labels.At(), "put the values in quotes", "matchLabels of %s has a value that is not a string", ChoicesKeyword)
			return ""
		}
		var terms []string
		for _, key := range slices.Sorted(maps.Keys(found)) {
			terms = append(terms, key+"="+found[key])
		}
		text = strings.Join(terms, ",")
	}
	if len(text) > longestChoice || !choiceSelector.MatchString(text) {
		r.note(keySelector, f.Value.At(), hint, "labelSelector of %s is not valid: %q", ChoicesKeyword, shortened(text))
		return ""
	}
	return text
}

// Group is the API group of the objects, empty for that of Kubernetes' core.
func (c Choices) Group() string {
	group, _, ok := strings.Cut(c.APIVersion, "/")
	if !ok {
		return ""
	}
	return group
}

// MetadataOnly reports whether the metadata of the objects has all that is needed.
func (c Choices) MetadataOnly() bool {
	return c.ValuePath[0] == "metadata" && (len(c.LabelPath) == 0 || c.LabelPath[0] == "metadata")
}

// IsNamespaces reports whether the values are the namespaces of the cluster.
func (c Choices) IsNamespaces() bool { return c.APIVersion == "v1" && c.Kind == "Namespace" }

// lastApplied is the annotation in which kubectl keeps a whole object.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// refuse notes Choices whose values may be secret: every user who fills in a form would read
// them.
func (r *choicesReader) refuse(c Choices) {
	secret := func(key, hint, format string, args ...any) {
		pos := r.node.At()
		if f := r.node.Field(key); f != nil {
			pos = f.Value.At()
		}
		r.problems = append(r.problems, ChoicesProblem{Key: key, Pos: pos, Message: fmt.Sprintf(format, args...), Hint: hint, Secret: true})
	}
	switch group := c.Group(); {
	case group == "" && c.Kind == "Secret", group == "authentication.k8s.io", group == "certificates.k8s.io":
		secret(keyKind, "choose objects of another kind", "objects of kind %s hold secrets, and are never offered as choices", c.Kind)
		return
	}
	for key, path := range map[string][]string{keyValuePath: c.ValuePath, keyLabelPath: c.LabelPath} {
		switch {
		case len(path) == 0:
		case c.isBuiltIn() && !describes(path):
			secret(key, "write metadata.name, or a label or annotation", "%s of kind %s must be a name, label or annotation: the rest of the object may hold secrets", key, c.Kind)
		case slices.Contains(path, lastApplied) || slices.ContainsFunc(path, soundsSecret):
			secret(key, "choose another field", "%s of %s may be secret: %q", key, ChoicesKeyword, shortened(joinPath(path)))
		}
	}
	slices.SortFunc(r.problems, func(a, b ChoicesProblem) int { return strings.Compare(a.Key, b.Key) })
}

// isBuiltIn reports whether the kind is one of Kubernetes' own that contain settings of
// programs: ConfigMaps, Pods and what creates them.
func (c Choices) isBuiltIn() bool {
	group := c.Group()
	return group == "" || group == "apps" || group == "batch"
}

// describes reports whether a path leads to the name, a label or an annotation.
func describes(path []string) bool {
	if path[0] != "metadata" {
		return false
	}
	switch {
	case len(path) == 2:
		return path[1] == "name" || path[1] == "namespace"
	case len(path) == 3:
		return path[1] == "labels" || path[1] == "annotations"
	}
	return false
}

// separators separate the words of a name.
var separators = strings.NewReplacer("-", "", "_", "", ".", "")

// soundsSecret reports whether the name of a field says that its value is secret. The prefix
// of a label or annotation is the domain of its author, and says nothing.
func soundsSecret(step string) bool {
	if _, name, ok := strings.Cut(step, "/"); ok {
		step = name
	}
	s := separators.Replace(strings.ToLower(step))
	if strings.HasSuffix(s, "name") || strings.HasSuffix(s, "ref") {
		return false
	}
	return slices.ContainsFunc([]string{"password", "passwd", "passphrase", "token", "secret", "credential", "privatekey", "apikey", "accesskey"},
		func(word string) bool { return strings.Contains(s, word) })
}

// Node returns the choices as ReadChoices reads them.
func (c Choices) Node() *tree.Node {
	return tree.Obj(
		tree.F(keyAPIVersion, tree.Str(c.APIVersion)), tree.F(keyKind, tree.Str(c.Kind)),
		tree.F(keySelector, tree.OptStr(c.LabelSelector)), tree.F(keyValuePath, tree.Str(joinPath(c.ValuePath))),
		tree.F(keyLabelPath, tree.OptStr(joinPath(c.LabelPath))), tree.F(keyNamespace, tree.OptStr(c.Namespace)),
	)
}

// ChoosableType returns the type of the values of a schema that may have choices: string
// or integer, also as items of a list. many says that it is a list; ok is false if the
// schema has no such values, or lists them itself.
func ChoosableType(schema *tree.Node) (typ string, many, ok bool) {
	typ = schemaType(schema)
	if many = typ == "array"; many {
		schema = schema.Get("items")
		typ = schemaType(schema)
	}
	return typ, many, (typ == "string" || typ == "integer") && schema.Get("enum").Len() == 0
}

// schemaType returns the type of a schema; of a nullable one in a form, the first.
func schemaType(schema *tree.Node) string {
	t := schema.Get("type")
	if t.IsList() && len(t.Items) > 0 {
		return t.Items[0].Str()
	}
	return t.Str()
}
