// Package lint reports what is wrong with a definition or a Composition: what Kubernetes
// or Crossplane would reject, what would not reach the developer, and minor issues. It
// changes nothing, and handles broken objects of any kind.
//
// It is one package because the rules share one walk over the schema; each file has the
// rules of one part of a definition.
package lint

import (
	"fmt"
	"strconv"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// perRule is how often one rule is reported for one object before further findings are
// only counted.
const perRule = 20

// Options are expectations of definitions beyond those of clusters.
type Options struct {
	// RequiredLabels are the keys, in the contract's vocabulary, of labels that must be
	// "true". None by default.
	RequiredLabels []string
	// Schemas runs the checks that need the code of an API server. Without it, rules are
	// not compiled.
	Schemas Schemas
}

// Schemas returns what an API server rejects in a schema that this package finds valid.
// It must be safe for concurrent use.
type Schemas interface {
	Check(d *xrd.Definition, v *xrd.Version) []SchemaFault
}

// SchemaFault is something that an API server rejects.
type SchemaFault struct {
	// Rule is the violated rule, usually RuleCEL or RuleDefault.
	Rule string
	// Path is the path from the schema of the version: keys, and indexes of list entries.
	Path []string
	// Message says what is wrong, Hint how to fix it.
	Message, Hint string
}

// Definition returns the findings about d, in reading order.
func Definition(d *xrd.Definition, opts Options) []finding.Finding {
	if d == nil {
		return nil
	}
	l := newLinter(&d.Object)
	l.modern = d.Modern()
	l.about, l.schemas = d, opts.Schemas
	l.definition(d, opts)
	return l.done()
}

// Composition returns the findings about c, in reading order.
func Composition(c *xrd.Composition) []finding.Finding {
	if c == nil {
		return nil
	}
	l := newLinter(&c.Object)
	l.composition(c)
	return l.done()
}

// linter is one run over one object.
type linter struct {
	object, file string
	found        []finding.Finding
	tallies      map[string]*tally
	// errors counts the findings of severity Error.
	errors int
	// path is the current path of the run.
	path []step
	// about is the definition, nil for a Composition; schemas checks its schemas.
	about   *xrd.Definition
	schemas Schemas
	// modern is true if the composites keep Crossplane's fields under spec.crossplane.
	modern bool
	// budget limits the work of checking defaults.
	budget int
	// guesses limits how often a misspelt word is compared with known ones.
	guesses  int
	patterns map[string]*compiled
	indexes  map[*tree.Node]map[string]*tree.Node
	form     form
}

// tally counts how often a rule was reported.
type tally struct {
	count int
	// first is the first finding that was omitted.
	first finding.Finding
}

// step is one step of a path: an index, or a key if index is negative.
type step struct {
	key   string
	index int
}

func newLinter(o *xrd.Object) *linter {
	name := o.Name
	if name == "" {
		name = "unnamed"
	}
	return &linter{object: name, file: o.Origin.File, budget: 100_000, guesses: 200, path: make([]step, 0, 32)}
}

func (l *linter) push(key string) { l.path = append(l.path, step{key: key, index: -1}) }
func (l *linter) pushIndex(i int) { l.path = append(l.path, step{index: i}) }
func (l *linter) pop()            { l.path = l.path[:len(l.path)-1] }
func (l *linter) pushAll(k ...string) {
	for _, key := range k {
		l.push(key)
	}
}
func (l *linter) popAll(n int) { l.path = l.path[:len(l.path)-n] }

// report adds a finding about the entry key at the current path, or about the current
// path itself if key is empty.
func (l *linter) report(rule, key string, pos tree.Pos, hint, format string, args ...any) {
	t := l.tallies[rule]
	if t == nil {
		if l.tallies == nil {
			l.tallies = map[string]*tally{}
		}
		t = &tally{}
		l.tallies[rule] = t
	}
	t.count++
	if severities[rule] == finding.Error {
		l.errors++
	}
	if t.count > perRule+1 {
		return
	}
	f := finding.Finding{
		Rule: rule, Severity: severities[rule], Object: l.object, Path: l.pathTo(key),
		File: l.file, Pos: pos, Message: fmt.Sprintf(format, args...), Hint: hint,
	}
	if t.count > perRule {
		t.first = f
		return
	}
	l.found = append(l.found, f)
}

// pathTo returns the path to key. Keys that are not plain words are quoted, so that a
// path is unambiguous.
func (l *linter) pathTo(key string) string {
	var b strings.Builder
	for _, s := range l.path {
		if s.index >= 0 {
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
			continue
		}
		writeKey(&b, s.key)
	}
	if key != "" {
		writeKey(&b, key)
	}
	return b.String()
}

func writeKey(b *strings.Builder, key string) {
	if key == "" {
		b.WriteString(`[""]`)
		return
	}
	for i := range len(key) {
		c := key[i]
		if c <= ' ' || c >= 0x7f || c == '.' || c == '[' || c == ']' || c == '"' {
			b.WriteString("[" + strconv.Quote(shorten(key)) + "]")
			return
		}
	}
	if b.Len() > 0 {
		b.WriteByte('.')
	}
	b.WriteString(shorten(key))
}

// done returns the findings, with the number of omitted ones.
func (l *linter) done() []finding.Finding {
	for _, r := range Rules {
		t := l.tallies[r.ID]
		if t == nil || t.count <= perRule {
			continue
		}
		f := t.first
		if more := t.count - perRule; more > 1 {
			f.Message = fmt.Sprintf("%d more findings of this rule, starting here: %s", more, f.Message)
		}
		l.found = append(l.found, f)
	}
	finding.Sort(l.found)
	return l.found
}
