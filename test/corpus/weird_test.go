package corpus

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.dev/ingestor/internal/app"
)

// weird is a malformed file that was published.
type weird struct {
	path, category string
	// reasons are the errors in the file.
	reasons []string
}

// harmless are the reasons for which a file may pass with a remark, because
// Crossplane itself adds what is missing.
var harmless = map[string]string{
	"root-type-not-object":  "Crossplane writes type: object into the schema",
	"property-without-type": "Crossplane also adds the type of spec",
}

var times = regexp.MustCompile(`x\d+$`)

// malformedFiles reads the list of malformed files.
func malformedFiles(t *testing.T) []weird {
	t.Helper()
	f, err := os.Open(folder(t, "WEIRD.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []weird
	for _, row := range rows[1:] {
		w := weird{path: folder(t, row[0]), category: row[1]}
		for reason := range strings.SplitSeq(strings.TrimPrefix(row[2], "[history] "), "; ") {
			reason, _, _ = strings.Cut(times.ReplaceAllString(reason, ""), ":")
			w.reasons = append(w.reasons, reason)
		}
		out = append(out, w)
	}
	return out
}

// outcome is the result for a malformed file.
type outcome struct {
	code             int
	worst            string
	rules            []string
	silent, template bool
}

// TestWeird tests every malformed file separately: none may crash the program
// or leave files other than entities behind, and each must get a finding.
func TestWeird(t *testing.T) {
	t.Parallel()
	all := malformedFiles(t)
	if len(all) < 200 {
		t.Fatalf("found %d malformed files, want at least 200; is this another corpus?", len(all))
	}
	outcomes := make([]outcome, len(all))
	dirs := make([]string, len(all))
	for i := range all {
		dirs[i] = filepath.Join(t.TempDir(), "out")
	}
	each(len(all), func(i int) { outcomes[i] = try(t, all[i], dirs[i]) })
	table, remarks := map[string]int{}, map[string]int{}
	for i, w := range all {
		o := outcomes[i]
		table[fmt.Sprintf("%-14s  exit %d  worst %-7s", w.category, o.code, cmp.Or(o.worst, "none"))]++
		if !o.silent {
			continue
		}
		for _, reason := range w.reasons {
			why, ok := harmless[reason]
			if !ok || !o.template {
				t.Errorf("%s: %q was not reported\nrules %v", w.path, reason, o.rules)
			}
			remarks[reason+": "+why]++
		}
	}
	for _, line := range slices.Sorted(maps.Keys(table)) {
		t.Logf("%s  %3d files", line, table[line])
	}
	for _, line := range slices.Sorted(maps.Keys(remarks)) {
		t.Logf("remark only, %d files: %s", remarks[line], line)
	}
	for _, line := range rulesByReason(all, outcomes) {
		t.Log(line)
	}
}

// try validates a file, then writes its entities.
func try(t *testing.T, w weird, dir string) outcome {
	t.Helper()
	out, notes, code := run(t.Context(), w.path, "--validate", "--output-format", "json")
	checkExit(t, w.path, notes, code)
	var report struct {
		Findings []struct{ Rule, Severity, File string }
		Summary  struct{ Errors, Warnings, Infos int }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Errorf("%s: report is not JSON: %v", w.path, err)
	}
	o := outcome{code: code}
	for _, f := range report.Findings {
		if f.File != w.path {
			t.Errorf("%s: finding of rule %s has the file %q", w.path, f.Rule, f.File)
		}
		o.rules = append(o.rules, f.Rule)
	}
	slices.Sort(o.rules)
	o.rules = slices.Compact(o.rules)
	switch s := report.Summary; {
	case s.Errors > 0:
		o.worst = "error"
	case s.Warnings > 0:
		o.worst = "warning"
	case s.Infos > 0:
		o.worst = "info"
	}
	if (report.Summary.Errors > 0) != (code == app.ExitInvalid) {
		t.Errorf("%s: report has %d errors, and the exit code is %d", w.path, report.Summary.Errors, code)
	}

	out, notes, wrote := run(t.Context(), w.path, "-o", dir)
	checkExit(t, w.path, notes, wrote)
	if wrote != code || out != "" {
		t.Errorf("%s: exit code was %d for validation and %d for writing; standard output %q", w.path, code, wrote, out)
	}
	o.template = checkFiles(t, w.path, dir)
	o.silent = o.worst != "error" && o.worst != "warning" && !strings.Contains(notes, "nothing matched") && !strings.Contains(notes, "passed over") && !strings.Contains(notes, "skipped")
	return o
}

// checkExit checks that the exit code is documented and that there was no internal
// error.
func checkExit(t *testing.T, path, notes string, code int) {
	t.Helper()
	if strings.Contains(notes, "internal error") || strings.Contains(notes, "goroutine ") {
		t.Errorf("%s: internal error:\n%s", path, notes)
	}
	if code != app.ExitOK && code != app.ExitInvalid && code != app.ExitNothing {
		t.Errorf("%s: unexpected exit code %d\n%s", path, code, notes)
	}
}

// checkFiles checks the files that a run has written, and reports whether there is a
// Template.
func checkFiles(t *testing.T, path, dir string) (template bool) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
	for _, f := range files {
		switch f.Name() {
		case "template.yaml":
			template = true
		case "api.yaml", "resource.yaml":
		default:
			t.Errorf("%s: unexpected file %s was written", path, f.Name())
		}
	}
	return template
}

// rulesByReason lists, for each reason, the rules that most files with it
// violate.
func rulesByReason(all []weird, outcomes []outcome) []string {
	files, rules := map[string]int{}, map[string]map[string]int{}
	for i, w := range all {
		for _, reason := range w.reasons {
			if strings.Contains(reason, "line") {
				reason = w.category
			}
			files[reason]++
			if rules[reason] == nil {
				rules[reason] = map[string]int{}
			}
			for _, r := range outcomes[i].rules {
				rules[reason][r]++
			}
		}
	}
	var out []string
	for _, reason := range slices.Sorted(maps.Keys(files)) {
		names := slices.Collect(maps.Keys(rules[reason]))
		slices.SortFunc(names, func(a, b string) int {
			return cmp.Or(cmp.Compare(rules[reason][b], rules[reason][a]), cmp.Compare(a, b))
		})
		line := fmt.Sprintf("%-42s %3d files:", reason, files[reason])
		for _, r := range names[:min(5, len(names))] {
			line += fmt.Sprintf(" %s in %d", r, rules[reason][r])
		}
		out = append(out, line)
	}
	return out
}
