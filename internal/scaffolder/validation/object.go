package validation

import "example.dev/ingestor/document/tree"

// required checks the keyword required: a list, or true in the schema of a property
// that must be present.
func (c *checker) required(f frame, word *tree.Node) {
	if f.value == nil && word.IsTrue() {
		c.fail(f, "required", nil, func() string { return "is required" })
		return
	}
	if !f.value.IsMap() || !word.IsList() {
		return
	}
	for _, name := range word.Items {
		if c.spend(f, 1); c.done() {
			return
		}
		if c.get(f.value, c.word(f, name)) == nil {
			c.fail(f, "required", name, func() string { return "requires property " + quote(name) })
		}
	}
}

// object checks the keywords about maps.
func (c *checker) object(f frame, key string, word *tree.Node) {
	switch key {
	case "properties":
		c.properties(f, word)
	case "propertyNames":
		if !isSchema(word) {
			c.senseless(f, key, "propertyNames is not a schema")
			return
		}
		for _, entry := range ordered(f.value) {
			if c.done() {
				return
			}
			name := f.with(word)
			name.base = baseOf(f.base, word)
			name.value = tree.Str(entry.Key)
			c.check(name)
		}
	case "patternProperties":
		c.patternProperties(f, word)
	case "additionalProperties":
		if truthy(f.schema.Get("patternProperties")) {
			return
		}
		schema, properties := f.schema.Get("additionalProperties"), f.schema.Get("properties")
		for _, entry := range ordered(f.value) {
			if c.done() {
				return
			}
			c.additional(f, entry, schema, properties)
		}
	case "minProperties":
		if c.spend(f, numberSteps); !atLeast(len(f.value.Fields), word) {
			c.fail(f, key, word, func() string { return "does not meet minimum property length of " + text(word) })
		}
	case "maxProperties":
		if c.spend(f, numberSteps); !atMost(len(f.value.Fields), word) {
			c.fail(f, key, word, func() string { return "does not meet maximum property length of " + text(word) })
		}
	case "dependencies":
		for _, dependency := range ordered(word) {
			if c.spend(f, 1); c.done() {
				return
			}
			if c.get(f.value, dependency.Key) != nil {
				c.dependency(f, dependency)
			}
		}
	}
}

func (c *checker) properties(f frame, word *tree.Node) {
	for _, p := range ordered(word) {
		if c.done() {
			return
		}
		if p.Value.IsNull() {
			c.senseless(f, "properties", "the schema of "+p.Key+" is null")
			return
		}
		c.check(f.key(p.Key, c.get(f.value, p.Key), p.Value))
	}
}

func (c *checker) patternProperties(f frame, word *tree.Node) {
	schema, properties := f.schema.Get("additionalProperties"), f.schema.Get("properties")
	patterns := ordered(word)
	for _, entry := range ordered(f.value) {
		additional := true
		for _, p := range patterns {
			if c.spend(f, 1); c.done() {
				return
			}
			if p.Value.IsNull() {
				c.senseless(f, "patternProperties", "the schema of "+p.Key+" is null")
				return
			}
			if !c.matches(f, "patternProperties", p.Key, entry.Key) {
				continue
			}
			additional = false
			c.check(f.key(entry.Key, entry.Value, p.Value))
		}
		if additional {
			c.additional(f, entry, schema, properties)
		}
	}
}

// additional checks an entry that is covered only by additionalProperties, whose
// value is schema.
func (c *checker) additional(f frame, entry tree.Field, schema, properties *tree.Node) {
	if c.spend(f, 1); c.done() || c.get(properties, entry.Key) != nil {
		return
	}
	if schema != nil && schema.Kind == tree.Bool && !schema.IsTrue() {
		key := tree.Str(entry.Key)
		c.fail(f, "additionalProperties", key, func() string { return "is not allowed to have the additional property " + quote(key) })
		return
	}
	if truthy(schema) {
		c.check(f.key(entry.Key, entry.Value, schema))
	}
}

