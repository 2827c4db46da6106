package expression

import (
	"strings"

	"example.dev/ingestor/document/tree"
)

// machine evaluates templates. It counts its work over all texts of one value.
type machine struct {
	env    *Env
	limits Limits
	scope  Scope
	// boxes are the lists and objects of the scope that were accessed.
	boxes map[*tree.Node]value
	// indexes are the field indexes of large objects of the scope.
	indexes map[*tree.Node]map[string]*tree.Node
	// changed is true if a method has modified a list, so that nodes may no longer match
	// their boxes.
	changed bool
	steps   int
	depth   int
	// here is the current offset in the text.
	here int
	// root are the variables of the text itself, vars those of the innermost loop or macro.
	root, vars *variables
}

// variables are the variables that a text sets.
type variables struct {
	names  map[string]value
	parent *variables
	// closed is true if outer variables are visible but cannot be set.
	closed bool
}

func (v *variables) inner(closed bool) *variables {
	return &variables{names: map[string]value{}, parent: v, closed: closed}
}

func (v *variables) get(name string) (value, bool) {
	for ; v != nil; v = v.parent {
		if found, ok := v.names[name]; ok {
			return found, true
		}
	}
	return nil, false
}

// assign sets a variable where it is defined, else in v.
func (v *variables) assign(name string, to value) {
	for at := v; at != nil; at = at.parent {
		if _, ok := at.names[name]; ok {
			at.names[name] = to
			return
		}
		if at.closed {
			break
		}
	}
	v.names[name] = to
}

func newMachine(scope Scope, env *Env) *machine {
	return &machine{env: env, limits: env.Limits.withDefaults(), scope: scope, boxes: map[*tree.Node]value{}}
}

// begin discards the variables and changes of the previous text.
func (m *machine) begin() {
	m.root = (*variables)(nil).inner(true)
	m.vars = m.root
	m.depth, m.here = 0, 0
	if m.changed {
		m.boxes, m.changed = map[*tree.Node]value{}, false
	}
}

// value evaluates a template to the value of its only expression, or to a text.
func (m *machine) value(t *template) (n *tree.Node, bad *fault) {
	sole := t.sole()
	if sole == nil {
		s, bad := m.text(t)
		if bad != nil {
			return nil, bad
		}
		return tree.Str(s), nil
	}
	defer m.name(t, &bad)
	defer caught(&bad)
	m.begin()
	return m.unbox(m.eval(sole), sole.at(), 0), nil
}

// text evaluates a template to a text.
func (m *machine) text(t *template) (s string, bad *fault) {
	defer m.name(t, &bad)
	defer caught(&bad)
	m.begin()
	var b strings.Builder
	m.run(t.body, &b)
	return b.String(), nil
}

// name sets the tag of a fault.
func (m *machine) name(t *template, bad **fault) {
	if *bad != nil {
		(*bad).tag = tagAround(t.text, (*bad).at, m.env)
	}
}

// spend counts work, and aborts when the limit is exceeded.
func (m *machine) spend(n int) {
	if n < 0 || n > m.limits.Steps-m.steps {
		m.steps = m.limits.Steps
		bail(m.here, "use fewer iterations or smaller values", "evaluation takes more than %d steps", m.limits.Steps)
	}
	m.steps += n
}

// bytesPerStep is how many bytes of text count as one step.
const bytesPerStep = 32

// spendText counts the work of making a text.
func (m *machine) spendText(bytes int) {
	m.spend(1 + bytes/bytesPerStep)
}

// look counts the work of traversing a value.
func (m *machine) look(v value) {
	switch v := v.(type) {
	case string:
		m.spendText(len(v))
	case safe:
		m.spendText(len(v))
	case *list:
		m.spend(len(m.items(v)))
	case *record:
		if v.node != nil {
			m.spend(len(v.node.Fields) / fieldsPerStep)
		}
	}
}

// fieldsPerStep is how many fields of an object that a filter may traverse count as one
// step.
const fieldsPerStep = 16

// grown aborts if a text is too long.
func (m *machine) grown(bytes, at int) {
	if bytes < 0 || bytes > m.limits.Output {
		bail(at, "make it shorter", "result is larger than %d bytes", m.limits.Output)
	}
}

// made counts a new text and returns it.
func (m *machine) made(s string) string {
	m.grown(len(s), m.here)
	m.spendText(len(s))
	return s
}

// deeper limits recursion. The returned function undoes it.
func (m *machine) deeper(at int) func() {
	if m.depth++; m.depth > m.limits.Depth {
		panic(tooDeep(at))
	}
	return func() { m.depth-- }
}
