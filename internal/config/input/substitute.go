package input

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/rule"
)

var (
	// variable matches ${NAME} and ${NAME:-default}, or either after a dollar sign, which
	// escapes it.
	variable = regexp.MustCompile(`\$?\$\{[^{}]*\}`)
	// variableName matches the name of an environment variable.
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// Resolve returns the value of n. If lenient is set, a value that cannot be substituted
// is absent without a finding.
func (r *Reader) Resolve(n *tree.Node, path string, secret, lenient bool) Value {
	v := Value{r: r, At: r.PlaceOf(n), Path: path, Secret: secret}
	switch {
	case n.IsNull():
		return v
	case IsInclude(n):
		return r.include(n, v, lenient)
	case n.Kind == tree.String && strings.Contains(n.Text, "${"):
		text, from, ok := r.substitute(n.Text, v, lenient)
		if ok {
			v.fill(text, from)
		}
		return v
	}
	v.Node = n
	return v
}

// substitute substitutes the variables in text. from names one of them.
func (r *Reader) substitute(text string, v Value, lenient bool) (out, from string, ok bool) {
	ok = true
	complain := func(hint, format string, args ...any) {
		ok = false
		if !lenient {
			v.Report(rule.Variable, hint, format, args...)
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
				"%s: %q is not the name of an environment variable", v.Path, Shorten(name))
			return ""
		}
		got, set := r.lookup(name)
		switch {
		case set && (got != "" || !hasFallback):
			from = cmp.Or(from, "environment variable "+name)
			return got
		case hasFallback:
			return fallback
		}
		complain(v.wayOut(name), "%s needs the environment variable %s, which is not set", v.Path, name)
		return ""
	})
	if ok && unclosed(text) {
		complain("close it with }", "%s has a ${ that is not closed", v.Path)
	}
	return out, from, ok
}

// wayOut returns a hint for a variable that is not set. It suggests no default for a
// secret, which would be visible in the file.
func (v Value) wayOut(name string) string {
	if v.Secret {
		return "set it"
	}
	return "set it, or write ${" + Shorten(name) + ":-default}"
}

// unclosed reports whether text has a ${ without a closing brace. Double braces belong
// to another language, and a double dollar sign is an escape.
func unclosed(text string) bool {
	rest := variable.ReplaceAllString(text, "")
	i := strings.LastIndex(rest, "${")
	return i >= 0 && !strings.HasPrefix(rest[i:], "${{") && !strings.HasSuffix(rest[:i], "$") && !strings.Contains(rest[i:], "}")
}

// include reads { $env: NAME } and { $file: path }.
func (r *Reader) include(n *tree.Node, v Value, lenient bool) Value {
	f := &n.Fields[0]
	if len(n.Fields) > 1 {
		v.Report(rule.Type, "write $env or $file alone", "%s has other keys next to a $ key", v.Path)
		return v
	}
	if f.Key != "$env" && f.Key != "$file" {
		r.Report(rule.Unsupported, r.KeyPlace(f), v.Path, "use $env or $file, or pass another configuration file",
			"%s uses %s, which is not supported", v.Path, Shorten(f.Key))
		return v
	}
	if !f.Value.IsString() || f.Value.Text == "" {
		r.Report(rule.Type, r.PlaceOf(f.Value), v.Path, "", "%s: want text after %s, found %s", v.Path, f.Key, kindNames[f.Value.Kind])
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
	switch text, set := r.lookup(name); {
	case set:
		v.fill(text, "environment variable "+name)
	case !lenient:
		v.Report(rule.Variable, v.wayOut(name),
			"%s needs the environment variable %s, which is not set", v.Path, Shorten(name))
	}
	return v
}

// includeFile sets v to the text of a file, whose name is relative to the file of v,
// without trailing line breaks. A name that came from elsewhere is not shown: it may be
// the secret itself.
func (r *Reader) includeFile(name, from string, v *Value, lenient bool) {
	file := fmt.Sprintf("file %q", name)
	if from != "" {
		file = "file named by the " + from
	}
	data, err := r.readFile(v.At.Beside(name))
	if err == nil && len(data) > maxInclude {
		err = fmt.Errorf("file is larger than %d MiB", maxInclude>>20)
	}
	switch {
	case err == nil:
		v.fill(strings.TrimRight(string(data), "\r\n"), file)
	case !lenient:
		why, hint := cause(err)
		v.Report(rule.Include, cmp.Or(hint, "specify a file that contains only the value"), "%s: cannot read the %s: %s", v.Path, file, why)
	}
}

// Content returns the text of the file that v names, as a secret.
func (v Value) Content(name string, lenient bool) Value {
	from := v.from
	v.Node, v.Secret = nil, true
	v.r.includeFile(name, from, &v, lenient)
	return v
}

// Bytes returns the content of the file that v names, which may have at most so many bytes, and
// reports a file that cannot be read or is larger, or of which check returns what it wants
// instead. The hint says what to write.
func (v Value) Bytes(name string, most int, hint string, check func([]byte) string) []byte {
	path := v.At.Beside(name)
	// As in includeFile, a name that came from elsewhere is not shown.
	file := fmt.Sprintf("file %q", path)
	if v.from != "" {
		file = "file named by the " + v.from
	}
	data, err := v.r.readFile(path)
	if err != nil {
		why, better := cause(err)
		v.Report(rule.Include, cmp.Or(better, hint), "%s: cannot read the %s: %s", v.Path, file, why)
		return nil
	}
	if len(data) > most {
		v.Report(rule.Value, hint, "%s: the %s has more than %d KiB", v.Path, file, most>>10)
		return nil
	}
	if want := check(data); want != "" {
		v.Report(rule.Value, hint, "%s: the %s is not %s", v.Path, file, want)
		return nil
	}
	return data
}

// FileName returns the name in { $file: name }, instead of the content of the file. It
// returns false for anything else.
func (r *Reader) FileName(f *tree.Field, path string, lenient bool) (Value, bool) {
	if f == nil || f.Value.Len() != 1 || !f.Value.IsMap() {
		return Value{}, false
	}
	in := f.Value.Fields[0]
	if in.Key != "$file" || !in.Value.IsString() || in.Value.Text == "" {
		return Value{}, false
	}
	v := Value{r: r, At: r.PlaceOf(in.Value), Path: path, Secret: true}
	if text, from, ok := r.substitute(in.Value.Text, v, lenient); ok {
		v.fill(text, from)
	}
	return v, true
}

// Absent returns the value of a key that is not given.
func (r *Reader) Absent(at Place, path string, secret bool) Value {
	return Value{r: r, At: at, Path: path, Secret: secret}
}