// dependency checks what must hold if a property is present: other properties are
// present too, or the whole value matches a schema. Like upstream, it reports the
// problems of the latter at the property.
func (c *checker) dependency(f frame, dependency tree.Field) {
	if dependency.Value.IsNull() {
		c.senseless(f, "dependencies", "the dependency of "+dependency.Key+" is null")
		return
	}
	child := f.key(dependency.Key, f.value, dependency.Value)
	var asked *tree.Node
	if c.tries == 0 {
		asked = tree.Str(property(child.at.path()))
	}
	names := []*tree.Node{dependency.Value}
	switch {
	case dependency.Value.IsList():
		names = dependency.Value.Items
	case !dependency.Value.IsString():
		before := len(c.problems)
		c.check(child)
		if len(c.problems) == before {
			return
		}
		c.fail(f, "dependencies", asked, func() string { return "does not meet dependency required by " + asked.Text })
		c.lead(before)
		return
	}
	for _, name := range names {
		if c.spend(f, 1); c.done() {
			return
		}
		key := c.word(f, name)
		if c.get(f.value, key) == nil {
			c.fail(f, "dependencies", asked, func() string { return "property " + key + " not found, required by " + asked.Text })
		}
	}
}

// list checks the keywords about lists.
func (c *checker) list(f frame, key string, word *tree.Node) {
	switch key {
	case "items":
		c.items(f, word)
	case "contains":
		if !isSchema(word) {
			c.senseless(f, key, "contains is not a schema")
			return
		}
		for i, it := range f.value.Items {
			if c.fits(f.item(i, it, word)) || c.done() {
				return
			}
		}
		c.fail(f, key, word, func() string { return "must contain an item matching given schema" })
	case "minItems":
		if c.spend(f, numberSteps); !atLeast(len(f.value.Items), word) {
			c.fail(f, key, word, func() string { return "does not meet minimum length of " + text(word) })
		}
	case "maxItems":
		if c.spend(f, numberSteps); !atMost(len(f.value.Items), word) {
			c.fail(f, key, word, func() string { return "does not meet maximum length of " + text(word) })
		}
	case "uniqueItems":
		if word.IsTrue() && c.hasDuplicates(f, f.value.Items) {
			c.fail(f, key, nil, func() string { return "contains duplicate item" })
		}
	}
}

func (c *checker) items(f frame, word *tree.Node) {
	additional := f.schema.Get("additionalItems")
	for i, it := range f.value.Items {
		schema := word
		if word.IsList() {
			schema = additional
			if i < len(word.Items) {
				schema = word.Items[i]
			}
		}
		switch {
		case c.done():
			return
		case schema == nil:
			c.spend(f, 1)
		case schema.Kind == tree.Bool && !schema.IsTrue():
			c.fail(f, "items", nil, func() string { return "additionalItems not permitted" })
			return
		default:
			c.check(f.item(i, it, schema))
		}
	}
}

func (c *checker) hasDuplicates(f frame, items []*tree.Node) bool {
	seen := make(map[string]bool, len(items))
	var buf []byte
	for _, it := range items {
		buf = tree.AppendCanonical(buf[:0], it)
		c.spend(f, 1)
		if c.spendText(f, len(buf)); c.done() {
			return false
		}
		if seen[string(buf)] {
			return true
		}
		seen[string(buf)] = true
	}
	return false
}

// equal reports whether two values are the same JSON. It spends steps for what it
// compares.
func (c *checker) equal(f frame, a, b *tree.Node) bool {
	if c.spend(f, 1); a == nil || b == nil {
		return a == b
	}
	if a.Kind != b.Kind || len(a.Text) != len(b.Text) || len(a.Fields) != len(b.Fields) || len(a.Items) != len(b.Items) || c.budget.exhausted() {
		return false
	}
	if c.spendText(f, len(a.Text)); a.Text != b.Text {
		return false
	}
	for i, x := range a.Fields {
		// Usually both sides have the same order.
		y := b.Fields[i].Value
		if b.Fields[i].Key != x.Key {
			if y = c.get(b, x.Key); y == nil {
				return false
			}
		}
		if !c.equal(f, x.Value, y) {
			return false
		}
	}
	for i, x := range a.Items {
		if !c.equal(f, x, b.Items[i]) {
			return false
		}
	}
	return true
}

// quote encodes a value as JSON.
func quote(n *tree.Node) string { return string(tree.AppendJSON(nil, n, "")) }
