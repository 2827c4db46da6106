package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
)

var examples = []finding.Finding{
	{Rule: "XRD030", Severity: finding.Info, Object: "b.x", Message: "no description"},
	{Rule: "XRD012", Severity: finding.Error, Object: "a.x", Path: "spec.group", File: "d/a b.yaml", Pos: tree.Pos{Line: 7, Column: 3}, Message: "group is missing", Hint: "add it"},
	{Rule: "XRD020", Severity: finding.Warning, Object: "a.x", File: "d/a b.yaml", Pos: tree.Pos{Line: 2}, Message: "odd"},
	{Severity: finding.Error, Message: "nothing is known"},
}

var rules = []finding.Rule{
	{ID: "XRD001", Severity: finding.Error, Title: "Documents can be read", Why: "Nothing can be made of what cannot be read."},
	{ID: "XRD012", Severity: finding.Error, Title: "Definitions have a group"},
	{ID: "XRD020", Severity: finding.Warning, Title: "Nothing is odd", Why: "Odd things confuse."},
}

// hostile is text that breaks formats and terminals.
const hostile = "\x1b[31m \"quoted\" <tag> & ]]> \x00\x01\x08 \u202e \ufffe \xff\xfe 'x'\r\nsecond\tline"

func write(t *testing.T, format string, fs []finding.Finding, opts Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, format, fs, opts); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestText(t *testing.T) {
	cases := map[string]struct {
		reason   string
		findings []finding.Finding
		opts     Options
		want     string
	}{
		"All": {
			reason: "Each finding is a line in reading order, with its hint below.", findings: examples,
			want: `error: nothing is known
b.x: info: no description [XRD030]
d/a b.yaml:2:1: warning: odd [XRD020]
d/a b.yaml:7:3: error: group is missing [XRD012]
  add it
`,
		},
		"Min": {
			reason: "Findings below the minimum severity are left out.", findings: examples, opts: Options{Min: finding.Warning},
			want: `error: nothing is known
d/a b.yaml:2:1: warning: odd [XRD020]
d/a b.yaml:7:3: error: group is missing [XRD012]
  add it
`,
		},
		"Color": {
			reason: "Position, severity and rule have different colours.", findings: examples[1:2], opts: Options{Color: true},
			want: "\x1b[1md/a b.yaml:7:3\x1b[22m: \x1b[31merror\x1b[39m: group is missing \x1b[2m[XRD012]\x1b[22m\n  add it\n",
		},
		"Hostile": {
			reason:   "Control characters of a finding are escaped.",
			findings: []finding.Finding{{Rule: "R", File: hostile, Message: hostile, Hint: hostile}},
			want: `\x1b[31m "quoted" <tag> & ]]> \x00\x01\b \u202e \ufffe \xff\xfe 'x'\r\nsecond\tline: info: ` +
				`\x1b[31m "quoted" <tag> & ]]> \x00\x01\b \u202e \ufffe \xff\xfe 'x'\r\nsecond\tline [R]` +
				"\n  " + `\x1b[31m "quoted" <tag> & ]]> \x00\x01\b \u202e \ufffe \xff\xfe 'x'\r` + "\n  " + "second\tline\n",
		},
		"Nothing": {reason: "Without findings there are no lines."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, write(t, Text, tc.findings, tc.opts)); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	want := `{
  "findings": [
    {
      "rule": "XRD020",
      "severity": "warning",
      "object": "a.x",
      "path": "",
      "file": "d/a b.yaml",
      "line": 2,
      "column": 0,
      "message": "odd",
      "hint": ""
    },
    {
      "rule": "XRD012",
      "severity": "error",
      "object": "a.x",
      "path": "spec.group",
      "file": "d/a b.yaml",
      "line": 7,
      "column": 3,
      "message": "group is missing",
      "hint": "add it"
    }
  ],
  "summary": {
    "errors": 1,
    "warnings": 1,
    "infos": 0
  }
}
`
	if diff := cmp.Diff(want, write(t, JSON, examples[1:3], Options{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want = `{
  "findings": [],
  "summary": {
    "errors": 0,
    "warnings": 0,
    "infos": 0
  }
}
`
	if diff := cmp.Diff(want, write(t, JSON, nil, Options{})); diff != "" {
		t.Errorf("report without findings (-want +got):\n%s", diff)
	}
}

func TestFormats(t *testing.T) {
	for _, f := range Formats {
		if got, err := ParseFormat(f); err != nil || got != f {
			t.Errorf("ParseFormat(%q) = %q, %v", f, got, err)
		}
	}
	want := `cannot use output format "xml": want text, json, sarif or junit`
	if _, err := ParseFormat("xml"); err == nil || err.Error() != want {
		t.Errorf("ParseFormat returned %v, want %s", err, want)
	}
	if err := Write(io.Discard, "xml", nil, Options{}); err == nil || err.Error() != want {
		t.Errorf("Write returned %v, want %s", err, want)
	}
}

type fullDisk struct{}

var errFull = errors.New("disk is full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteFails(t *testing.T) {
	for _, f := range Formats {
		if err := Write(fullDisk{}, f, examples, Options{}); !errors.Is(err, errFull) {
			t.Errorf("%s: Write returned %v, want the error of the writer", f, err)
		}
	}
}

// TestInputUnchanged checks that the order of the caller's findings is not
// changed.
func TestInputUnchanged(t *testing.T) {
	fs := append([]finding.Finding(nil), examples...)
	for _, f := range Formats {
		write(t, f, fs, Options{Min: finding.Error})
	}
	if diff := cmp.Diff(examples, fs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzWrite checks that every format is valid for any finding.
func FuzzWrite(f *testing.F) {
	f.Add(hostile, "a:b.yaml", "XRD001")
	f.Add("", "", "")
	f.Add("]]>", "/etc/x", "<")
	f.Fuzz(func(t *testing.T, text, file, rule string) {
		fs := []finding.Finding{{Rule: rule, File: file, Object: text, Path: text, Message: text, Hint: text, Severity: finding.Warning}}
		opts := Options{Objects: []string{file}, Tool: "t", Rules: []finding.Rule{{ID: rule, Title: text, Why: text}}}
		for _, format := range []string{JSON, SARIF} {
			if got := write(t, format, fs, opts); !json.Valid([]byte(got)) || !utf8.ValidString(got) {
				t.Errorf("%s is not valid: %q", format, got)
			}
		}
		d := xml.NewDecoder(strings.NewReader(write(t, JUnit, fs, opts)))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("junit is not well-formed: %v", err)
			}
		}
		got := write(t, Text, fs, opts)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\x00\r") {
			t.Errorf("text is not safe: %q", got)
		}
	})
}
