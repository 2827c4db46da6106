package report

import (
	"net/url"
	"path"
	"regexp"
	"strings"

	"example.dev/ingestor/document/finding"
)

// The parts of SARIF 2.1.0 that are used, as in its JSON.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID       string      `json:"id"`
		Short    sarifText   `json:"shortDescription"`
		Full     *sarifText  `json:"fullDescription,omitempty"`
		Help     *sarifText  `json:"help,omitempty"`
		Defaults sarifConfig `json:"defaultConfiguration"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId,omitempty"`
		RuleIndex *int            `json:"ruleIndex,omitempty"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
	sarifLogical struct {
		Name string `json:"name,omitempty"`
		Full string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
)

var levels = [...]string{finding.Info: "note", finding.Warning: "warning", finding.Error: "error"}

func newSARIF(fs []finding.Finding, opts Options) sarifLog {
	driver := sarifDriver{Name: opts.Tool, Version: opts.Version, Rules: []sarifRule{}}
	index := map[string]int{}
	rule := func(r finding.Rule) int {
		i, ok := index[r.ID]
		if !ok {
			i = len(driver.Rules)
			index[r.ID] = i
			driver.Rules = append(driver.Rules, newSARIFRule(r))
		}
		return i
	}
	for _, r := range opts.Rules {
		rule(r)
	}
	results := make([]sarifResult, 0, len(fs))
	for _, f := range fs {
		r := sarifResult{RuleID: f.Rule, Level: levels[f.Severity], Message: sarifText{explained(f)}, Locations: locate(f)}
		if f.Rule != "" {
			// Readers look up rules by index, so rules without a description are added
			// too.
			i := rule(finding.Rule{ID: f.Rule, Severity: f.Severity})
			r.RuleIndex = &i
		}
		results = append(results, r)
	}
	return sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{{Tool: sarifTool{driver}, ColumnKind: "unicodeCodePoints", Results: results}},
	}
}

func newSARIFRule(r finding.Rule) sarifRule {
	out := sarifRule{ID: r.ID, Short: sarifText{r.Title}, Defaults: sarifConfig{levels[r.Severity]}}
	if r.Title == "" {
		out.Short.Text = r.ID
	}
	if r.Why != "" {
		out.Full, out.Help = &sarifText{r.Why}, &sarifText{r.Why}
	}
	return out
}

// explained returns the message with the hint, because SARIF viewers have no other
// place to show it. SARIF requires a non-empty text.
func explained(f finding.Finding) string {
	text := f.Message
	if text == "" {
		text = f.Rule
	}
	if f.Hint != "" {
		text += "\n" + f.Hint
	}
	if text == "" {
		return f.Severity.String()
	}
	return text
}

func locate(f finding.Finding) []sarifLocation {
	var at sarifLocation
	if f.File != "" {
		at.Physical = &sarifPhysical{Artifact: sarifArtifact{fileURI(f.File)}}
		if f.Pos.Line > 0 {
			at.Physical.Region = &sarifRegion{StartLine: int(f.Pos.Line), StartColumn: int(max(f.Pos.Column, 1))}
		}
	}
	if f.Object != "" || f.Path != "" {
		full := f.Object
		if f.Path != "" {
			full = strings.TrimPrefix(f.Object+"/"+f.Path, "/")
		}
		at.Logical = []sarifLogical{{Name: f.Object, Full: full, Kind: "object"}}
	}
	if at.Physical == nil && at.Logical == nil {
		return nil
	}
	return []sarifLocation{at}
}

var drive = regexp.MustCompile(`^[A-Za-z]:[/\\]`)

// fileURI returns the path as a URI: relative if the path is, otherwise a file
// URI.
func fileURI(file string) string {
	if drive.MatchString(file) {
		return (&url.URL{Scheme: "file", Path: "/" + path.Clean(strings.ReplaceAll(file, `\`, "/"))}).String()
	}
	clean := path.Clean(file)
	if path.IsAbs(clean) {
		return (&url.URL{Scheme: "file", Path: clean}).String()
	}
	return (&url.URL{Path: clean}).String()
}
