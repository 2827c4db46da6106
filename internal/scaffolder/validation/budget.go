package validation

import (
	"errors"
	"sync/atomic"
	"time"

	"example.dev/ingestor/document/tree"
)

// The bounds of all checks that share a Budget. A form of two thousand fields
// takes some sixty thousand steps.
const (
	// mostSteps is less than a second of processor time.
	mostSteps    = 3_000_000
	mostProblems = 1000
	// mostText is how much problems say, in bytes, and mostShown how much of
	// schemas and values they show, by weight.
	mostText  = 1 << 20
	mostShown = 50_000
	// patience is how long patterns that backtrack take together.
	patience = time.Second
)

// ErrTooManySteps says that a Budget is used up. What was checked with it is
// not known to be right.
var ErrTooManySteps = errors.New("the schema takes too many steps; simplify oneOf, anyOf, $ref and patterns")

// Budget bounds the work of all checks that share it, which are those of one
// request: however many pages a form has, and however they are nested, they
// take about a second of processor time together, and far less than 100 MB. It
// counts steps and not time, so that the same form and values always have the
// same result. A Budget is for one goroutine.
type Budget struct {
	// steps are those that are left.
	steps int
	// problems counts those that were found, text what they say and shown what
	// they show.
	problems, text, shown int
	// keys finds the entries of large maps.
	keys     map[*tree.Node]map[string]*tree.Node
	patterns map[string]*pattern
	// impatient is set when patterns that backtrack have taken too long, which
	// is the one thing that only a clock can bound.
	impatient *atomic.Bool
}

// NewBudget returns the budget of one request.
func NewBudget() *Budget { return &Budget{steps: mostSteps} }

// spend takes steps away.
func (b *Budget) spend(steps int) {
	if steps > b.steps {
		b.steps = -1
		return
	}
	b.steps -= steps
}

// exhausted reports whether no steps are left.
func (b *Budget) exhausted() bool { return b.steps < 0 }

// over reports whether no check goes on: there are no steps left, or there are
// problems enough.
func (b *Budget) over() bool {
	return b.exhausted() || b.problems >= mostProblems || b.text > mostText
}

// found counts a problem.
func (b *Budget) found(p *Problem) {
	b.problems++
	b.text += len(p.Message) + len(p.Property)
}

// wait reports whether a pattern that backtracks may be tried. The clock runs
// from the first one on.
func (b *Budget) wait() bool {
	if b.impatient == nil {
		late := new(atomic.Bool)
		b.impatient = late
		time.AfterFunc(patience, func() { late.Store(true) })
	}
	return !b.impatient.Load()
}

// giveUp ends the trying of patterns that backtrack.
func (b *Budget) giveUp() { b.impatient.Store(true) }

// shorten leaves the schema and the instance out of those problems with which
// an answer would grow beyond all measure: two thousand fields that are missing
// would bring the whole page two thousand times.
func (b *Budget) shorten(problems []Problem) {
	sizes := map[*tree.Node]int{}
	size := func(n *tree.Node) int {
		if n.Len() == 0 {
			return weight(n)
		}
		if sizes[n] == 0 {
			sizes[n] = weight(n)
		}
		return sizes[n]
	}
	for i := range problems {
		p := &problems[i]
		first := b.shown == 0
		b.shown += size(p.Schema) + size(p.Instance)
		if !first && b.shown > mostShown {
			p.Schema, p.Instance = nil, nil
		}
	}
}

// weight is how much of an answer a value takes, roughly: one for each scalar
// and key, more for long ones.
func weight(n *tree.Node) int {
	const line = 64
	if n == nil {
		return 0
	}
	w := 1 + len(n.Text)/line
	for _, it := range n.Items {
		w += weight(it)
	}
	for _, f := range n.Fields {
		w += 1 + len(f.Key)/line + weight(f.Value)
	}
	return w
}
