package source_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/xrd/selector"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/file"
	"example.dev/ingestor/xrd"
)

// flat returns a definition on one line.
func flat(name, labels string) string {
	return fmt.Sprintf(`{"apiVersion":"apiextensions.crossplane.io/v2","kind":"CompositeResourceDefinition","metadata":{"name":%q,"labels":{%s}}}`+"\n", name, labels)
}

func stdin(text string) source.Source {
	return file.New([]string{file.Stdin}, file.Options{Stdin: strings.NewReader(text)})
}

// whole hides that a source is a Walker.
func whole(s source.Source) source.Source { return source.Func(s.Read) }

func noon() time.Time { return time.Date(2026, 1, 2, 12, 0, 0, 0, time.FixedZone("", 3600)) }

// list returns what Extract yields, one line each.
func list(s source.Source, opts source.ExtractOptions) []string {
	var got []string
	for r, err := range source.Extract(context.Background(), s, opts) {
		if err != nil {
			got = append(got, fmt.Sprintf("%T %v", err, err))
			continue
		}
		got = append(got, strings.TrimSpace(r.Name()+" "+r.Source+" "+r.Timestamp))
	}
	return got
}

func TestExtract(t *testing.T) {
	const other = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}}` + "\n"
	in := flat("a.x.io", `"team":"red"`) + other + "{\n" + flat("b.x.io", `"team":"blue"`) +
		`{"source":"git","timestamp":"2024-01-01T00:00:00Z","xrd":` + strings.TrimSpace(flat("c.x.io", `"team":"red"`)) + "}\n" + `{"a":1}` + "\n"
	labels, err := selector.Parse("team=red")
	if err != nil {
		t.Fatal(err)
	}
	const bad = "*source.Problem <stdin>:3:2: cannot read the document: unexpected end of input"
	cases := map[string]struct {
		reason string
		from   source.Source
		opts   source.ExtractOptions
		want   []string
	}{
		"All": {
			"Records keep their time, other definitions get the current one.",
			stdin(in), source.ExtractOptions{Now: noon},
			[]string{"a.x.io file 2026-01-02T11:00:00Z", bad, "b.x.io file 2026-01-02T11:00:00Z", "c.x.io git 2024-01-01T00:00:00Z"},
		},
		"NoClock": {"Without a clock definitions have no time.", stdin(flat("a", "")), source.ExtractOptions{}, []string{"a file"}},
		"Labels":  {"Definitions are selected by labels.", stdin(in), source.ExtractOptions{Filter: xrd.Filter{Labels: labels}}, []string{"a.x.io file", bad, "c.x.io git 2024-01-01T00:00:00Z"}},
		"Whole":   {"A source that is not a Walker yields the same, with errors last.", whole(stdin(in)), source.ExtractOptions{Filter: xrd.Filter{Labels: labels}}, []string{"a.x.io file", "c.x.io git", bad}},
		"Failure": {"An incomplete stream is reported.", stdin(flat("a", "") + `{"error":{"message":"gone"}}`), source.ExtractOptions{}, []string{"a file", "*source.Failure the input is not complete: gone"}},
		"Silent":  {"A failure without a message is reported.", stdin(`{"error":{}}`), source.ExtractOptions{}, []string{"*source.Failure the input is not complete"}},
		"Unread": {
			"Errors are yielded one by one at the end.",
			file.New([]string{"gone", "lost", file.Stdin}, file.Options{Stdin: strings.NewReader(flat("a", ""))}), source.ExtractOptions{},
			[]string{"a file", `*file.Error cannot read "gone": no such file or directory`, `*file.Error cannot read "lost": no such file or directory`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, list(tc.from, tc.opts)); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestExtractTells checks that everything which is not a record is reported.
func TestExtractTells(t *testing.T) {
	in := flat("a", `"team":"red"`) + `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}}` + "\n" + `{"x":1}` + "\n"
	var got []string
	opts := source.ExtractOptions{
		Filter:   xrd.Filter{Exclude: []string{"a"}},
		Refused:  func(d *xrd.Definition, why string) { got = append(got, d.Name+": "+why) },
		Passed:   func(o *xrd.Object) { got = append(got, o.Kind+" "+o.Name) },
		Remarked: func(f finding.Finding) { got = append(got, f.Rule) },
	}
	if rest := list(stdin(in), opts); rest != nil {
		t.Errorf("Extract yielded %v, want nothing", rest)
	}
	want := []string{`a: name "a" is excluded`, "ConfigMap m", xrd.RuleNotObject}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// The callbacks are optional.
	if rest := list(stdin(in), source.ExtractOptions{Filter: opts.Filter}); rest != nil {
		t.Errorf("Extract yielded %v, want nothing", rest)
	}
}

// TestExtractEnds checks that nothing more is read after the callback has ended
// the extraction.
func TestExtractEnds(t *testing.T) {
	broken := source.Func(func(context.Context) (*xrd.Set, error) {
		return &xrd.Set{}, errors.Join(errors.New("one"), errors.Join(errors.New("two")))
	})
	for reason, from := range map[string]source.Source{
		"after a record": stdin(flat("a", "") + flat("b", "")), "after a fault": stdin("{\n{\n" + flat("a", "")), "after an error": broken,
	} {
		n := 0
		for range source.Extract(t.Context(), from, source.ExtractOptions{}) {
			n++
			break
		}
		if n != 1 {
			t.Errorf("%s\n%d yielded, want one", reason, n)
		}
	}
	if got := list(broken, source.ExtractOptions{}); len(got) != 2 {
		t.Errorf("Extract yielded %q, want two separate errors", got)
	}
}

func ExampleExtract() {
	in := strings.NewReader(`
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata:
  name: xdatabases.platform.example.org
  labels: {team: payments}
---
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata:
  name: xcaches.platform.example.org
  labels: {team: storage}
`)
	labels, err := selector.Parse("team=payments")
	if err != nil {
		fmt.Println(err)
		return
	}
	from := file.New([]string{"-"}, file.Options{Stdin: in})
	for record, err := range source.Extract(context.Background(), from, source.ExtractOptions{
		Filter: xrd.Filter{Labels: labels},
		Now:    func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
	}) {
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(record.Source, record.Timestamp, record.Name(), record.Metadata["path"])
	}
	// Output:
	// file 2026-01-02T03:04:05Z xdatabases.platform.example.org stdin
}
