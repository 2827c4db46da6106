package scan

import (
	"cmp"
	"fmt"
	"strings"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/internal/ingestion/variant"
	"example.dev/ingestor/words"
)

// picks counts the definitions of a scan.
type picks struct {
	found, selected int
	// whys counts the definitions that are not selected, by reason.
	whys map[string]int
	// first is the first definition by name that is not selected, and speaks its
	// vocabulary.
	first  string
	speaks words.Vocabulary
}

// add counts a definition. why is empty if it is selected.
func (c *picks) add(name, why string, speaks words.Vocabulary) {
	c.found++
	if why == "" {
		c.selected++
		return
	}
	if c.whys == nil {
		c.whys = map[string]int{}
	}
	c.whys[why]++
	if c.first == "" || name < c.first {
		c.first, c.speaks = name, speaks
	}
}

// Count counts a definition. why is empty if it is selected.
func (s *Scan) Count(name, why string, speaks words.Vocabulary) { s.picks.add(name, why, speaks) }

// Selection returns the result of the selection; nil if there were no definitions.
func (s *Scan) Selection() *status.Selection { return s.picks.selection(s.Variant.Options) }

func (c *picks) selection(p *variant.Options) *status.Selection {
	if c.found == 0 {
		return nil
	}
	s := &status.Selection{Found: c.found, Selected: c.selected}
	if c.selected > 0 {
		return s
	}
	label := c.speaks.Out(words.Key, p.Profile.RequiredLabel)
	s.Message = fmt.Sprintf("%d definitions found, 0 selected: ", c.found)
	if c.found == 1 {
		s.Message = "1 definition found, 0 selected: "
	}
	if p.Profile.RequiredLabel != "" && c.whys[engine.Unlabelled(c.speaks, p.Profile.RequiredLabel)] == c.found {
		s.Message += fmt.Sprintf("none has the label %s=true", label)
		s.Hint = variant.Command(c.first, variant.Change{Field: "labels", Key: label, Value: "true"}, c.speaks, "")
		if p.Profile.Name == engine.ComposerIngestor.Name {
			s.Hint += fmt.Sprintf(", or set %s.ingestAll: true", p.Name)
		}
		return s
	}
	most := ""
	for why, n := range c.whys {
		if most == "" || cmp.Or(cmp.Compare(n, c.whys[most]), strings.Compare(most, why)) > 0 {
			most = why
		}
	}
	s.Message += fmt.Sprintf("%d of them because %s", c.whys[most], most)
	s.Hint = "see GET /api/composer-ingestor/definitions for the reason of each"
	return s
}

// tellSelection logs that no definition of a source is selected, once.
func (s *Scan) tellSelection(chosen *status.Selection) {
	if chosen == nil || chosen.Message == "" {
		s.Once.Changed("selection "+s.Name, "")
		return
	}
	s.Once.Warn(s.Variant.Log, "selection "+s.Name, "no definition selected", "source", s.Name, "found", chosen.Message, "hint", chosen.Hint)
}
