package lint

import (
	"strings"

	"example.dev/ingestor/document/tree"
)

// names checks spec.names and spec.claimNames.
func (l *linter) names(spec *tree.Field) {
	names := spec.Value.Field("names")
	pos := spec.Pos
	var own *tree.Node
	if names != nil {
		pos, own = names.Pos, names.Value
	}
	if names == nil || own.IsNull() || own.IsMap() {
		l.push("names")
		if missing(own.Get("kind")) {
			l.report(RuleNoKind, "kind", fieldPosOr(own.Field("kind"), pos), "write the kind, such as XDatabase", "the definition has no kind")
		}
		if missing(own.Get("plural")) {
			l.report(RuleNoPlural, "plural", fieldPosOr(own.Field("plural"), pos), "write the part of metadata.name before the first dot", "the definition has no plural")
		}
		if own.IsMap() {
			l.knownFields(own, "names", nameFields)
			l.nameValues(own)
		}
		l.pop()
	}
	claim := spec.Value.Field("claimNames")
	if claim == nil || !claim.Value.IsMap() {
		return
	}
	l.push("claimNames")
	defer l.pop()
	l.knownFields(claim.Value, "names", nameFields)
	l.nameValues(claim.Value)
	for _, key := range []string{"kind", "plural"} {
		if missing(claim.Value.Get(key)) {
			l.report(RuleClaimIncomplete, key, fieldPosOr(claim.Value.Field(key), claim.Pos), "write it, or leave claimNames out", "claimNames has no %s", key)
		}
	}
	for _, key := range []string{"kind", "plural", "singular", "listKind"} {
		v := claim.Value.Get(key)
		if v.IsString() && v.Text != "" && v.Text == own.Get(key).Str() {
			l.report(RuleClaimSame, key, v.At(), "prefix the composite's kind with X and its plural with x, or rename the claim",
				"%s %q is also used by the composite", key, shorten(v.Text))
		}
	}
}

// missing reports whether n is absent, null or the empty string.
func missing(n *tree.Node) bool { return n.IsNull() || n.IsString() && n.Text == "" }

func fieldPosOr(f *tree.Field, pos tree.Pos) tree.Pos {
	if f != nil {
		return f.Pos
	}
	return pos
}

// nameValues checks the values of the names.
func (l *linter) nameValues(n *tree.Node) {
	for _, key := range []string{"kind", "listKind"} {
		v := n.Get(key)
		switch {
		case missing(v) || !v.IsString():
		case !isLabel(strings.ToLower(v.Text)):
			l.report(RuleBadKind, key, v.At(), "write letters and digits, beginning with a letter, at most 63", "%s %q is rejected by Kubernetes", key, shorten(v.Text))
		case v.Text[0] < 'A' || v.Text[0] > 'Z' || strings.Contains(v.Text, "-"):
			l.report(RuleKindCase, key, v.At(), "write it like XDatabase", "%s %q is not in CamelCase", key, shorten(v.Text))
		}
	}
	const longest = 63 - len("List")
	if k := n.Get("kind"); len(k.Str()) > longest && isLabel(strings.ToLower(k.Str())) && missing(n.Get("listKind")) {
		l.report(RuleBadKind, "kind", k.At(), "write a shorter kind, or a listKind", "kind %q with the suffix List is longer than 63 characters", shorten(k.Text))
	}
	if k := n.Get("kind"); k.Str() != "" && k.Str() == n.Get("listKind").Str() {
		l.report(RuleBadKind, "listKind", n.Get("listKind").At(), "write "+shorten(k.Text)+"List, or leave it out", "listKind is the same as kind")
	}
	for _, key := range []string{"plural", "singular"} {
		if v := n.Get(key); v.IsString() && v.Text != "" && !isLabel(v.Text) {
			l.badName(key, v)
		}
	}
	for _, key := range []string{"shortNames", "categories"} {
		l.push(key)
		for i, v := range n.Get(key).List() {
			if !v.IsString() || !isLabel(v.Text) {
				l.pushIndex(i)
				l.badName("", v)
				l.pop()
			}
		}
		l.pop()
	}
}

func (l *linter) badName(key string, v *tree.Node) {
	hint := "write lower-case letters, digits and dashes, beginning with a letter, at most 63"
	if lower := strings.ToLower(v.Str()); isLabel(lower) {
		hint = "write " + lower
	}
	l.report(RuleBadNames, key, v.At(), hint, "%q is not a lower-case DNS label", shorten(v.Scalar()))
}

// isLabel reports whether s is a DNS label that begins with a letter, which Kubernetes
// requires of kinds (in lower case), plurals and versions.
func isLabel(s string) bool {
	return s != "" && len(s) <= 63 && s[0] >= 'a' && isDNSLabel(s)
}

// isDNSLabel does not check the length: Kubernetes limits domains as a whole.
func isDNSLabel(s string) bool {
	if s == "" || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// isDomain reports whether s is a DNS name of at least two labels.
func isDomain(s string) bool {
	if len(s) > 253 || !strings.Contains(s, ".") {
		return false
	}
	for part := range strings.SplitSeq(s, ".") {
		if !isDNSLabel(part) {
			return false
		}
	}
	return true
}

// isQualifiedName reports whether s is a valid key of a label or annotation, or a valid
// name of a finalizer: a name with an optional domain and slash before it.
func isQualifiedName(s string) bool {
	name := s
	if prefix, rest, ok := strings.Cut(s, "/"); ok {
		if len(prefix) > 253 {
			return false
		}
		for part := range strings.SplitSeq(prefix, ".") {
			if !isDNSLabel(part) {
				return false
			}
		}
		name = rest
	}
	return name != "" && isLabelValue(name)
}

// isLabelValue reports whether s is a valid value of a label.
func isLabelValue(s string) bool {
	if s == "" {
		return true
	}
	if len(s) > 63 || !isAlphanumeric(s[0]) || !isAlphanumeric(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isAlphanumeric(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// isYAMLBoolean reports whether s, written without quotes, is a boolean to YAML 1.1
// parsers, such as kubectl's, and a string to YAML 1.2 parsers.
func isYAMLBoolean(s string) bool {
	if len(s) > 3 {
		return false
	}
	switch s {
	case "y", "Y", "n", "N",
		"yes", "Yes", "YES", "no", "No", "NO",
		"on", "On", "ON", "off", "Off", "OFF":
		return true
	}
	return false
}
