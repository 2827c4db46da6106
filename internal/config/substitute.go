package config

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"example.dev/ingestor/document/tree"
)

// value is the value of a key after variables and files are substituted.
type value struct {
	// node is nil if there is no value, or if it could not be substituted.
	node *tree.Node
	at   place
	path string
	// filled reports that the value is text because it was substituted, and may be meant
	// as a number or a boolean.
	filled bool
	// from is where text came from that is not in the file. Such text is never shown.
	from string
	// secret reports that no part of the value is ever shown.
	secret bool
}

var (
	// variable matches ${NAME} and ${NAME:-default}, or either after a dollar sign, which
	// escapes it.
	variable = regexp.MustCompile(`\$?\$\{[^{}]*\}`)
	// variableName matches the name of an environment variable.
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// resolve returns the value of n. If lenient is set, a value that cannot be substituted
// is absent without a finding.
func (r *reader) resolve(n *tree.Node, path string, secret, lenient bool) value {
	v := value{at: r.placeOf(n), path: path, secret: secret}
	switch {
	case n.IsNull():
		return v
	case isInclude(n):
		return r.include(n, v, lenient)
	case n.Kind == tree.String && strings.Contains(n.Text, "${"):
		text, from, ok := r.substitute(n.Text, v, lenient)
		if ok {
			v.fill(text, from)
		}
		return v
	}
	v.node = n
	return v
}

// fill sets v to text that came from elsewhere.
func (v *value) fill(text, from string) {
	v.node = &tree.Node{Kind: tree.String, Text: text, Pos: v.at.pos}
	v.filled, v.from = true, from
}

// substitute substitutes the variables in text. from names one of them.
func (r *reader) substitute(text string, v value, lenient bool) (out, from string, ok bool) {
	ok = true
	complain := func(hint, format string, args ...any) {
		ok = false
		if !lenient {
			r.report(RuleVariable, v.at, v.path, hint, format, args...)
		}
	}
	out = variable.ReplaceAllStringFunc(text, func(match string) string {
		if strings.HasPrefix(match, "$$") {
			return match[1:]
		}
		name, fallback, hasFallback := strings.Cut(match[2:len(match)-1], ":-")
		name = strings.TrimSpace(name)
		if !variableName.MatchString(name) {
			complain("write ${NAME}, ${NAME:-default}, or $${…} for literal text",
				"%s: %q is not the name of an environment variable", v.path, shorten(name))
			return ""
		}
		got, set := r.opts.Lookup(name)
		switch {
		case set && (got != "" || !hasFallback):
			from = cmp.Or(from, "environment variable "+name)
			return got
		case hasFallback:
			return fallback
		}
		complain(v.wayOut(name), "%s needs the environment variable %s, which is not set", v.path, name)
		return ""
	})
	if ok && unclosed(text) {
		complain("close it with }", "%s has a ${ that is not closed", v.path)
	}
	return out, from, ok
}

// wayOut returns a hint for a variable that is not set. It suggests no default for a
// secret, which would be visible in the file.
func (v value) wayOut(name string) string {
	if v.secret {
		return "set it"
	}
	return "set it, or write ${" + shorten(name) + ":-default}"
}

// unclosed reports whether text has a ${ without a closing brace. Double braces belong
// to another language, and a double dollar sign is an escape.
func unclosed(text string) bool {
	rest := variable.ReplaceAllString(text, "")
	i := strings.LastIndex(rest, "${")
	return i >= 0 && !strings.HasPrefix(rest[i:], "${{") && !strings.HasSuffix(rest[:i], "$") && !strings.Contains(rest[i:], "}")
}

// include reads { $env: NAME } and { $file: path }.
func (r *reader) include(n *tree.Node, v value, lenient bool) value {
	f := &n.Fields[0]
	if len(n.Fields) > 1 {
		r.report(RuleType, v.at, v.path, "write $env or $file alone", "%s has other keys next to a $ key", v.path)
		return v
	}
	if f.Key != "$env" && f.Key != "$file" {
		r.report(RuleUnsupported, r.keyPlace(f), v.path, "use $env or $file, or pass another configuration file",
			"%s uses %s, which is not supported", v.path, shorten(f.Key))
		return v
	}
	if !f.Value.IsString() || f.Value.Text == "" {
		r.report(RuleType, r.placeOf(f.Value), v.path, "", "%s: want text after %s, found %s", v.path, f.Key, kindNames[f.Value.Kind])
		return v
	}
	if f.Key == "$file" {
		name, from, ok := r.substitute(f.Value.Text, v, lenient)
		if ok {
			r.includeFile(name, from, &v, lenient)
		}
		return v
	}
	name := f.Value.Text
	switch text, set := r.opts.Lookup(name); {
	case set:
		v.fill(text, "environment variable "+name)
	case !lenient:
		r.report(RuleVariable, v.at, v.path, v.wayOut(name),
			"%s needs the environment variable %s, which is not set", v.path, shorten(name))
	}
	return v
}

// includeFile sets v to the text of a file, whose name is relative to the file of v,
// without trailing line breaks. A name that came from elsewhere is not shown: it may be
// the secret itself.
func (r *reader) includeFile(name, from string, v *value, lenient bool) {
	file := fmt.Sprintf("file %q", name)
	if from != "" {
		file = "file named by the " + from
	}
	data, err := r.opts.ReadFile(r.beside(name, v.at))
	if err == nil && len(data) > maxInclude {
		err = fmt.Errorf("file is larger than %d MiB", maxInclude>>20)
	}
	switch {
	case err == nil:
		v.fill(strings.TrimRight(string(data), "\r\n"), file)
	case !lenient:
		why, hint := cause(err)
		r.report(RuleInclude, v.at, v.path, cmp.Or(hint, "specify a file that contains only the value"), "%s: cannot read the %s: %s", v.path, file, why)
	}
}

// beside returns a path relative to the file of at.
func (r *reader) beside(name string, at place) string {
	if filepath.IsAbs(name) || at.file == "" {
		return name
	}
	return filepath.Join(filepath.Dir(at.file), name)
}

// besideFirst returns a path relative to the first file, or to the working directory if
// there is no file.
func (r *reader) besideFirst(name string) string { return r.beside(name, place{file: r.first}) }
