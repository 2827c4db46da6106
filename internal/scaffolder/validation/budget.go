package validation

import (
	"errors"
	"sync/atomic"
	"time"

	"example.dev/ingestor/document/tree"
)

// Limits of all checks that share a Budget. A form with two thousand fields takes
// about sixty thousand steps.
const (
	// mostSteps takes less than a second of CPU time.
	mostSteps    = 3_000_000
	mostProblems = 1000
	// mostText limits the messages of problems, in bytes, and mostShown the schemas and
	// values in them, by weight.
	mostText  = 1 << 20
	mostShown = 50_000
	// patience is the total time limit of patterns that backtrack.
	patience = time.Second
)

// ErrTooManySteps says that a Budget is used up. The values checked with it are not
// known to be valid.
var ErrTooManySteps = errors.New("schema is too complex; simplify oneOf, anyOf, $ref and patterns")

// Budget limits the work of all checks that share it, which are those of one request:
// however many pages a form has, and however they are nested, together they take
// about a second of CPU time, and far less than 100 MB. It counts steps instead of
// time, so that the same form and values always have the same result. A Budget is for
// one goroutine.
type Budget struct {
	// steps is how many steps are left.
	steps int
	// problems counts the problems found, text the bytes of their messages, and shown
	// the weight of the schemas and values in them.
	problems, text, shown int
	// keys are indexes of large maps.
	keys     map[*tree.Node]map[string]*tree.Node
	patterns map[string]*pattern
	// impatient is set when patterns that backtrack have taken too long, the only limit
	// that needs a clock.
	impatient *atomic.Bool
}

// NewBudget returns the budget of one request.
func NewBudget() *Budget { return &Budget{steps: mostSteps} }

// spend uses up steps.
func (b *Budget) spend(steps int) {
	if steps > b.steps {
		b.steps = -1
		return
	}
	b.steps -= steps
}

// exhausted reports whether no steps are left.
func (b *Budget) exhausted() bool { return b.steps < 0 }

// over reports whether checks stop: no steps are left, or enough problems were found.
func (b *Budget) over() bool {
	return b.exhausted() || b.problems >= mostProblems || b.text > mostText
}

// found counts a problem.
func (b *Budget) found(p *Problem) {
	b.problems++
	b.text += len(p.Message) + len(p.Property)
}

// wait reports whether a pattern that backtracks may be tried. The time limit starts
// with the first one.
func (b *Budget) wait() bool {
	if b.impatient == nil {
		late := new(atomic.Bool)
		b.impatient = late
		time.AfterFunc(patience, func() { late.Store(true) })
	}
	return !b.impatient.Load()
}

// giveUp stops trying patterns that backtrack.
func (b *Budget) giveUp() { b.impatient.Store(true) }

// shorten omits the schema and the instance from problems once the response would get
// too large: for two thousand missing fields it would contain the whole page two
// thousand times.
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

// weight is the approximate share of a value in a response: one for each scalar and
// key, more for long ones.
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
