package lint

import (
	"net/url"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
)

// choices are the fields of spec with a fixed set of values.
var choices = []struct {
	field string
	of    []string
}{
	{"defaultCompositionUpdatePolicy", []string{"Automatic", "Manual"}},
	{"defaultCompositeDeletePolicy", []string{"Background", "Foreground"}},
}

// settings checks the fields of spec about Compositions and about the resource that is
// made from the definition.
func (l *linter) settings(spec *tree.Node) {
	for _, c := range choices {
		v := spec.Get(c.field)
		if v.IsString() && !slices.Contains(c.of, v.Text) {
			l.report(RuleFieldValue, c.field, v.At(), "write "+strings.Join(c.of, " or "), "%s %q is not allowed", c.field, shorten(v.Text))
		}
	}
	for _, ref := range []string{"defaultCompositionRef", "enforcedCompositionRef"} {
		f := spec.Field(ref)
		if f != nil && f.Value.IsMap() && f.Value.Get("name").Str() == "" {
			l.report(RuleFieldValue, ref, f.Pos, "write the Composition's name under "+ref+".name", "%s names no Composition", ref)
		}
	}
	for i, k := range spec.Get("connectionSecretKeys").List() {
		if !k.IsString() {
			l.push("connectionSecretKeys")
			l.pushIndex(i)
			l.report(RuleFieldType, "", k.At(), "put it in quotes", "a connection secret key is %s, but must be a string", kindNames[kindOf(k)])
			l.popAll(2)
		}
	}
	l.selector(spec.Field("defaultCompositionRevisionSelector"))
	l.conversion(spec.Field("conversion"))
	if meta := spec.Get("metadata"); meta.IsMap() {
		l.push("metadata")
		l.stringMap(meta.Field("labels"), true)
		l.stringMap(meta.Field("annotations"), false)
		l.pop()
	}
}

// selector checks the selector of Composition revisions.
func (l *linter) selector(f *tree.Field) {
	if f == nil || !f.Value.IsMap() {
		return
	}
	l.push(f.Key)
	defer l.pop()
	labels := f.Value.Field("matchLabels")
	if labels == nil || labels.Value.IsNull() {
		return
	}
	if !labels.Value.IsMap() {
		l.wrongKind(labels, tree.Map)
		return
	}
	l.push(labels.Key)
	defer l.pop()
	l.strings(labels.Value)
}

// strings checks that the values of a map are strings.
func (l *linter) strings(n *tree.Node) {
	for i := range n.Fields {
		if v := n.Fields[i].Value; !v.IsNull() && (!v.IsString() || v.Plain && isYAMLBoolean(v.Text)) {
			l.wrongKind(&n.Fields[i], tree.String)
		}
	}
}

// stringMap checks labels or annotations of the resource that is made.
func (l *linter) stringMap(f *tree.Field, labels bool) {
	if f == nil || f.Value.IsNull() {
		return
	}
	if !f.Value.IsMap() {
		l.wrongKind(f, tree.Map)
		return
	}
	l.push(f.Key)
	defer l.pop()
	l.strings(f.Value)
	for i := range f.Value.Fields {
		e := &f.Value.Fields[i]
		l.key(e, strings.TrimSuffix(f.Key, "s"))
		if labels && e.Value.IsString() && !isLabelValue(e.Value.Text) {
			l.report(RuleLabelValue, e.Key, e.Value.At(), "write at most 63 letters, digits, dashes, dots and underscores; text belongs in an annotation",
				"label %s has the value %q, which Kubernetes rejects", shorten(e.Key), shorten(e.Value.Text))
		}
	}
}

// key checks the key of a label or annotation.
func (l *linter) key(f *tree.Field, what string) {
	key := f.Key
	if what == "annotation" {
		// Kubernetes ignores the case of these.
		key = strings.ToLower(key)
	}
	if !isQualifiedName(key) {
		l.report(RuleLabelValue, f.Key, f.Pos, "write letters, digits, dashes, dots and underscores, with an optional domain and slash before them",
			"%q is not a valid key of %s", shorten(f.Key), article(what))
	}
}

