package config

import (
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/secret"
	"example.dev/ingestor/source"
	"example.dev/ingestor/words"
)

// kindNames are the kinds in messages.
var kindNames = [...]string{
	tree.Null: "nothing", tree.Bool: "a boolean", tree.Int: "a number", tree.Float: "a number",
	tree.String: "text", tree.List: "a list", tree.Map: "a map",
}

// found describes the value in v, and shows it unless it may be secret.
func (v value) found() string {
	switch {
	case v.node == nil:
		return kindNames[tree.Null]
	case v.from != "":
		return "the value of the " + v.from
	case v.secret, v.node.Kind == tree.List, v.node.Kind == tree.Map:
		return kindNames[v.node.Kind]
	case v.node.Kind == tree.String:
		return strconv.Quote(shorten(v.node.Text))
	}
	return shorten(v.node.Text)
}

// wrongType reports a value of the wrong type.
func (r *reader) wrongType(v value, want, hint string) {
	r.report(RuleType, v.at, v.path, hint, "%s: want %s, found %s", v.path, want, v.found())
}

// wrong reports a value of the right type that is not allowed.
func (r *reader) wrong(v value, want, hint string) {
	r.report(RuleValue, v.at, v.path, hint, "%s: want %s, found %s", v.path, want, v.found())
}

// flag reads a boolean.
func (o *object) flag(key string, to *bool) {
	if v := o.get(key); v.node != nil {
		o.r.flagOf(v, to)
	}
	o.done(key, "boolean", tree.Boolean(*to))
}

// flagOf reads the boolean in v.
func (r *reader) flagOf(v value, to *bool) {
	switch {
	case v.node.Kind == tree.Bool, v.filled && isBool(v.node.Text):
		*to = v.node.Text == "true"
	case isBool(v.node.Scalar()):
		r.wrongType(v, "true or false", "remove the quotes")
	default:
		r.wrongType(v, "true or false", "")
	}
}

func isBool(s string) bool { return s == "true" || s == "false" }

// str returns the text under a key, and reports a value that is not text or is empty.
// It returns false if there is no valid text.
func (o *object) str(key string) (value, string, bool) {
	v := o.get(key)
	if v.node == nil {
		return v, "", false
	}
	text, ok := o.r.textOf(v)
	return v, text, ok
}

// textOf returns the text in v, and reports a value that is not text or is empty.
func (r *reader) textOf(v value) (string, bool) {
	switch {
	case v.node == nil:
		return "", false
	case v.node.Kind == tree.List, v.node.Kind == tree.Map:
		r.wrongType(v, "text", "")
		return "", false
	case v.node.Kind != tree.String:
		r.wrongType(v, "text", "put it in quotes")
		return "", false
	case strings.TrimSpace(v.node.Text) == "":
		r.report(RuleValue, v.at, v.path, "write a value, or remove it", "%s is empty%s", v.path, v.because())
		return "", false
	}
	return v.node.Text, true
}

// because returns where an empty value came from.
func (v value) because() string {
	if v.from == "" {
		return ""
	}
	return ", because the " + v.from + " is empty"
}

// text reads a non-empty text. check, if not nil, returns what a valid text looks like,
// "" if the text is valid.
func (o *object) text(key string, to *string, check func(string) string) {
	v, text, ok := o.str(key)
	if ok && check != nil {
		if want := check(text); want != "" {
			o.r.wrong(v, want, "")
			ok = false
		}
	}
	if ok {
		*to = text
	}
	o.done(key, "string", tree.OptStr(*to))
}

// secret reads a secret. Findings never show any part of it.
func (o *object) secret(key string, to *source.Secret) {
	v := o.value(key, true)
	if text, ok := o.r.textOf(v); ok && o.r.isSecret(v, text) {
		*to = source.Secret(text)
	}
	o.done(key, "secret", tree.OptStr(to.String()))
}

// makeSecret is the hint for a secret that can be guessed.
const makeSecret = "generate one with: openssl rand -base64 24"

// strong reports a secret that can be guessed. The key must have been read.
func (o *object) strong(key string, s source.Secret) {
	if s == "" {
		return
	}
	if want := secret.Weakness(s.Reveal()); want != "" {
		o.r.report(RuleValue, o.valueAt(key), o.pathTo(key), makeSecret, "%s: want %s, so that it cannot be guessed", o.pathTo(key), want)
	}
}

// isSecret checks a secret, and reports one with characters that cannot be sent.
func (r *reader) isSecret(v value, text string) bool {
	bad := strings.IndexFunc(text, func(c rune) bool { return c <= ' ' || c > '~' })
	if bad < 0 {
		return true
	}
	r.report(RuleValue, v.at, v.path, "remove spaces and line breaks; a file must contain only the secret",
		"%s contains an invalid character at position %d%s", v.path, bad+1, v.holding())
	return false
}

// password reads a secret that people choose, and that may contain spaces.
func (o *object) password(key string, to *source.Secret) {
	v := o.value(key, true)
	if text, ok := o.r.textOf(v); ok {
		if strings.ContainsFunc(text, unicode.IsControl) {
			o.r.report(RuleValue, v.at, v.path, "remove line breaks and other control characters", "%s contains a control character%s", v.path, v.holding())
		} else {
			*to = source.Secret(text)
		}
	}
	o.done(key, "secret", tree.OptStr(to.String()))
}

// holding returns where the value came from.
func (v value) holding() string {
	if v.from == "" {
		return ""
	}
	return " of the " + v.from
}

