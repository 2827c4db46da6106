package syntax_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// writer writes random YAML as people and programs format it.
type writer struct {
	strings.Builder
	random *rand.Rand
	// left is how many values may still be written.
	left int
}

func (w *writer) one(of ...string) string { return of[w.random.IntN(len(of))] }

func (w *writer) chance(percent int) bool { return w.random.IntN(100) < percent }

// words appear as keys and in texts.
var words = []string{
	"type", "properties", "description", "spec", "name", "x-kubernetes-validations", "enum", "default", "minimum", "metadata.name", "a", "é", "apps/v1",
	"the", "size", "of", "a.b", "it's", "Größe", "http://x.y/z?q=1", "$ref", "#/x", "10Gi", "-x", "no", "1", "—",
}

// line returns the text of a line that is safe without quotes in block style.
func (w *writer) line() string {
	parts := make([]string, 1+w.random.IntN(6))
	for i := range parts {
		parts[i] = w.one(words...)
		if i > 0 && strings.HasPrefix(parts[i], "#") {
			parts[i] = "x" + parts[i]
		}
	}
	s := strings.Join(parts, w.one(" ", " ", "  "))
	if strings.ContainsAny(s[:1], "#$-") {
		s = "t" + s
	}
	return s
}

// scalar returns a scalar on one line.
func (w *writer) scalar() string {
	switch w.random.IntN(10) {
	case 0, 1, 2:
		return w.one("true", "false", "1", "0", "12", "-3", "0.5", "object", "string", "integer", "10Gi", "v1", "1.2.3", "10.0.0.0/8", "example.org/x")
	case 3:
		return w.one("null", "~", "yes", "True", "NULL", "1e3", "0755", "0x1F", "1_000", "2001-12-14", "12:30", "+5", "-0", "0o7", ".5", "1.", "n", "off")
	case 4:
		return "'" + strings.ReplaceAll(w.line(), "'", "''") + w.one("", " ", ": ", " # x") + "'"
	case 5:
		return `"` + w.line() + w.one("", " ", `\n`, `\"`, `\\`, `\té`, `\u00e9`, ": x", " # x") + `"`
	}
	return w.line()
}

// key returns a key that differs from others in its map by its number.
func (w *writer) key(number int) string {
	k := w.one("a", "name", "type", "x-y", "a b", "é", "k8s.io/x", "_") + fmt.Sprint(number)
	switch w.random.IntN(12) {
	case 0:
		return `"` + k + `"`
	case 1:
		return "'" + k + "'"
	}
	return k
}

// end ends a line, sometimes with a comment, empty lines and comment lines.
func (w *writer) end(indent int) {
	if w.chance(6) {
		w.WriteString(w.one(" # c", "  # c: d", " #", "  ", " "))
	}
	w.WriteByte('\n')
	for w.chance(6) {
		w.WriteString(w.one("\n", "  \n", "# c\n", strings.Repeat(" ", indent)+"# c\n", strings.Repeat(" ", indent+2)+"# - a: b\n"))
	}
}

// flow returns a collection in flow style.
func (w *writer) flow(depth int) string {
	sep, open := w.one(", ", ", ", ",", " , ", ",\n        "), w.one("", "", " ", "\n     ")
	var parts []string
	isMap := w.chance(40)
	for i := range w.random.IntN(4) {
		s := w.one("a", "1", "true", "a b", "x:y", "0.5", "'a, b'", `"[a]"`, "é", "~", "10Gi", "a/b.c")
		if depth < 3 && w.chance(20) {
			s = w.flow(depth + 1)
		}
		if isMap {
			s = strings.Replace(w.one("a", `"a"`, "'a'", "éa"), "a", "a"+fmt.Sprint(i), 1) + ": " + s
		}
		parts = append(parts, s)
	}
	s := open + strings.Join(parts, sep) + open
	if isMap {
		return "{" + s + "}"
	}
	return "[" + s + "]"
}

// text writes a block scalar or a scalar over several lines.
func (w *writer) text(indent int) {
	in := strings.Repeat(" ", indent+1+w.random.IntN(3))
	lines := 1 + w.random.IntN(4)
	switch w.random.IntN(4) {
	case 0, 1:
		w.WriteString(w.one("|", ">", "|-", ">-", "|+", ">+") + w.one("", "", " ") + "\n" + w.one("", "", "\n"))
		for i := range lines {
			if i > 0 {
				w.WriteString(w.one("", "", "  "))
			}
			w.WriteString(in + w.one("", "", "- ", "# ", "a: ") + w.line() + "\n" + w.one("", "", "\n", "  \n", in+"\n", in+"  \n"))
		}
	case 2:
		w.WriteString(w.line())
		for range lines {
			w.WriteString("\n" + w.one("", "", "\n") + in + w.line())
		}
		w.end(indent)
	case 3:
		q := w.one(`"`, "'")
		w.WriteString(q + "a")
		for range lines {
			w.WriteString(w.one("", " ") + "\n" + w.one("", "", "\n") + in + w.one("b", "c d", "# e", "f: g", "- h"))
		}
		w.WriteString(q)
		w.end(indent)
	}
}

