package xrd

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

// tell returns an item on one line.
func tell(f Found) string {
	switch {
	case f.Definition != nil:
		return fmt.Sprintf("%s:%d %s", f.Definition.Name, f.Definition.Node.At().Line, tree.AppendCanonical(nil, tree.Obj(
			tree.F("source", tree.Str(f.Record.Source)), tree.F("timestamp", tree.OptStr(f.Record.Timestamp)), tree.F("metadata", f.Record.Node().Get("metadata")))))
	case f.Other != nil:
		return fmt.Sprintf("other %s %s:%d", f.Other.Kind, f.Other.Name, f.Other.Node.At().Line)
	case f.Finding != nil:
		return fmt.Sprintf("%s: %s %s %s", f.Finding.Where(), f.Finding.Rule, f.Finding.Severity, f.Finding.Message)
	case f.Failed:
		return "failed: " + f.Failure
	}
	return "nothing"
}

func each(t *testing.T, in string, at Origin) []string {
	t.Helper()
	var got []string
	if err := Each(strings.NewReader(in), at, func(f Found) bool {
		got = append(got, tell(f))
		if f.Finding != nil && f.Finding.Hint == "" {
			t.Errorf("%s has no hint", tell(f))
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestEach(t *testing.T) {
	const bare = `{"metadata":{"path":"f"},"source":"file"}`
	const given = `{"metadata":{},"source":"kubernetes","timestamp":"2024-01-01T00:00:00Z"}`
	composition := `{"apiVersion":"apiextensions.composer.io/v1","kind":"Composition","metadata":{"name":"c"}}`
	cases := map[string]struct {
		reason string
		in     string
		want   []string
	}{
		"Bare":    {"A plain definition gets a record.", flat("a"), []string{"a:1 " + bare}},
		"Records": {"There is one record per line.", record("a", "{}") + "\n" + record("b", "{}") + "\n", []string{"a:1 " + given, "b:2 " + given}},
		"Array":   {"An array may contain definitions and records.", "[" + flat("a") + ",\n" + record("b", "{}") + "]", []string{"a:1 " + bare, "b:2 " + given}},
		"YAML":    {"A record in YAML may have a timestamp that is not a string.", "source: git\ntimestamp: 2024-01-01T00:00:00Z\nmetadata: {path: x}\nxrd: " + flat("a"), []string{`a:4 {"metadata":{"path":"x"},"source":"git","timestamp":"2024-01-01T00:00:00Z"}`}},
		"List":    {"kubectl output is read.", "apiVersion: v1\nitems:\n- " + flat("a") + "\n- " + composition + "\nkind: List\n", []string{"a:3 " + bare, "other Composition c:4"}},
		"Context": {"Metadata values other than strings are kept.", record("a", `{"n":{"x":[1]},"cluster":"c","ok":true}`), []string{`a:1 {"metadata":{"cluster":"c","n":{"x":[1]},"ok":true},"source":"kubernetes","timestamp":"2024-01-01T00:00:00Z"}`}},
		"NoSource": {
			"A record without anything but the definition is read.",
			`{"xrd":` + flat("a") + `}`, []string{`a:1 {"metadata":{},"source":"file"}`},
		},
		"Torn": {
			"Truncated lines are reported, including the last one.",
			record("a", "{}") + "\n" + record("b", "{}")[:40] + "\n" + record("c", "{}") + "\n" + `{"source":"file","ti`,
			[]string{
				"a:1 " + given, "f:2:37: XRD001 error cannot read the document: invalid character '\\n' in string literal",
				"c:3 " + given, "f:4:21: XRD001 error cannot read the document: unexpected end of input",
			},
		},
		"Headless": {
			"A line without its beginning does not affect other lines.",
			record("a", "{}")[100:] + "\n" + record("b", "{}") + "\n" + record("c", "{}")[100:] + "\n" + record("d", "{}") + "\n",
			[]string{
				"f:1:1: XRD001 error cannot read the document: found plain text, possibly a truncated line of JSON", "b:2 " + given,
				"f:3:1: XRD001 error cannot read the document: found plain text, possibly a truncated line of JSON", "d:4 " + given,
			},
		},
		"Remarks": {
			"Log lines between records are skipped.",
			"Warning\n" + record("a", "{}") + "\n# half way\n" + record("b", "{}") + "\ndone: true\n" + record("c", "{}"),
			[]string{
				"f:1:1: XRD002 info document has no apiVersion and kind; skipped", "a:2 " + given, "b:4 " + given,
				"f:5:1: XRD002 info document has no apiVersion and kind; skipped", "c:6 " + given,
			},
		},
		"NoXRD":      {"A record without a definition is reported.", `{"source":"file","timestamp":"x","metadata":{}}`, []string{"f:1:1: XRD005 error cannot use the extract record: xrd is missing"}},
		"NullXRD":    {"A record with a null definition is reported.", `{"source":"file","xrd":null}`, []string{"f:1:1: XRD005 error cannot use the extract record: xrd is missing"}},
		"OtherXRD":   {"A record with another object is reported.", `{"source":"file","xrd":` + composition + `}`, []string{"f:1:24: XRD005 error cannot use the extract record: xrd is Composition, not a CompositeResourceDefinition"}},
		"Types":      {"A wrong type is reported with its position.", `{"source":7,"xrd":{}}` + "\n" + `{"xrd":{},"metadata":[]}` + "\n" + `{"xrd":{},"timestamp":{}}`, []string{"f:1:11: XRD005 error cannot use the extract record: source is of type integer, not string", "f:2:22: XRD005 error cannot use the extract record: metadata is of type array, not object", "f:3:23: XRD005 error cannot use the extract record: timestamp is of type object, not string"}},
		"Failure":    {"A failure record is reported, and the records after it are read.", flat("a") + "\n" + `{"error":{"message":"half of it"}}` + "\n" + flat("b"), []string{"a:1 " + bare, "failed: half of it", "b:3 " + bare}},
		"Silent":     {"A failure record without a message is reported.", `{"error":{}}`, []string{"failed: "}},
		"NotObject":  {"A document that is not an object is skipped.", "a: b\n", []string{"f:1:1: XRD002 info document has no apiVersion and kind; skipped"}},
		"KeyTwice":   {"The last of two values with the same key is used.", `{"source":"file","source":"git","xrd":` + flat("a") + `}`, []string{`a:1 {"metadata":{},"source":"git"}`, `f:1:18: XRD001 error key "source" is given twice, first on line 1`}},
		"NoKind":     {"A list without a kind is read.", `{"items":[` + flat("a") + `,5]}`, []string{"a:1 " + bare, fmt.Sprintf("f:1:%d: XRD002 info document has no apiVersion and kind; skipped", len(`{"items":[`+flat("a")+`,5`))}},
		"EmptyList":  {"An empty list has no definitions.", `{"apiVersion":"v1","kind":"List","items":[]}`, nil},
		"EmptyInput": {"Empty input has no definitions.", "", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, each(t, tc.in, Origin{File: "f"})); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEachOrigin checks that a record has the origin of its definition.
func TestEachOrigin(t *testing.T) {
	cases := map[string]struct {
		reason string
		at     Origin
		want   map[string]string
	}{
		"File":    {"A file has a path.", Origin{Source: SourceFile, File: "a/b.yaml"}, map[string]string{"path": "a/b.yaml"}},
		"Stdin":   {"Standard input has the path stdin.", Origin{Source: SourceFile, File: "<stdin>", Location: "file:stdin"}, map[string]string{"path": "stdin"}},
		"Git":     {"A file in Git has a path and a location.", Origin{Source: SourceGit, File: "a.yaml", Location: "url:https://x/a.yaml"}, map[string]string{"path": "a.yaml", "location": "url:https://x/a.yaml"}},
		"Cluster": {"A definition in a cluster has a cluster and a location.", Origin{Source: SourceCluster, File: "c/xrd/a", Cluster: "c", Location: "url:https://x"}, map[string]string{"cluster": "c", "location": "url:https://x"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := define(t, flat("a"), tc.at)
			r := NewRecord(d)
			if diff := cmp.Diff(tc.want, r.Metadata); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
			again := r.Origin(Origin{File: "r.json"})
			if again.SourceLocation() != tc.at.SourceLocation() || again.Source != tc.at.Source || again.Cluster != tc.at.Cluster {
				t.Errorf("%s\norigin is %v, want %v", tc.reason, again, tc.at)
			}
		})
	}
}

func TestEachStops(t *testing.T) {
	for _, in := range []string{flat("a") + "\n" + flat("b"), "[" + flat("a") + "," + flat("b") + "]", `{"kind":"List","items":[` + flat("a") + "," + flat("b") + "]}"} {
		n := 0
		if err := Each(strings.NewReader(in), Origin{}, func(Found) bool { n++; return false }); err != nil || n != 1 {
			t.Errorf("%s: %d calls, error %v; want one", in, n, err)
		}
	}
	broken := errors.New("broken pipe")
	if err := Each(iotest.ErrReader(broken), Origin{}, func(Found) bool { return true }); !errors.Is(err, broken) {
		t.Errorf("Each returned %v, want the reader's error", err)
	}
}

func TestRecordName(t *testing.T) {
	cases := map[string]struct{ reason, xrd, want string }{
		"Name":   {"The name of the definition is used.", `{"metadata":{"name":"a"},"spec":{"group":"x.io","names":{"plural":"ps"}}}`, "a"},
		"Parts":  {"A missing name is built from the plural and the group.", `{"spec":{"group":"x.io","names":{"plural":"ps"}}}`, "ps.x.io"},
		"Half":   {"Both the plural and the group are needed.", `{"spec":{"group":"x.io"}}`, ""},
		"Absent": {"A record may have no definition.", "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var r Record
			if docs, _ := parser.DecodeBytes([]byte(tc.xrd)); len(docs) > 0 {
				r.XRD = docs[0]
			}
			if got := r.Name(); got != tc.want {
				t.Errorf("%s\n%q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestSetFailure checks that an incomplete list is an error for callers that
// read everything at once.
func TestSetFailure(t *testing.T) {
	var s Set
	if err := s.Read(strings.NewReader(flat("a")+"\n"+`{"error":{"message":"half of it"}}`), Origin{File: "f"}); err != nil {
		t.Fatal(err)
	}
	if len(s.Definitions) != 1 || len(s.Findings) != 1 || s.Findings[0].Rule != RuleIncomplete || s.Findings[0].Where() != "f:2:1" {
		t.Errorf("%d definitions, findings %v", len(s.Definitions), s.Findings)
	}
	var got []string
	s.Each(func(f Found) bool {
		got = append(got, tell(f))
		return true
	})
	want := []string{`a:1 {"metadata":{"path":"f"},"source":"file"}`, "f:2:1: XRD006 error the input is not complete: half of it"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("items of the set (-want +got):\n%s", diff)
	}
}

// TestEachMemory pipes more records than fit in memory, as a stream and as a
// list, and checks the memory in use meanwhile.
func TestEachMemory(t *testing.T) {
	cases := map[string]struct {
		n                      int
		before, between, after string
	}{
		"NDJSON": {200_000, "", "\n", "\n"},
		"Array":  {20_000, "[", ",", "]"},
		"List":   {20_000, `{"apiVersion":"v1","items":[`, ",\n", `],"kind":"List","metadata":{}}`},
		"YAML":   {20_000, "apiVersion: v1\nitems:\n- ", "\n- ", "\nkind: List\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, w := io.Pipe()
			n := tc.n
			go func() {
				text := record("a", "{}") + tc.between
				_, err := io.WriteString(w, tc.before)
				for range n - 1 {
					if err == nil {
						_, err = io.WriteString(w, text)
					}
				}
				if err == nil {
					_, err = io.WriteString(w, record("a", "{}")+tc.after)
				}
				w.CloseWithError(err)
			}()
			var before, now runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			seen, top := 0, uint64(0)
			err := Each(r, Origin{}, func(f Found) bool {
				if f.Definition == nil {
					t.Error(tell(f))
					return false
				}
				if seen++; seen%(n/4) == 0 {
					runtime.GC()
					runtime.ReadMemStats(&now)
					top = max(top, now.HeapAlloc)
				}
				return true
			})
			if err != nil || seen != n {
				t.Fatalf("%d records, error %v", seen, err)
			}
			if most := before.HeapAlloc + 16<<20; top > most {
				t.Errorf("%d bytes in use, want at most %d", top, most)
			}
		})
	}
}
