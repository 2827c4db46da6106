package folder_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/engine/folder"
	"example.dev/ingestor/template/builtin"
	"example.dev/ingestor/xrd"
)

// files returns a folder of texts.
func files(pairs ...string) fs.FS {
	out := fstest.MapFS{}
	for i := 0; i+1 < len(pairs); i += 2 {
		out[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return out
}

// define reads a definition.
func define(t *testing.T, text string) *xrd.Definition {
	t.Helper()
	docs, errs := parser.DecodeBytes([]byte(text))
	if len(errs) > 0 || len(docs) != 1 {
		t.Fatalf("%d documents, errors %v", len(docs), errs)
	}
	return xrd.NewDefinition(docs[0], xrd.Origin{File: "xrd.yaml"})
}

// each returns the joined errors.
func each(err error) []*folder.Error {
	var out []*folder.Error
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, e := range joined.Unwrap() {
			out = append(out, each(e)...)
		}
		return out
	}
	var e *folder.Error
	if errors.As(err, &e) {
		out = append(out, e)
	}
	return out
}

// TestNoFile checks that anything but a regular file is not opened: opening a
// pipe would block.
func TestNoFile(t *testing.T) {
	pipe := fstest.MapFS{"metadata.yaml": {Mode: fs.ModeNamedPipe}}
	if _, err := folder.Open(builtin.Files(), pipe); err == nil || err.Error() != "cannot read metadata.yaml: not a regular file" {
		t.Errorf("metadata.yaml that is not a file: got %v", err)
	}
	pipe = fstest.MapFS{"portal/default.eta": {Mode: fs.ModeNamedPipe}}
	f, err := folder.Open(builtin.Files(), pipe)
	if err != nil {
		t.Fatal(err)
	}
	if bad := f.Check(); len(bad) != 1 || bad[0].Error() != "portal/default.eta: cannot open template: not a file" {
		t.Errorf("template that is not a file: got %v", bad)
	}
}

func TestMetadata(t *testing.T) {
	cases := map[string]struct {
		reason, text string
		want         []string // the errors, with their hints
	}{
		"Empty":     {"All keys are optional.", "", nil},
		"Comment":   {"A file can contain only comments.", "# nothing yet\n", nil},
		"All":       {"All keys are accepted.", "name: n\ndescription: d\ndefaults: {portal: simple}\nvalues: {a: [1]}\nfiles: {portal/simple: s}\n", nil},
		"Own":       {"A custom file can be added.", "defaults: {wizard: mine}\nfiles: {wizard/mine: x}\n", nil},
		"Key":       {"An unknown key is reported with a suggestion.", "name: n\ndefault: {}\n", []string{`metadata.yaml:2:1: unknown key "default"; did you mean defaults?`}},
		"Group":     {"An unknown group is reported with a suggestion.", "defaults:\n  wizards: x\n", []string{`metadata.yaml:2:3: unknown key "wizards"; did you mean wizard?`}},
		"Default":   {"A missing default is reported with a suggestion.", "defaults:\n  portal: simpel\n", []string{`metadata.yaml:2:11: portal template "simpel" does not exist; did you mean simple?`}},
		"Described": {"A description of a missing file is reported.", "files:\n  portal/simpl: x\n", []string{`metadata.yaml:2:3: unknown key "portal/simpl"; did you mean portal/simple?`}},
		"Types": {"All wrong types are reported at once.", "name: [a]\nvalues: 1\nfiles: []\ndefaults: {portal: 2}\n", []string{
			"metadata.yaml:1:7: name must be a string, found array", "metadata.yaml:2:9: values must be a map, found integer",
			"metadata.yaml:3:8: files must be a map, found array", "metadata.yaml:4:20: portal must be a string, found integer",
		}},
		"List":   {"A list is refused.", "- a\n", []string{"metadata.yaml:1:1: metadata.yaml must be a map, found array"}},
		"Two":    {"Two documents are refused.", "name: a\n---\nname: b\n", []string{"more than one document"}},
		"Twice":  {"A duplicate key is reported.", "name: a\nname: b\n", []string{`metadata.yaml:2:1: key "name" is given twice`}},
		"Broken": {"Invalid YAML is reported.", "name: a: b\n", []string{"metadata.yaml:1:"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := folder.Open(builtin.Files(), files("metadata.yaml", tc.text, "wizard/mine.eta", "- title: x\n"))
			got := each(err)
			if len(got) != len(tc.want) {
				t.Fatalf("%s\nerror %v, want %q", tc.reason, err, tc.want)
			}
			for i, want := range tc.want {
				if text := got[i].Error() + "; " + got[i].Finding.Hint; !strings.Contains(text, want) {
					t.Errorf("%s\n%q, want %q", tc.reason, text, want)
				}
				if got[i].Finding.Rule != folder.RuleFolder {
					t.Errorf("%s\nrule %s", tc.reason, got[i].Finding.Rule)
				}
			}
		})
	}
}

func TestOpen(t *testing.T) {
	if _, err := folder.Open(files("portal/default.eta", "")); err == nil || !strings.Contains(err.Error(), "file wizard/default.eta is missing") {
		t.Errorf("folder without a wizard: error %v", err)
	}
	if _, err := folder.Open(); err == nil {
		t.Error("missing folder returned no error")
	}
	large := files("metadata.yaml", strings.Repeat("# x\n", 1<<19))
	if _, err := folder.Open(builtin.Files(), large); err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Errorf("large metadata.yaml: error %v", err)
	}
}

