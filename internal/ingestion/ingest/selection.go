package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// Selection says how many of a source's definitions are selected.
type Selection struct {
	Found    int `json:"found"`
	Selected int `json:"selected"`
	// Message says why none is selected, and Hint how to change that; both are empty if
	// one is, or if there are none.
	Message string `json:"message,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

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

// wordsOf returns the vocabulary of the definitions in a list.
func wordsOf(list string) words.Vocabulary {
	_, group, _ := strings.Cut(strings.TrimPrefix(list, listDefinitions), ".")
	return words.Of(group + "/")
}

// selection returns the result of the selection; nil if there were no definitions.
func (p *variant) selection(c *picks) *Selection {
	if c.found == 0 {
		return nil
	}
	s := &Selection{Found: c.found, Selected: c.selected}
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
		s.Hint = fmt.Sprintf("kubectl label %s.%s %s %s=true", strings.ToLower(xrd.KindDefinition)+"s", c.speaks.Out(words.Group, words.GroupExtensions), c.first, label)
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
func (s *scan) tellSelection(chosen *Selection) {
	if chosen == nil || chosen.Message == "" {
		s.variant.in.news("selection "+s.name, "")
		return
	}
	s.variant.in.warn(s.variant.Log, "selection "+s.name, "no definition selected", "source", s.name, "found", chosen.Message, "hint", chosen.Hint)
}

// DefinitionStatus is a definition in a source, and whether it is selected.
type DefinitionStatus struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	// Cluster is the name of the cluster; empty for folders and repositories.
	Cluster string `json:"cluster,omitempty"`
	// File is the file that contains it; empty for clusters.
	File     string `json:"file,omitempty"`
	Selected bool   `json:"selected"`
	// Why says why it is not selected.
	Why string `json:"why,omitempty"`
}

// DefinitionsQuery selects definitions. Empty fields match all.
type DefinitionsQuery struct {
	Source, Cluster string
	Selected        *bool
	Limit, Offset   int
}

// Definitions returns a page of the definitions of all sources, sorted by name and
// source, and their total number.
func (in *Ingest) Definitions(ctx context.Context, q DefinitionsQuery) (items []DefinitionStatus, total int, err error) {
	all := []DefinitionStatus{}
	for _, p := range in.places {
		if q.Source != "" && p.name != q.Source || q.Cluster != "" && (!p.cluster || p.at != q.Cluster) {
			continue
		}
		objects, err := in.Mirror.SourceObjects(ctx, p.name)
		if err != nil {
			return nil, 0, err
		}
		for i := range objects {
			o := &objects[i]
			if o.Unit == "" || o.List != listFolder && !strings.HasPrefix(o.List, listDefinitions) {
				continue
			}
			kept := noteOf(o)
			d := DefinitionStatus{Name: o.Unit, Source: p.name, File: kept.Origin.File, Selected: kept.Refused == "", Why: kept.Refused}
			if p.cluster {
				d.Cluster = p.at
			}
			if q.Selected == nil || *q.Selected == d.Selected {
				all = append(all, d)
			}
		}
	}
	slices.SortFunc(all, func(a, b DefinitionStatus) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Source, b.Source), strings.Compare(a.File, b.File))
	})
	page := all[min(q.Offset, len(all)):]
	return page[:min(q.Limit, len(page))], len(all), nil
}
