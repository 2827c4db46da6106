package term

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

func TestStyle(t *testing.T) {
	on, off := Style{Color: true}, Style{}
	cases := map[string]struct {
		reason    string
		got, want string
	}{
		"Bold":   {"bold ends with what undoes it", on.Bold("x"), "\x1b[1mx\x1b[22m"},
		"Dim":    {"dim ends with what undoes it", on.Dim("x"), "\x1b[2mx\x1b[22m"},
		"Red":    {"red is red", on.Red("x"), "\x1b[31mx\x1b[39m"},
		"Green":  {"green is green", on.Green("x"), "\x1b[32mx\x1b[39m"},
		"Yellow": {"yellow is yellow", on.Yellow("x"), "\x1b[33mx\x1b[39m"},
		"Cyan":   {"cyan is cyan", on.Cyan("x"), "\x1b[36mx\x1b[39m"},
		"Nested": {"a colour inside does not end what is around it", on.Bold("a" + on.Red("b") + "c"), "\x1b[1ma\x1b[31mb\x1b[39mc\x1b[22m"},
		"Empty":  {"nothing is not coloured", on.Red(""), ""},
		"Off":    {"without colour text is unchanged", off.Bold(off.Dim(off.Red(off.Green(off.Yellow(off.Cyan("x")))))), "x"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("%s\ngot %q, want %q", tc.reason, tc.got, tc.want)
			}
		})
	}
}

func TestSafe(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		line   string
		lines  string
	}{
		"Plain":     {"plain text stays", "a b~", "a b~", "a b~"},
		"Unicode":   {"all that can be read stays", "café 日本 👩\u200d💻 \u00a0", "café 日本 👩\u200d💻 \u00a0", "café 日本 👩\u200d💻 \u00a0"},
		"Escape":    {"no orders to the terminal", "\x1b]0;x\a\x1b[2J", `\x1b]0;x\a\x1b[2J`, `\x1b]0;x\a\x1b[2J`},
		"C1":        {"not in eight bits either", "\u009b2J", `\u009b2J`, `\u009b2J`},
		"Raw":       {"nor as a byte that is no text", "\x9b2J", `\x9b2J`, `\x9b2J`},
		"Lines":     {"only text of several lines has several lines", "a\nb\tc\r", `a\nb\tc\r`, "a\nb\tc" + `\r`},
		"Direction": {"nothing turns the direction of writing", "a\u202eb\u2066", `a\u202eb\u2066`, `a\u202eb\u2066`},
		"Zero":      {"no zero byte, no delete", "\x00\x7f", `\x00\x7f`, `\x00\x7f`},
		"Separator": {"a line separator is a line's end too", "a\u2028b", `a\u2028b`, `a\u2028b`},
		"Replaced":  {"the replacement character is a character", "\ufffd", "\ufffd", "\ufffd"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Safe(tc.in); got != tc.line {
				t.Errorf("%s\nSafe(%q) = %q, want %q", tc.reason, tc.in, got, tc.line)
			}
			if got := SafeLines(tc.in); got != tc.lines {
				t.Errorf("%s\nSafeLines(%q) = %q, want %q", tc.reason, tc.in, got, tc.lines)
			}
		})
	}
}

func FuzzSafe(f *testing.F) {
	f.Add("a\x1b[31m\u202e\xff")
	f.Fuzz(func(t *testing.T, in string) {
		got := Safe(in)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) {
			t.Errorf("Safe(%q) = %q", in, got)
		}
		if Safe(got) != got {
			t.Errorf("Safe(%q) changes when made safe again", got)
		}
		row := Table([][]string{{in, in}, {"x"}}, nil, Style{Color: true})
		if strings.Count(row, "\n") != 2 {
			t.Errorf("Table with %q has other than two lines: %q", in, row)
		}
	})
}

