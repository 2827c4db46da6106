package eta

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// The kinds of differences from upstream, as documented in doc.go.
const (
	noEscaping = "values are not escaped for XML"
	keepBreaks = "a line break after a tag stays, a line of silent tags vanishes"
	isComment  = "<%# %> is a comment"
	noNonsense = "undefined and objects are not written"
	noOptions  = "there are no options"
)

// difference is a case, counted from 1, with a deliberate difference: our
// output, or nothing for an error.
type difference struct {
	reason, out string
}

var differences = map[int]difference{
	3:  {noEscaping, "Hi Ben & <Co>"},
	6:  {noNonsense, ""},
	12: {keepBreaks, "- 0:a\n- 1:b\n- 2:c\nend"},
	13: {keepBreaks, "  x:\n    title: X\n  y:\n    title: Y\n    description: why\n"},
	15: {keepBreaks, "a\n1\nb"},
	16: {keepBreaks, "a\n1\n\nb"},
	17: {keepBreaks, "a  \n  b"},
	18: {keepBreaks, "a\n1\nb"},
	26: {noOptions, "a\nb"},
	27: {noOptions, "a \n b"},
	29: {noOptions, "  a  \n\n  b 1  \n c"},
	30: {isComment, "x"},
	35: {noEscaping, "%>"},
	36: {noEscaping, "%>"},
	37: {noEscaping, "%>"},
	39: {noEscaping, "it's \"q\" `bt` \\ ${x}"},
	44: {noEscaping, `["a","b","c"]`},
	46: {noNonsense, ""},
	54: {noEscaping, "Ben & <Co>"},
	57: {noOptions, ""},
	58: {noOptions, "{{= it.n }}"},
	60: {noOptions, ""},
	63: {noEscaping, "Ap:<B"},
	78: {noEscaping, "Ben & <Co>"},
	86: {noEscaping, `<>&"'`},
}

// silent are the differences with an empty output and no error.
var silent = map[int]bool{60: true}

// TestOracle compares our results with those of the real package.
func TestOracle(t *testing.T) {
	dir := os.Getenv("INGESTOR_ORACLE")
	if dir == "" {
		t.Skip("set INGESTOR_ORACLE to a folder with results of the real package")
	}
	cases := readLines(t, filepath.Join(dir, "eta-cases.ndjson"))
	answers := readLines(t, filepath.Join(dir, "eta-expected.ndjson"))
	if len(cases) != len(answers) || len(cases) == 0 {
		t.Fatalf("%d cases have %d results", len(cases), len(answers))
	}
	for i := range cases {
		t.Run(strconv.Itoa(i+1), func(t *testing.T) { againstOracle(t, i+1, cases[i], answers[i]) })
	}
}

// upstreamPlace matches the position in an error of the real package.
var upstreamPlace = regexp.MustCompile(`at line (\d+) col (\d+)`)

func againstOracle(t *testing.T, number int, line, answer string) {
	var c struct {
		Tpl   string
		Data  map[string]any
		Views map[string]string
	}
	var want struct {
		Out            *string
		Error, Message string
	}
	for text, into := range map[string]any{line: &c, answer: &want} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	files := fstest.MapFS{}
	for name, text := range c.Views {
		files[name+extension] = &fstest.MapFile{Data: []byte(text)}
	}
	out, err := New(files, Limits{}).RenderText(t.Context(), "case.eta", c.Tpl, c.Data)
	same := (err == nil) == (want.Out != nil) && (want.Out == nil || out == *want.Out)
	d, differs := differences[number]
	switch {
	case differs && same:
		t.Errorf("%q: listed as different (%s), but is equal", c.Tpl, d.reason)
	case differs && (out != d.out || (err == nil) != (d.out != "" || silent[number])):
		t.Errorf("%q: got %q, %v; want %q (%s)", c.Tpl, out, err, d.out, d.reason)
	case !differs && !same:
		t.Errorf("%q: got %q, %v; upstream %s", c.Tpl, out, err, answer)
	}
	if err == nil {
		return
	}
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Line == 0 || e.Text == "" {
		t.Fatalf("%q: error has no position: %#v", c.Tpl, err)
	}
	if m := upstreamPlace.FindStringSubmatch(want.Message); m != nil && (strconv.Itoa(e.Line) != m[1] || strconv.Itoa(e.Column) != m[2]) {
		t.Errorf("%q: error is at %d:%d, upstream says %s:%s", c.Tpl, e.Line, e.Column, m[1], m[2])
	}
}

func readLines(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}
