package values

import "example.dev/ingestor/tree"

// required is the keyword required: a list, or true in the schema of what may
// not be missing.
func (c *checker) required(f frame, word *tree.Node) {
	if f.value == nil && word.IsTrue() {
		c.fail(f, "required", "is required", nil)
		return
	}
	if !f.value.IsMap() || !word.IsList() {
		return
	}
	for _, name := range word.Items {
		if c.spend(f, 1); c.done() {
			return
		}
		if c.get(f.value, text(name)) == nil {
			c.fail(f, "required", "requires property "+quote(name), name)
		}
	}
}

// object is the keywords about maps.
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
		for _, entry := range ordered(f.value) {
			c.additional(f, entry)
		}
	case "minProperties":
		if !atLeast(len(f.value.Fields), word) {
			c.fail(f, key, "does not meet minimum property length of "+text(word), word)
		}
	case "maxProperties":
		if !atMost(len(f.value.Fields), word) {
			c.fail(f, key, "does not meet maximum property length of "+text(word), word)
		}
	case "dependencies":
		for _, dependency := range ordered(word) {
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
	for _, entry := range ordered(f.value) {
		additional := true
		for _, p := range ordered(word) {
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
			c.additional(f, entry)
		}
	}
}

// additional checks an entry that only additionalProperties may speak of.
func (c *checker) additional(f frame, entry tree.Field) {
	if c.spend(f, 1); c.done() || c.get(f.schema.Get("properties"), entry.Key) != nil {
		return
	}
	schema := f.schema.Get("additionalProperties")
	if schema != nil && schema.Kind == tree.Bool && !schema.IsTrue() {
		c.fail(f, "additionalProperties", "is not allowed to have the additional property "+quote(tree.Str(entry.Key)), tree.Str(entry.Key))
		return
	}
	if truthy(schema) {
		c.check(f.key(entry.Key, entry.Value, schema))
	}
}

// dependency is what has to hold if a property is there: others are too, or
// the whole fits a schema. The real one says of the latter's problems that they
// are at the property.
func (c *checker) dependency(f frame, dependency tree.Field) {
	if dependency.Value.IsNull() {
		c.senseless(f, "dependencies", "the dependency of "+dependency.Key+" is null")
		return
	}
	child := f.key(dependency.Key, f.value, dependency.Value)
	asked := tree.Str(property(child.at.path()))
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
		c.fail(f, "dependencies", "does not meet dependency required by "+asked.Text, asked)
		c.lead(before)
		return
	}
	for _, name := range names {
		if c.get(f.value, text(name)) == nil {
			c.fail(f, "dependencies", "property "+text(name)+" not found, required by "+asked.Text, asked)
		}
	}
}

// list is the keywords about lists.
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
			if c.fits(f.item(i, it, word)) {
				return
			}
		}
		c.fail(f, key, "must contain an item matching given schema", word)
	case "minItems":
		if !atLeast(len(f.value.Items), word) {
			c.fail(f, key, "does not meet minimum length of "+text(word), word)
		}
	case "maxItems":
		if !atMost(len(f.value.Items), word) {
			c.fail(f, key, "does not meet maximum length of "+text(word), word)
		}
	case "uniqueItems":
		if word.IsTrue() && hasDuplicates(f.value.Items) {
			c.fail(f, key, "contains duplicate item", nil)
		}
	}
}

func (c *checker) items(f frame, word *tree.Node) {
	for i, it := range f.value.Items {
		schema := word
		if word.IsList() {
			schema = f.schema.Get("additionalItems")
			if i < len(word.Items) {
				schema = word.Items[i]
			}
		}
		switch {
		case c.done():
			return
		case schema == nil:
		case schema.Kind == tree.Bool && !schema.IsTrue():
			c.fail(f, "items", "additionalItems not permitted", nil)
			return
		default:
			c.check(f.item(i, it, schema))
		}
	}
}

func hasDuplicates(items []*tree.Node) bool {
	seen := make(map[string]bool, len(items))
	var buf []byte
	for _, it := range items {
		buf = tree.AppendCanonical(buf[:0], it)
		if seen[string(buf)] {
			return true
		}
		seen[string(buf)] = true
	}
	return false
}

// quote writes a value as JSON.
func quote(n *tree.Node) string { return string(tree.AppendJSON(nil, n, "")) }
