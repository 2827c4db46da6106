package script

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/cli/composer"
	"example.dev/ingestor/internal/cli/ingestor"
	"example.dev/ingestor/internal/cli/provide"
	"example.dev/ingestor/internal/cli/transform"
)

// exits returns a script command that runs a program and checks its exit code.
// The command for ingestor-cli is exits, for composer-ingestor composer, for
// portal-backend portal, for xrd-extract extract, for xrd-transform transform,
// for portal-provide provide:
//
//	exits 2 a.yaml --validate
//	composer 2 validate --xrd a.yaml
//	portal 4 config check
func exits(program string) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 1 {
			ts.Fatalf("usage: exits|composer|portal code [args...]")
		}
		want, err := strconv.Atoi(args[0])
		ts.Check(err)
		got := 0
		err = ts.Exec(program, args[1:]...)
		if e, ok := errors.AsType[*exec.ExitError](err); ok {
			got = e.ExitCode()
		} else {
			ts.Check(err)
		}
		if got != want {
			ts.Fatalf("exit code %d, want %d", got, want)
		}
		if strings.Contains(ts.ReadFile("stderr"), "internal error") {
			ts.Fatalf("command printed an internal error")
		}
	}
}

// define writes a small valid definition with a name and labels. apiVersion=…
// and annotation:… set the apiVersion and an annotation:
//
//	define a.yaml things.example.org team=red apiVersion=apiextensions.composer.io/v1 annotation:portal.io/owner=me
func define(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: define file name [label=value...]")
	}
	plural, group, _ := strings.Cut(args[1], ".")
	kind := strings.ToUpper(plural[:1]) + strings.TrimSuffix(plural[1:], "s")
	apiVersion, labels, annotations := "apiextensions.crossplane.io/v2", "", ""
	for _, arg := range args[2:] {
		key, value, _ := strings.Cut(arg, "=")
		if name, ok := strings.CutPrefix(key, "annotation:"); ok {
			annotations += fmt.Sprintf("    %s: %q\n", name, value)
			continue
		}
		if key == "apiVersion" {
			apiVersion = value
			continue
		}
		labels += fmt.Sprintf("    %s: %q\n", key, value)
	}
	if labels != "" {
		labels = "  labels:\n" + labels
	}
	if annotations != "" {
		annotations = "  annotations:\n" + annotations
	}
	text := fmt.Sprintf(`apiVersion: %s
kind: CompositeResourceDefinition
metadata:
  name: %s
%s%sspec:
  group: %s
  names:
    kind: %s
    plural: %s
  versions:
    - name: v1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          type: object
          description: A %s.
          properties:
            spec:
              type: object
              properties:
                size:
                  type: string
                  description: How large it is.
`, apiVersion, args[1], labels, annotations, group, kind, plural, strings.ToLower(kind))
	put(ts, args[0], []byte(text))
}

// example copies examples of the repository, by name or pattern:
//
//	example database.yaml
//	example *.yaml
func example(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: example file...")
	}
	for _, arg := range args {
		all, err := filepath.Glob(filepath.Join("../../examples", arg))
		ts.Check(err)
		if len(all) == 0 {
			ts.Fatalf("example %s does not exist", arg)
		}
		for _, path := range all {
			text, err := os.ReadFile(path)
			ts.Check(err)
			put(ts, filepath.Base(path), text)
		}
	}
}

// write writes bytes that a script cannot contain, in the syntax of a Go
// string:
//
//	bytes a.yaml '\ufeffa: 1\r\n'
func write(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: bytes file 'text with \\x00'")
	}
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(args[1], `"`, `\"`) + `"`)
	ts.Check(err)
	put(ts, args[0], []byte(text))
}

// repeat writes a large file: a prefix, a text n times, and a suffix.
//
//	repeat deep.json '' 500 '[' ''
func repeat(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 5 {
		ts.Fatalf("usage: repeat file before n text after")
	}
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	unquoted := make([]string, len(args))
	for i, arg := range args {
		unquoted[i], err = strconv.Unquote(`"` + strings.ReplaceAll(arg, `"`, `\"`) + `"`)
		ts.Check(err)
	}
	put(ts, args[0], []byte(unquoted[1]+strings.Repeat(unquoted[3], n)+unquoted[4]))
}

func put(ts *testscript.TestScript, name string, data []byte) {
	path := ts.MkAbs(name)
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o777))
	ts.Check(os.WriteFile(path, data, 0o666))
}

// files lists the files below directories on standard output.
func files(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: files dir...")
	}
	for _, arg := range args {
		dir := ts.MkAbs(arg)
		ts.Check(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(ts.Stdout(), filepath.ToSlash(filepath.Join(arg, rel)))
			return err
		}))
	}
}

