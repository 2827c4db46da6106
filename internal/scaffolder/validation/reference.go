package validation

import (
	"net/url"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
)

// bytesPerKept is how many bytes of a stored URI count as a step.
const bytesPerKept = 8

// idOf returns the id of a schema, nil if it has none.
func idOf(schema *tree.Node) *tree.Node {
	if id := schema.Get("$id"); truthy(id) {
		return id
	}
	return schema.Get("id")
}

// baseOf returns the URI that a $ref within a schema is relative to, where base is
// that of the enclosing schema.
func baseOf(base string, schema *tree.Node) string {
	id := idOf(schema).Str()
	if id == "" {
		return base
	}
	return join(base, id)
}

// join resolves a URI against a base; an invalid one is returned unchanged.
func join(base, address string) string {
	if strings.HasPrefix(address, "#") {
		document, _, _ := strings.Cut(base, "#")
		return document + address
	}
	b, err := url.Parse(base)
	if err != nil {
		return address
	}
	a, err := b.Parse(address)
	if err != nil {
		return address
	}
	return a.String()
}

// refer checks the target of a reference in place of the schema that contains it.
func (c *checker) refer(f frame, ref string) {
	c.spend(f, 1)
	c.spendText(f, len(f.base)+len(ref))
	if c.done() {
		return
	}
	full := join(f.base, ref)
	schema, known := c.referred[full]
	if !known {
		c.spend(f, len(full)/bytesPerKept)
		schema = c.find(full)
		if c.referred == nil {
			c.referred = map[string]*tree.Node{}
		}
		c.referred[full] = schema
	}
	if schema == nil {
		c.senseless(f, "$ref", "no schema "+ref)
		return
	}
	f.base = full
	c.check(f.with(schema))
}

// find returns the schema with a URI, nil if there is none.
func (c *checker) find(address string) *tree.Node {
	if c.ids == nil {
		c.ids = map[string]*tree.Node{}
		c.name("", c.root, 0)
	}
	if s := c.ids[address]; s != nil {
		return s
	}
	document, pointer, _ := strings.Cut(address, "#")
	n := c.ids[document]
	if pointer == "" || n == nil {
		return n
	}
	pointer, err := url.PathUnescape(pointer)
	if err != nil || pointer[0] != '/' {
		return nil
	}
	for part := range strings.SplitSeq(pointer[1:], "/") {
		if c.budget.spend(1); c.budget.exhausted() {
			return nil
		}
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		if !n.IsList() {
			n = c.get(n, part)
			continue
		}
		i, err := strconv.Atoi(part)
		if err != nil || i < 0 || i >= len(n.Items) {
			return nil
		}
		n = n.Items[i]
	}
	return n
}

// name collects the schemas that have an id. The first schema with an id wins.
func (c *checker) name(base string, n *tree.Node, depth int) {
	if c.budget.spend(1); depth > mostDepth || c.budget.exhausted() {
		return
	}
	if id := idOf(n); id.IsString() && id.Text != "" || depth == 0 {
		base = strings.TrimSuffix(baseOf(base, n), "#")
		// Each id is stored, and may repeat those of all enclosing schemas.
		c.budget.spend(len(base) / bytesPerKept)
		for _, name := range []string{base, base + "#"} {
			if c.ids[name] == nil {
				c.ids[name] = n
			}
		}
	}
	for _, it := range n.List() {
		c.name(base, it, depth+1)
	}
	if n != nil {
		for _, f := range n.Fields {
			c.name(base, f.Value, depth+1)
		}
	}
}
