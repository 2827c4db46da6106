package expression

import (
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
)

// Names returns the sorted names of the parameters that the expressions of a value refer
// to, without duplicates. Texts that cannot be parsed are ignored.
func Names(n *tree.Node) []string {
	var out []string
	for _, ref := range References(n, nil) {
		if ref[0] == "parameters" && len(ref) > 1 {
			out = append(out, ref[1])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// References returns what the expressions of a value look up in a Scope, such as steps,
// apply, output, name; sorted and without duplicates. A reference ends at a computed
// key. Texts that cannot be parsed are ignored. A nil env means Default.
func References(n *tree.Node, env *Env) [][]string {
	if env == nil {
		env = Default()
	}
	c := &collector{env: env, depth: env.Limits.withDefaults().Depth}
	c.node(n, 0)
	slices.SortFunc(c.found, slices.Compare)
	return slices.CompactFunc(c.found, slices.Equal)
}

// collector collects the references of templates.
type collector struct {
	env   *Env
	depth int
	found [][]string
	// own are the variables that the text itself sets.
	own map[string]bool
}

func (c *collector) node(n *tree.Node, depth int) {
	if n == nil || depth > c.depth {
		return
	}
	for _, f := range n.Fields {
		c.node(f.Value, depth+1)
	}
	for _, it := range n.Items {
		c.node(it, depth+1)
	}
	opening, _ := c.env.tags()
	if !n.IsString() || !strings.Contains(n.Text, opening) && !strings.Contains(n.Text, openBlock) {
		return
	}
	if t, bad := parseTemplate(n.Text, c.env, c.depth); bad == nil {
		c.own = map[string]bool{"loop": true, "caller": true}
		c.body(t.body)
	}
}

func (c *collector) set(names ...string) {
	for _, n := range names {
		c.own[n] = true
	}
}

func (c *collector) body(body []statement) {
	for _, s := range body {
		switch s := s.(type) {
		case *valueOut:
			c.expr(s.value)
		case *ifStatement:
			c.branches(s.branches)
		case *forStatement:
			c.expr(s.over)
			c.set(s.targets...)
			c.body(s.body)
			c.body(s.otherwise)
		case *setStatement:
			c.expr(s.value)
			c.body(s.body)
			c.set(s.targets...)
		case *macroStatement:
			c.set(s.name)
			c.params(s.params)
			c.body(s.body)
		case *callStatement:
			c.expr(s.call)
			c.params(s.params)
			c.body(s.body)
		case *filterStatement:
			c.expr(s.filter)
			c.body(s.body)
		case *switchStatement:
			c.expr(s.value)
			c.branches(s.cases)
			c.body(s.otherwise)
		case *blockStatement:
			c.body(s.body)
		}
	}
}

func (c *collector) branches(branches []branch) {
	for _, b := range branches {
		c.expr(b.condition)
		c.body(b.body)
	}
}

func (c *collector) params(p params) {
	c.exprs(p.defaults)
	c.set(p.names...)
	c.set(p.named...)
}

func (c *collector) exprs(all []expr) {
	for _, e := range all {
		c.expr(e)
	}
}

func (c *collector) args(a arguments) {
	c.exprs(a.positional)
	c.exprs(a.named)
}

func (c *collector) expr(e expr) {
	switch e := e.(type) {
	case *symbol, *lookup:
		c.reference(e)
	case *listLiteral:
		c.exprs(e.items)
	case *mapLiteral:
		c.exprs(e.values)
	case *sequence:
		c.exprs(e.items)
	case *span:
		c.exprs([]expr{e.target, e.from, e.to, e.by})
	case *call:
		// The callee is a function of the language, or a method.
		if l, ok := e.callee.(*lookup); ok {
			c.expr(l.target)
		}
		c.args(e.args)
	case *filtered:
		c.expr(e.input)
		c.args(e.args)
	case *choice:
		c.exprs([]expr{e.condition, e.then, e.otherwise})
	case *test:
		c.expr(e.input)
		c.args(e.args)
	case *unary:
		c.expr(e.operand)
	case *binary:
		c.exprs([]expr{e.left, e.right})
	}
}

// reference records a name and the constant keys after it.
func (c *collector) reference(e expr) {
	var keys []string
	for {
		switch at := e.(type) {
		case *symbol:
			if !c.own[at.name] {
				keys = append(keys, at.name)
				slices.Reverse(keys)
				c.found = append(c.found, keys)
			}
			return
		case *lookup:
			key, ok := at.key.(*literal)
			if !ok {
				// Everything after a computed key is unknown.
				c.expr(at.key)
				keys = nil
			} else {
				keys = append(keys, primitiveText(key.value))
			}
			e = at.target
			continue
		}
		c.expr(e)
		return
	}
}