// secretFile reads a secret from the file that is named under a key.
func (o *object) secretFile(key string, to *source.Secret) {
	v, name, ok := o.str(key)
	o.note(key, "path", nil)
	if !ok {
		return
	}
	from := v.from
	v.node, v.secret = nil, true
	o.r.includeFile(name, from, &v, o.lenient)
	if text, ok := o.r.textOf(v); ok && o.r.isSecret(v, text) {
		*to = source.Secret(text)
		o.out.Set(key, tree.Str(o.r.beside(name, v.at)))
	}
}

// filePath reads the path of a file or folder, relative to the configuration file.
func (o *object) filePath(key string, to *string) {
	if v, text, ok := o.str(key); ok && o.r.isPath(v, text) {
		*to = o.r.beside(text, v.at)
	}
	o.done(key, "path", tree.OptStr(*to))
}

// filePaths reads several paths in one text, separated by the system's list separator.
func (o *object) filePaths(key string, to *string) {
	if v, text, ok := o.str(key); ok {
		var all []string
		parts := slices.DeleteFunc(filepath.SplitList(text), func(p string) bool { return p == "" })
		if len(parts) == 0 {
			o.r.wrong(v, "a path", "")
		}
		for _, p := range parts {
			if o.r.isPath(v, p) {
				all = append(all, o.r.beside(p, v.at))
			}
		}
		*to = strings.Join(all, string(filepath.ListSeparator))
	}
	o.done(key, "path", tree.OptStr(*to))
}

// isPath checks a path, and reports one that only a shell understands.
func (r *reader) isPath(v value, text string) bool {
	if text != "~" && !strings.HasPrefix(text, "~/") {
		return true
	}
	r.wrong(v, "a path", "write ${HOME} instead of ~, which is not expanded")
	return false
}

// choice reads one of several words.
func (o *object) choice(key string, to *string, allowed ...string) {
	v, text, ok := o.str(key)
	if ok && o.r.isOneOf(v, text, allowed) {
		*to = text
	}
	o.done(key, "one of "+strings.Join(allowed, ", "), tree.OptStr(*to))
}

// isOneOf checks that text is one of the allowed words, and reports it otherwise.
func (r *reader) isOneOf(v value, text string, allowed []string) bool {
	for _, a := range allowed {
		if text == a {
			return true
		}
	}
	hint := ""
	if near := nearest(text, allowed); near != "" && v.from == "" {
		hint = "did you mean " + near + "?"
	}
	r.wrong(v, enumerate(allowed, "or"), hint)
	return false
}

// words reads the choice of a vocabulary.
func (o *object) words(key string, to *words.Choice) {
	name := "auto"
	o.choice(key, &name, "auto", words.Portal.String(), words.Upstream.String())
	// ParseChoice accepts all of these words.
	*to, _ = words.ParseChoice(name)
}

// level reads the log level.
func (o *object) level(key string, to *slog.Level) {
	name := strings.ToLower(to.String())
	o.choice(key, &name, "debug", "info", "warn", "error")
	// slog accepts all of these words.
	_ = to.UnmarshalText([]byte(name))
}

// reference reads the reference of an entity, with a default kind.
func (o *object) reference(key string, to *string, kind string) {
	o.text(key, to, func(s string) string {
		if _, err := entity.ParseExisting(s, kind, entity.DefaultNamespace); err != nil {
			return "name, namespace/name or kind:namespace/name"
		}
		return ""
	})
}

// number reads a whole number within bounds.
func (o *object) number(key string, to *int, least, most int) {
	n := int64(*to)
	o.whole(key, &n, "", int64(least), int64(most))
	*to = int(n)
	o.done(key, "integer", tree.Number(n))
	o.bounds(int64(least), int64(most))
}

// units reads a whole number of a unit, within bounds.
func (o *object) units(key string, to *time.Duration, unit time.Duration, least, most int64) {
	name := map[time.Duration]string{time.Second: "seconds", time.Millisecond: "milliseconds"}[unit]
	n := int64(*to / unit)
	o.whole(key, &n, " of "+name, least, most)
	*to = time.Duration(n) * unit
	o.done(key, name, tree.Number(n))
	o.bounds(least, most)
}

// whole reads a whole number of something.
func (o *object) whole(key string, to *int64, of string, least, most int64) {
	v := o.get(key)
	if v.node == nil {
		return
	}
	want := fmt.Sprintf("a number%s from %d to %d", of, least, most)
	n, ok := v.number()
	switch {
	case !ok && v.node.Kind == tree.String && v.from == "" && isNumber(v.node.Text):
		o.r.wrongType(v, want, "remove the quotes")
	case !ok && v.node.Kind == tree.String && v.from == "":
		o.r.wrongType(v, want, "write the number alone")
	case !ok:
		o.r.wrongType(v, want, "")
	case n != math.Trunc(n):
		o.r.wrongType(v, "a whole number"+of, "")
	case n < float64(least) || n > float64(most):
		o.r.wrong(v, want, "")
	default:
		*to = int64(n)
	}
}

// number returns the number in v. All allowed numbers are small enough to be exact.
func (v value) number() (float64, bool) {
	if v.node.Kind != tree.Int && v.node.Kind != tree.Float && !(v.filled && isNumber(v.node.Text)) {
		return 0, false
	}
	// A number that is too large becomes infinite, and exceeds all bounds.
	n, _ := strconv.ParseFloat(strings.TrimSpace(v.node.Text), 64)
	return n, true
}

// isNumber reports whether text is a number as in JSON, or one that is too large.
func isNumber(s string) bool {
	s = strings.TrimSpace(s)
	if strings.Trim(s, "+-.0123456789eE") != "" {
		return false
	}
	n, err := strconv.ParseFloat(s, 64)
	return err == nil || math.IsInf(n, 0)
}