// parse checks that a file is complete and valid in its format and, if a number
// is given, that it has so many items. Entities are validated with the
// catalog's rules:
//
//	parse entities stdout 3
//	parse json|ndjson|sarif|junit stdout
func parse(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: parse entities|json|array|ndjson|sarif|junit file [count]")
	}
	n, err := count(args[0], []byte(ts.ReadFile(args[1])))
	if err != nil {
		ts.Fatalf("%s is not valid %s: %v", args[1], args[0], err)
	}
	if len(args) < 3 {
		return
	}
	want, err := strconv.Atoi(args[2])
	ts.Check(err)
	if n != want {
		ts.Fatalf("%s has %d items, want %d", args[1], n, want)
	}
}

// count returns the number of entities, findings or values in data.
func count(format string, data []byte) (int, error) {
	switch format {
	case "entities":
		return countEntities(data)
	case "array":
		var all []json.RawMessage
		err := json.Unmarshal(data, &all)
		return len(all), err
	case "ndjson":
		return countLines(data)
	case "json":
		var report struct {
			Findings []json.RawMessage `json:"findings"`
		}
		err := json.Unmarshal(data, &report)
		return len(report.Findings), err
	case "sarif":
		return countSARIF(data)
	case "junit":
		return countJUnit(data)
	}
	return 0, fmt.Errorf("unknown format %q", format)
}

func countEntities(data []byte) (int, error) {
	var es []*entity.Entity
	var errs []error
	add := func(n *tree.Node) {
		e, err := entity.Parse(n)
		if err != nil {
			errs = append(errs, err)
			return
		}
		es = append(es, e)
	}
	err := parser.Decode(bytes.NewReader(data), parser.Limits{}, func(n *tree.Node, bad *parser.Error) bool {
		switch {
		case bad != nil:
			errs = append(errs, bad)
		case n.IsList():
			for _, item := range n.Items {
				add(item)
			}
		default:
			add(n)
		}
		return bad == nil
	})
	errs = append(errs, err)
	for _, f := range entity.CheckAll(es) {
		if f.Severity == finding.Error {
			errs = append(errs, fmt.Errorf("%s: %s [%s]", f.Where(), f.Message, f.Rule))
		}
	}
	return len(es), errors.Join(errs...)
}

func countLines(data []byte) (int, error) {
	n := 0
	for line := range bytes.Lines(data) {
		var v map[string]any
		if err := json.Unmarshal(line, &v); err != nil {
			return n, fmt.Errorf("line %d: %w", n+1, err)
		}
		n++
	}
	return n, nil
}

// countSARIF checks that each result names a rule of the report, and returns
// the number of results.
func countSARIF(data []byte) (int, error) {
	var log struct {
		Version string `json:"version"`
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name  string `json:"name"`
					Rules []struct {
						ID string `json:"id"`
					} `json:"rules"`
				} `json:"driver"`
			} `json:"tool"`
			Results []struct {
				RuleID    string `json:"ruleId"`
				RuleIndex int    `json:"ruleIndex"`
			} `json:"results"`
		} `json:"runs"`
	}
	if err := json.Unmarshal(data, &log); err != nil {
		return 0, err
	}
	programs := []string{ingestor.Name, composer.Name, transform.Name, provide.Name}
	if log.Version != "2.1.0" || len(log.Runs) != 1 || !slices.Contains(programs, log.Runs[0].Tool.Driver.Name) {
		return 0, fmt.Errorf("version %q, %d runs", log.Version, len(log.Runs))
	}
	run := log.Runs[0]
	for _, r := range run.Results {
		if r.RuleIndex >= len(run.Tool.Driver.Rules) || run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			return 0, fmt.Errorf("result of rule %s has index %d", r.RuleID, r.RuleIndex)
		}
	}
	return len(run.Results), nil
}

// countJUnit returns the number of failed test cases.
func countJUnit(data []byte) (int, error) {
	var suites struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []struct {
			Failures int `xml:"failures,attr"`
			Cases    []struct {
				Failure *struct{} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	dec := xml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&suites); err != nil {
		return 0, err
	}
	if rest := bytes.TrimSpace(data[dec.InputOffset():]); len(rest) > 0 {
		return 0, fmt.Errorf("%q follows the document", rest)
	}
	n := 0
	for _, s := range suites.Suites {
		failed := 0
		for _, c := range s.Cases {
			if c.Failure != nil {
				failed++
			}
		}
		if failed != s.Failures {
			return 0, fmt.Errorf("%d cases failed, and the suite reports %d", failed, s.Failures)
		}
		n += failed
	}
	return n, nil
}
