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
		"Bold":   {"Bold ends with its reset.", on.Bold("x"), "\x1b[1mx\x1b[22m"},
		"Dim":    {"Dim ends with its reset.", on.Dim("x"), "\x1b[2mx\x1b[22m"},
		"Red":    {"Red has the code of red.", on.Red("x"), "\x1b[31mx\x1b[39m"},
		"Green":  {"Green has the code of green.", on.Green("x"), "\x1b[32mx\x1b[39m"},
		"Yellow": {"Yellow has the code of yellow.", on.Yellow("x"), "\x1b[33mx\x1b[39m"},
		"Cyan":   {"Cyan has the code of cyan.", on.Cyan("x"), "\x1b[36mx\x1b[39m"},
		"Nested": {"A nested colour does not end the outer style.", on.Bold("a" + on.Red("b") + "c"), "\x1b[1ma\x1b[31mb\x1b[39mc\x1b[22m"},
		"Empty":  {"An empty text has no colour.", on.Red(""), ""},
		"Off":    {"Without colour the text is unchanged.", off.Bold(off.Dim(off.Red(off.Green(off.Yellow(off.Cyan("x")))))), "x"},
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
		"Plain":     {"Plain text is unchanged.", "a b~", "a b~", "a b~"},
		"Unicode":   {"Readable characters are unchanged.", "café 日本 👩\u200d💻 \u00a0", "café 日本 👩\u200d💻 \u00a0", "café 日本 👩\u200d💻 \u00a0"},
		"Escape":    {"Escape sequences are escaped.", "\x1b]0;x\a\x1b[2J", `\x1b]0;x\a\x1b[2J`, `\x1b]0;x\a\x1b[2J`},
		"C1":        {"Eight-bit control characters are escaped.", "\u009b2J", `\u009b2J`, `\u009b2J`},
		"Raw":       {"Invalid bytes are escaped.", "\x9b2J", `\x9b2J`, `\x9b2J`},
		"Lines":     {"Line breaks and tabs are kept only in text of several lines.", "a\nb\tc\r", `a\nb\tc\r`, "a\nb\tc" + `\r`},
		"Direction": {"Characters that change the text direction are escaped.", "a\u202eb\u2066", `a\u202eb\u2066`, `a\u202eb\u2066`},
		"Zero":      {"NUL and delete are escaped.", "\x00\x7f", `\x00\x7f`, `\x00\x7f`},
		"Separator": {"A line separator is escaped.", "a\u2028b", `a\u2028b`, `a\u2028b`},
		"Replaced":  {"The replacement character is unchanged.", "\ufffd", "\ufffd", "\ufffd"},
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
			reason: "A column is as wide as its widest cell, and no line ends in spaces.",
			rows:   [][]string{{"a", "long cell", "1"}, {"long name", "b", ""}}, header: []string{"NAME", "WHAT", "N"},
			want: "NAME       WHAT       N\n" +
				"a          long cell  1\n" +
				"long name  b\n",
		},
		"Wide": {
			reason: "The width of a cell is that of its display.",
			rows:   [][]string{{"日本", "x"}, {"abcd", "y"}, {"e\u0301", "z"}},
			want:   "日本  x\nabcd  y\ne\u0301     z\n",
		},
		"Ragged": {
			reason: "Rows may have different lengths, and be empty.",
			rows:   [][]string{{"a"}, {}, {"b", "", "c"}},
			want:   "a\n\nb    c\n",
		},
		"Styled": {
			reason: "Colour has no width.",
			rows:   [][]string{{on.Red("ab"), "x"}, {"abc", "y"}}, header: []string{"H"}, style: on,
			want: "\x1b[1mH\x1b[22m\n\x1b[31mab\x1b[39m   x\nabc  y\n",
		},
		"NotStyled": {
			reason: "Without colour, escape sequences of cells are escaped.",
			rows:   [][]string{{"\x1b[31mab", "x"}},
			want:   `\x1b[31mab` + "  x\n",
		},
		"Hostile": {
			reason: "Control characters of a cell are escaped.", style: on,
			rows: [][]string{{"a\nb", "\x1b[2J"}},
			want: `a\nb  \x1b[2J` + "\n",
		},
		"Nothing": {reason: "Without rows there are no lines."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Table(tc.rows, tc.header, tc.style)); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTableNotCut checks that a table may be wider than any terminal.
func TestTableNotCut(t *testing.T) {
	long := strings.Repeat("x", 5000)
	if got := Table([][]string{{long, "y"}}, nil, Style{}); ansi.StringWidth(strings.TrimSuffix(got, "\n")) != 5003 {
		t.Errorf("table has a width of %d", len(got))
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
		t.Errorf("progress every 100 ms (-want +got):\n%s", diff)
	}
}

// TestProgressOpen checks that progress without a known total shows the count.
func TestProgressOpen(t *testing.T) {
	var out bytes.Buffer
	at := time.Unix(0, 0)
	p := NewProgress(&out, true, func() time.Time { return at }, "reading", "records")
	at = at.Add(time.Second)
	p.Update(7, 0)
	if got, want := out.String(), "\r\x1b[Kreading 7 records"; got != want {
		t.Errorf("progress is %q, want %q", got, want)
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
		t.Errorf("short work, or output that is not a terminal, printed %q", out.String())
	}
}

func ExampleTable() {
	fmt.Print(Table([][]string{{"databases", "Template"}, {"databases-api", "API"}}, []string{"NAME", "KIND"}, Style{}))
	// Output:
	// NAME           KIND
	// databases      Template
	// databases-api  API
}
