package expression

import (
	"strings"

	"example.dev/ingestor/document/tree"
)

// machine evaluates. It counts what it does, over all texts of one value.
type machine struct {
	env    *Env
	limits Limits
	scope  Scope
	// boxes are the lists and objects of the scope that were looked at.
	boxes map[*tree.Node]value
	// indexes find the fields of large objects of the scope.
	indexes map[*tree.Node]map[string]*tree.Node
	// changed says that a method has changed a list, so that nodes no longer
	// tell what is in their boxes.
	changed bool
	steps   int
	depth   int
	// here is where the machine is in the text.
	here int
	// root are the names of the text itself, vars those of the innermost loop
	// or macro.
	root, vars *variables
}

// variables are the names that a text sets.
type variables struct {
	names  map[string]value
	parent *variables
	// closed says that names beyond are seen but not set.
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

// assign sets a name where it is, or else here.
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

// begin forgets what the text before has set and changed.
func (m *machine) begin() {
	m.root = (*variables)(nil).inner(true)
	m.vars = m.root
	m.depth, m.here = 0, 0
	if m.changed {
		m.boxes, m.changed = map[*tree.Node]value{}, false
	}
}

// value evaluates a template: to the value of the expression it is, or to a
// text.
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

// name tells a fault in which tag it is.
func (m *machine) name(t *template, bad **fault) {
	if *bad != nil {
		(*bad).tag = tagAround(t.text, (*bad).at, m.env)
	}
}

// spend counts work, and ends it when there is too much.
func (m *machine) spend(n int) {
	if n < 0 || n > m.limits.Steps-m.steps {
		m.steps = m.limits.Steps
		bail(m.here, "make fewer rounds, or smaller values", "it takes too much work: more than %d steps", m.limits.Steps)
	}
	m.steps += n
}

// bytesPerStep is how much text counts as a step.
const bytesPerStep = 32

// spendText counts the making of a text.
func (m *machine) spendText(bytes int) {
	m.spend(1 + bytes/bytesPerStep)
}

// look counts the looking through a value.
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

// fieldsPerStep is how many fields of an object that a filter may look through
// count as a step.
const fieldsPerStep = 16

// grown ends the making of a text that is too long.
func (m *machine) grown(bytes, at int) {
	if bytes < 0 || bytes > m.limits.Output {
		bail(at, "make it shorter", "it makes a text of more than %d bytes", m.limits.Output)
	}
}

// made returns a text that was made, after counting it.
func (m *machine) made(s string) string {
	m.grown(len(s), m.here)
	m.spendText(len(s))
	return s
}

// deeper guards what calls itself. What it returns undoes it.
func (m *machine) deeper(at int) func() {
	if m.depth++; m.depth > m.limits.Depth {
		panic(tooDeep(at))
	}
	return func() { m.depth-- }
}