// TestFiles lists the built-in folder overlaid with a custom one.
func TestFiles(t *testing.T) {
	f, err := folder.Open(builtin.Files(), files(
		"metadata.yaml", "name: mine\nvalues: {b: 2}\nfiles: {steps/own: What we do}\n",
		"steps/own.eta", "", "steps/_part.eta", "", "steps/README.md", "", "wizard/gitops.eta", "",
	))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range f.Files() {
		got = append(got, x.Path+" "+string('0'+rune(x.Layer)))
		if x.Description == "" {
			t.Errorf("%s has no description", x.Path)
		}
	}
	want := []string{
		"portal/default.eta 0", "portal/advanced.eta 0", "portal/simple.eta 0", "wizard/default.eta 0", "wizard/gitops.eta 1", "wizard/multi-cluster.eta 0",
		"steps/default.eta 0", "steps/direct-apply.eta 0", "steps/merge-request.eta 0", "steps/own.eta 1", "steps/pull-request.eta 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if f.Name() != "mine" || f.Description() == "" {
		t.Errorf("name is %q, description %q, want keys to be merged one by one", f.Name(), f.Description())
	}
	if f.Layer("steps/_part.eta") != 1 || f.Layer("portal/default.eta") != 0 || f.Layer("portal") != -1 {
		t.Error("Layer did not find the files")
	}
}

const choosing = `
apiVersion: apiextensions.%s/v1
kind: CompositeResourceDefinition
metadata:
  name: xs.example.org
  annotations:
    %s: %s
`

func TestChoose(t *testing.T) {
	f, err := folder.Open(builtin.Files(), files("metadata.yaml", "defaults: {wizard: gitops}\n"))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason, group, key, value string
		want                      string
		missing                   string // a part of the error's hint
	}{
		"Default":   {"Without annotations the defaults are used.", "composer.io", "portal.io/owner", "me", "portal/default.eta wizard/gitops.eta steps/default.eta", ""},
		"Portal":    {"The template can be chosen.", "composer.io", "portal.io/template", "simple", "portal/simple.eta wizard/gitops.eta steps/default.eta", ""},
		"Wizard":    {"The wizard can be chosen.", "composer.io", "portal.io/wizard", "default", "portal/default.eta wizard/default.eta steps/default.eta", ""},
		"Upstream":  {"Upstream annotations are supported.", "crossplane.io", "backstage.io/steps", "direct-apply", "portal/default.eta wizard/gitops.eta steps/direct-apply.eta", ""},
		"Extension": {"A name can have its extension.", "composer.io", "portal.io/steps", "pull-request.eta", "portal/default.eta wizard/gitops.eta steps/pull-request.eta", ""},
		"Slip":      {"An unknown name is reported.", "composer.io", "portal.io/steps", "pul-request", "portal/default.eta wizard/gitops.eta steps/default.eta", "did you mean pull-request? available templates:\n  default: applies"},
		"Mixed":     {"The position is that of the annotation as it is written.", "crossplane.io", "portal.io/steps", "pul-request", "portal/default.eta wizard/gitops.eta steps/default.eta", "did you mean pull-request?"},
		"Outside":   {"A path traversal is refused.", "composer.io", "portal.io/template", "../../etc/passwd", "portal/default.eta wizard/gitops.eta steps/default.eta", "available templates:\n  default: a Template"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := define(t, strings.NewReplacer("%s/v1", tc.group+"/v1", "%s: %s", tc.key+": "+tc.value).Replace(choosing))
			c, _, err := f.Choose(d, folder.Fail)
			if tc.missing != "" {
				var e *folder.Error
				if !errors.As(err, &e) || !strings.Contains(e.Finding.Hint, tc.missing) || e.Finding.Where() != "xrd.yaml:7:"+column(tc.key) {
					t.Fatalf("%s\nerror %v", tc.reason, err)
				}
				var found []finding.Finding
				c, found, err = f.Choose(d, folder.UseDefault)
				if len(found) != 1 || found[0].Severity != finding.Warning || found[0].Rule != folder.RuleChoice {
					t.Errorf("%s\nfindings %v", tc.reason, found)
				}
			}
			if got := c.Portal.Path + " " + c.Wizard.Path + " " + c.Steps.Path; err != nil || got != tc.want {
				t.Errorf("%s\n%s, error %v; want %s", tc.reason, got, err, tc.want)
			}
		})
	}
}

// column returns the column of the value of an annotation.
func column(key string) string {
	n := 4 + len(key) + 3
	return string([]byte{'0' + byte(n/10), '0' + byte(n%10)})
}

func TestPick(t *testing.T) {
	f, err := folder.Open(builtin.Files())
	if err != nil {
		t.Fatal(err)
	}
	if c, err := f.Pick("", "gitops", ""); err != nil || c.Wizard.Name != "gitops" || c.Portal.Name != "default" {
		t.Errorf("%v, error %v", c, err)
	}
	if _, err := f.Pick("", "", "nothing"); err == nil {
		t.Error("no error for a missing name")
	}
}

func TestOnError(t *testing.T) {
	for _, want := range []folder.OnError{folder.Fail, folder.UseDefault} {
		if got, err := folder.ParseOnError(want.String()); got != want || err != nil {
			t.Errorf("%v, error %v; want %v", got, err, want)
		}
	}
	if _, err := folder.ParseOnError("explode"); err == nil {
		t.Error("no error for an unknown vocabulary")
	}
}
