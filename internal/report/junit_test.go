package report

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
)

func TestJUnit(t *testing.T) {
	want := `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="ingestor-cli" tests="5" failures="3" errors="0">
  <testsuite name="ingestor-cli" tests="5" failures="3" errors="0" skipped="0">
    <testcase classname="ingestor-cli" name="error">
      <failure message="nothing is known" type="error">error: nothing is known</failure>
    </testcase>
    <testcase classname="b.x" name="XRD030 in b.x">
      <system-out>b.x: info: no description</system-out>
    </testcase>
    <testcase classname="d/a b.yaml" name="XRD020 at 2:1 in a.x" file="d/a b.yaml" line="2">
      <failure message="odd" type="warning">d/a b.yaml:2:1: warning: odd</failure>
    </testcase>
    <testcase classname="d/a b.yaml" name="XRD012 at 7:3 in a.x spec.group" file="d/a b.yaml" line="7">
      <failure message="group is missing" type="error">d/a b.yaml:7:3: error: group is missing&#xA;add it</failure>
    </testcase>
    <testcase classname="c.x" name="no findings"></testcase>
  </testsuite>
</testsuites>
`
	got := write(t, JUnit, examples, Options{Strict: true, Objects: []string{"c.x", "a.x", "b.x", "c.x"}})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	relaxed := write(t, JUnit, examples, Options{})
	if strings.Contains(relaxed, `type="warning"`) || !strings.Contains(relaxed, `type="error"`) {
		t.Errorf("without Strict a warning is a failure:\n%s", relaxed)
	}
}

func TestJUnitNothing(t *testing.T) {
	want := `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="x" tests="1" failures="0" errors="0">
  <testsuite name="x" tests="1" failures="0" errors="0" skipped="0">
    <testcase classname="x" name="no findings"></testcase>
  </testsuite>
</testsuites>
`
	if diff := cmp.Diff(want, write(t, JUnit, nil, Options{Tool: "x"})); diff != "" {
		t.Errorf("report without findings (-want +got):\n%s", diff)
	}
}

func TestJUnitHostile(t *testing.T) {
	fs := []finding.Finding{{Rule: hostile, Severity: finding.Error, File: hostile, Object: hostile, Path: hostile, Message: hostile, Hint: hostile}}
	var got suites
	if err := xml.Unmarshal([]byte(write(t, JUnit, fs, Options{Objects: []string{"\x00\x1b"}})), &got); err != nil {
		t.Fatal(err)
	}
	want := `\x1b[31m "quoted" <tag> & ]]> \x00\x01\b \u202e \ufffe \xff\xfe 'x'\r\nsecond\tline`
	if c := got.Suite.Cases[0]; c.Failure == nil || c.Failure.Message != want || c.File != want {
		t.Errorf("case is %+v, want everything escaped", c)
	}
	if c := got.Suite.Cases[1]; c.Class != `\x00\x1b` {
		t.Errorf("case is %+v", c)
	}
}