// value writes what follows a colon or a dash; compact is true after a dash.
func (w *writer) value(indent int, compact bool) {
	w.left--
	switch n := w.random.IntN(20); {
	case w.left > 0 && n < 9 && indent < 40:
		w.nested(indent, compact)
	case n < 11:
		w.WriteString(" " + w.flow(0))
		w.end(indent)
	case n < 13:
		w.WriteByte(' ')
		w.text(indent)
	case n < 14:
		w.end(indent)
	default:
		w.WriteString(w.one(" ", " ", " ", "  ") + w.scalar())
		w.end(indent)
	}
}

// nested writes a map or list below a key or beside a dash.
func (w *writer) nested(indent int, compact bool) {
	in := indent + 1 + w.random.IntN(4)
	isList := w.chance(35)
	switch {
	case compact && w.chance(85):
		in = max(in, indent+2)
		w.WriteString(strings.Repeat(" ", in-indent-1))
	default:
		w.end(indent)
		if isList && !compact && w.chance(50) {
			in = indent
		}
		w.WriteString(strings.Repeat(" ", in))
	}
	w.entries(in, isList)
}

// entries writes the entries of a map or list. The indent of the first one is there
// already.
func (w *writer) entries(indent int, isList bool) {
	for i := range 1 + w.random.IntN(5) {
		if i > 0 {
			w.WriteString(strings.Repeat(" ", indent))
		}
		if isList {
			w.WriteByte('-')
		} else {
			w.WriteString(w.key(i) + ":")
		}
		w.value(indent, isList)
	}
}

// document returns a random document.
func document(random *rand.Rand) string {
	w := &writer{random: random, left: 5 + random.IntN(60)}
	w.WriteString(w.one("", "", "", "---\n", "# c\n", "# c\n---\n# d\n", "--- # c\n\n"))
	w.entries(0, w.chance(20))
	s := w.String()
	if w.chance(10) {
		s = strings.TrimRight(s, "\n")
	}
	return s
}

// mutated returns a document with a few changes.
func mutated(s string, random *rand.Rand) string {
	for range 1 + random.IntN(3) {
		at := random.IntN(len(s) + 1)
		to := min(len(s), at+random.IntN(4))
		pieces := []string{
			"", "", " ", "  ", "\n", ":", ": ", "-", "- ", "#", " #", "'", `"`, "[", "]", "{", "}", ",", "\t", "\\", "|", ">", "&a", "*a", "!", "?", "? ", "%", "@", "~", "\r\n", "\r", "\u00a0", "\u2028", "\ufeff",
			"---\n", "\n---\n", "\n...\n", "<<: ", "é", "0", ".", "\x00", "\xff", "\n\n", "\n ", "a: b\n", "\n- ", " # c\n", "|-\n", "''", "{}", "[]",
		}
		switch random.IntN(4) {
		case 0:
			s = s[:at] + s[to:]
		case 1:
			// Repeat some text elsewhere.
			from := random.IntN(len(s) + 1)
			s = s[:at] + s[from:min(len(s), from+random.IntN(20))] + s[at:]
		default:
			s = s[:at] + pieces[random.IntN(len(pieces))] + s[to:]
		}
	}
	return s
}

func TestPlainRandom(t *testing.T) {
	documents := 1500
	if os.Getenv("INGESTOR_LONG") != "" {
		documents = 100_000
	}
	taken, takenMutated := 0, 0
	const mutations = 4
	for i := range documents {
		random := rand.New(rand.NewPCG(7, uint64(i)))
		doc := document(random)
		took, difference := differs([]byte(doc), 1+i, defaults)
		if took {
			taken++
		}
		if difference != "" {
			t.Fatalf("document %d: %s\n%s", i, difference, doc)
		}
		for range mutations {
			changed := mutated(doc, random)
			took, difference := differs([]byte(changed), 1, defaults)
			if took {
				takenMutated++
			}
			if difference != "" {
				t.Fatalf("mutation of document %d: %s\n%q\n%s", i, difference, changed, changed)
			}
		}
	}
	t.Logf("the fast reader took %d of %d documents, and %d of %d mutations", taken, documents, takenMutated, mutations*documents)
	if taken*10 < documents*9 {
		t.Errorf("the fast reader took only %d of %d documents", taken, documents)
	}
}
