package report

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
)

func TestSARIF(t *testing.T) {
	want := `{
  "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
  "version": "2.1.0",
  "runs": [
    {
      "tool": {
        "driver": {
          "name": "ingestor-cli",
          "version": "1.2.3",
          "rules": [
            {
              "id": "XRD001",
              "shortDescription": {
                "text": "Documents can be read"
              },
              "fullDescription": {
                "text": "Nothing can be made of what cannot be read."
              },
              "help": {
                "text": "Nothing can be made of what cannot be read."
              },
              "defaultConfiguration": {
                "level": "error"
              }
            },
            {
              "id": "XRD012",
              "shortDescription": {
                "text": "Definitions have a group"
              },
              "defaultConfiguration": {
                "level": "error"
              }
            },
            {
              "id": "XRD030",
              "shortDescription": {
                "text": "XRD030"
              },
              "defaultConfiguration": {
                "level": "note"
              }
            }
          ]
        }
      },
      "columnKind": "unicodeCodePoints",
      "results": [
        {
          "ruleId": "XRD030",
          "ruleIndex": 2,
          "level": "note",
          "message": {
            "text": "no description"
          },
          "locations": [
            {
              "logicalLocations": [
                {
                  "name": "b.x",
                  "fullyQualifiedName": "b.x",
                  "kind": "object"
                }
              ]
            }
          ]
        },
        {
          "ruleId": "XRD012",
          "ruleIndex": 1,
          "level": "error",
          "message": {
            "text": "group is missing\nadd it"
          },
          "locations": [
            {
              "physicalLocation": {
                "artifactLocation": {
                  "uri": "d/a%20b.yaml"
                },
                "region": {
                  "startLine": 7,
                  "startColumn": 3
                }
              },
              "logicalLocations": [
                {
                  "name": "a.x",
                  "fullyQualifiedName": "a.x/spec.group",
                  "kind": "object"
                }
              ]
            }
          ]
        }
      ]
    }
  ]
}
`
	got := write(t, SARIF, examples[:2], Options{Version: "1.2.3", Rules: rules[:2]})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// sarif is the part of the standard that is used here.
type sarif struct {
	Version string
	Runs    []struct {
		Tool struct {
			Driver struct {
				Name  string
				Rules []struct {
					ID                   string
					ShortDescription     struct{ Text string }
					DefaultConfiguration struct{ Level string }
				}
			}
		}
		Results []struct {
			RuleID    string
			RuleIndex *int
			Level     string
			Message   struct{ Text string }
			Locations []struct {
				PhysicalLocation *struct {
					ArtifactLocation struct{ URI string }
					Region           *struct{ StartLine, StartColumn int }
				}
				LogicalLocations []struct{ FullyQualifiedName string }
			}
		}
	}
}

// TestSARIFStructure validates several kinds of findings against the standard.
func TestSARIFStructure(t *testing.T) {
	cases := map[string]struct {
		reason   string
		findings []finding.Finding
		rules    []finding.Rule
	}{
		"Nothing":  {reason: "Without findings the list is empty, not missing."},
		"Examples": {reason: "Usual findings are valid.", findings: examples, rules: rules},
		"Unknown":  {reason: "Rules without a description are valid.", findings: examples},
		"Bare":     {reason: "An empty finding is valid.", findings: []finding.Finding{{}}},
		"Hostile":  {reason: "A text that breaks formats is escaped.", findings: []finding.Finding{{Rule: hostile, Object: hostile, Path: hostile, File: hostile, Message: hostile}}},
		"Twice":    {reason: "A duplicate rule is listed once.", findings: examples, rules: append(rules, rules...)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text := write(t, SARIF, tc.findings, Options{Rules: tc.rules})
			var log sarif
			if err := json.Unmarshal([]byte(text), &log); err != nil {
				t.Fatal(err)
			}
			if log.Version != "2.1.0" || len(log.Runs) != 1 || log.Runs[0].Results == nil || log.Runs[0].Tool.Driver.Name != "ingestor-cli" {
				t.Fatalf("%s\nlog is invalid: %s", tc.reason, text)
			}
			run := log.Runs[0]
			ids := map[string]bool{}
			for _, r := range run.Tool.Driver.Rules {
				if ids[r.ID] || r.ID == "" || r.ShortDescription.Text == "" || !strings.Contains("error warning note", r.DefaultConfiguration.Level) {
					t.Errorf("%s\nrule is %+v", tc.reason, r)
				}
				ids[r.ID] = true
			}
			if len(run.Results) != len(tc.findings) {
				t.Errorf("%s\n%d results for %d findings", tc.reason, len(run.Results), len(tc.findings))
			}
			for _, r := range run.Results {
				if r.Message.Text == "" || !strings.Contains("error warning note", r.Level) {
					t.Errorf("%s\nresult is %+v", tc.reason, r)
				}
				if (r.RuleID == "") != (r.RuleIndex == nil) || r.RuleIndex != nil && run.Tool.Driver.Rules[*r.RuleIndex].ID != r.RuleID {
					t.Errorf("%s\nresult of rule %q has index %v", tc.reason, r.RuleID, r.RuleIndex)
				}
				for _, l := range r.Locations {
					if l.PhysicalLocation == nil {
						continue
					}
					if _, err := url.Parse(l.PhysicalLocation.ArtifactLocation.URI); err != nil {
						t.Errorf("%s\n%v", tc.reason, err)
					}
					if g := l.PhysicalLocation.Region; g != nil && (g.StartLine < 1 || g.StartColumn < 1) {
						t.Errorf("%s\nregion is %+v", tc.reason, g)
					}
				}
			}
		})
	}
}

func TestFileURI(t *testing.T) {
	cases := map[string]struct {
		reason   string
		in, want string
	}{
		"Relative": {"A relative path is a relative URI.", "./d/a.yaml", "d/a.yaml"},
		"Up":       {"A relative path may lead up.", "../a.yaml", "../a.yaml"},
		"Escaped":  {"Special characters of a URI are escaped.", "a b#c?d%e.yaml", "a%20b%23c%3Fd%25e.yaml"},
		"Colon":    {"A name with a colon is not a scheme.", "a:b.yaml", "./a:b.yaml"},
		"Absolute": {"An absolute path is a file URI.", "/d/a b.yaml", "file:///d/a%20b.yaml"},
		"Windows":  {"A path with a drive is a file URI.", `C:\d\a.yaml`, "file:///C:/d/a.yaml"},
		"Stdin":    {"The name of standard input is escaped.", "<stdin>", "%3Cstdin%3E"},
		"Double":   {"Two slashes are not a host.", "//a/b", "file:///a/b"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := fileURI(tc.in); got != tc.want {
				t.Errorf("%s\nfileURI(%q) = %q, want %q", tc.reason, tc.in, got, tc.want)
			}
		})
	}
}