// conversion checks the conversion between versions.
func (l *linter) conversion(f *tree.Field) {
	if f == nil || !f.Value.IsMap() {
		return
	}
	l.push("conversion")
	defer l.pop()
	strategy, hook := f.Value.Get("strategy"), f.Value.Get("webhook")
	switch {
	case missing(strategy):
		l.report(RuleFieldValue, "strategy", f.Pos, "write None or Webhook", "conversion has no strategy")
	case !strategy.IsString():
		l.wrongKind(f.Value.Field("strategy"), tree.String)
	case strategy.Text != "None" && strategy.Text != "Webhook":
		l.report(RuleFieldValue, "strategy", strategy.At(), "write None or Webhook", "conversion strategy %q is not allowed", shorten(strategy.Text))
	case strategy.Text == "None":
		if !hook.IsNull() {
			l.report(RuleFieldValue, "webhook", f.Value.Field("webhook").Pos, "remove it, or write strategy: Webhook", "conversion has a webhook, but strategy None")
		}
	case !hook.IsMap():
		l.report(RuleFieldValue, "webhook", f.Pos, "write webhook with clientConfig and conversionReviewVersions", "conversion has strategy Webhook, but no webhook")
	default:
		l.push("webhook")
		l.webhook(hook)
		l.pop()
	}
}

func (l *linter) webhook(hook *tree.Node) {
	if len(hook.Get("conversionReviewVersions").List()) == 0 {
		l.report(RuleFieldValue, "conversionReviewVersions", hook.At(), "write conversionReviewVersions: [v1]", "the webhook has no conversionReviewVersions")
	}
	address, service := hook.Get("clientConfig", "url"), hook.Get("clientConfig", "service")
	switch {
	case !hook.Get("clientConfig").IsMap() || missing(address) && !service.IsMap():
		l.report(RuleFieldValue, "clientConfig", hook.At(), "write the url or the service of the webhook", "the webhook has no address")
	case !missing(address) && !isHTTPS(address.Str()):
		l.push("clientConfig")
		l.report(RuleFieldValue, "url", address.At(), "write a URL that begins with https://", "the webhook's url %q is not an https URL", shorten(address.Scalar()))
		l.pop()
	}
}

func isHTTPS(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil && u.Fragment == "" && u.RawQuery == ""
}

// scalePaths are the fields of a scale subresource, with the sections to which they may
// point.
var scalePaths = []struct {
	field    string
	needed   bool
	sections []string
}{
	{"specReplicasPath", true, []string{".spec."}},
	{"statusReplicasPath", true, []string{".status."}},
	{"labelSelectorPath", false, []string{".spec.", ".status."}},
}

// scale checks the subresources of a version.
func (l *linter) scale(v *tree.Node) {
	scale := v.Get("subresources", "scale")
	if !scale.IsMap() {
		return
	}
	l.pushAll("subresources", "scale")
	defer l.popAll(2)
	for _, p := range scalePaths {
		f := scale.Field(p.field)
		switch {
		case f == nil || missing(f.Value):
			if p.needed {
				l.report(RuleFieldValue, p.field, fieldPosOr(f, scale.At()), "write a path under "+strings.Join(p.sections, " or "), "scale has no %s", p.field)
			}
		case !f.Value.IsString():
			l.wrongKind(f, tree.String)
		case !slices.ContainsFunc(p.sections, func(s string) bool { return strings.HasPrefix(f.Value.Text, s) }):
			l.report(RuleFieldValue, p.field, f.Value.At(), "write a path under "+strings.Join(p.sections, " or "), "%s %q is not under %s", p.field, shorten(f.Value.Text), strings.Join(p.sections, " or "))
		}
	}
}