func TestTable(t *testing.T) {
	on := Style{Color: true}
	cases := map[string]struct {
		reason string
		rows   [][]string
		header []string
		style  Style
		want   string
	}{
		"Plain": {
			reason: "columns are as wide as the widest cell, and no line ends in spaces",
			rows:   [][]string{{"a", "long cell", "1"}, {"long name", "b", ""}}, header: []string{"NAME", "WHAT", "N"},
			want: "NAME       WHAT       N\n" +
				"a          long cell  1\n" +
				"long name  b\n",
		},
		"Wide": {
			reason: "what counts is how wide a character is shown",
			rows:   [][]string{{"日本", "x"}, {"abcd", "y"}, {"e\u0301", "z"}},
			want:   "日本  x\nabcd  y\ne\u0301     z\n",
		},
		"Ragged": {
			reason: "rows may be of different lengths, and empty",
			rows:   [][]string{{"a"}, {}, {"b", "", "c"}},
			want:   "a\n\nb    c\n",
		},
		"Styled": {
			reason: "colour has no width",
			rows:   [][]string{{on.Red("ab"), "x"}, {"abc", "y"}}, header: []string{"H"}, style: on,
			want: "\x1b[1mH\x1b[22m\n\x1b[31mab\x1b[39m   x\nabc  y\n",
		},
		"NotStyled": {
			reason: "without colour there is none, wherever it comes from",
			rows:   [][]string{{"\x1b[31mab", "x"}},
			want:   `\x1b[31mab` + "  x\n",
		},
		"Hostile": {
			reason: "a cell stays in its cell", style: on,
			rows: [][]string{{"a\nb", "\x1b[2J"}},
			want: `a\nb  \x1b[2J` + "\n",
		},
		"Nothing": {reason: "no rows, no lines"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Table(tc.rows, tc.header, tc.style)); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTableNotCut gives a table more than any terminal is wide.
func TestTableNotCut(t *testing.T) {
	long := strings.Repeat("x", 5000)
	if got := Table([][]string{{long, "y"}}, nil, Style{}); ansi.StringWidth(strings.TrimSuffix(got, "\n")) != 5003 {
		t.Errorf("the table is %d wide", len(got))
	}
}

func TestProgress(t *testing.T) {
	var out bytes.Buffer
	at := time.Unix(0, 0)
	p := NewProgress(&out, true, func() time.Time { return at }, "reading", "files")
	for i := range 10 {
		p.Update(i, 10)
		at = at.Add(40 * time.Millisecond)
	}
	p.Done()
	p.Done()
	p.Update(10, 10)
	want := "\r\x1b[Kreading 3/10 files\r\x1b[Kreading 6/10 files\r\x1b[Kreading 9/10 files\r\x1b[K"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("every 100 ms and then gone (-want +got):\n%s", diff)
	}
}

// TestProgressOpen wants a stream, of which nobody knows the end, to show how
// much of it was seen.
func TestProgressOpen(t *testing.T) {
	var out bytes.Buffer
	at := time.Unix(0, 0)
	p := NewProgress(&out, true, func() time.Time { return at }, "reading", "records")
	at = at.Add(time.Second)
	p.Update(7, 0)
	if got, want := out.String(), "\r\x1b[Kreading 7 records"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProgressQuick(t *testing.T) {
	var out bytes.Buffer
	at := time.Unix(0, 0)
	p := NewProgress(&out, true, func() time.Time { return at }, "reading", "files")
	p.Update(1, 1)
	p.Done()
	off := NewProgress(&out, false, nil, "reading", "files")
	off.Update(1, 1)
	off.Done()
	if out.Len() > 0 {
		t.Errorf("quick work, and work nobody looks at, show nothing: %q", out.String())
	}
}

func ExampleTable() {
	fmt.Print(Table([][]string{{"databases", "Template"}, {"databases-api", "API"}}, []string{"NAME", "KIND"}, Style{}))
	// Output:
	// NAME           KIND
	// databases      Template
	// databases-api  API
}
