package validation

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
)

// truthy reports whether a value is truthy in JavaScript.
func truthy(n *tree.Node) bool {
	if n == nil {
		return false
	}
	switch n.Kind {
	case tree.Null:
		return false
	case tree.Bool:
		return n.Text == "true"
	case tree.Int, tree.Float:
		return n.Text != "0"
	case tree.String:
		return n.Text != ""
	}
	return true
}

// text converts a value to a string as JavaScript does.
func text(n *tree.Node) string {
	if n == nil {
		return "undefined"
	}
	switch n.Kind {
	case tree.Null:
		return "null"
	case tree.Float:
		return number(n.Text)
	case tree.Map:
		return "[object Object]"
	case tree.List:
		var b strings.Builder
		for i, it := range n.Items {
			if i > 0 {
				b.WriteByte(',')
			}
			if !it.IsNull() {
				b.WriteString(text(it))
			}
		}
		return b.String()
	}
	return n.Text
}

// texts joins values. Unlike in a nested list, null is written.
func texts(items []*tree.Node) string {
	parts := make([]string, len(items))
	for i, it := range items {
		parts[i] = text(it)
	}
	return strings.Join(parts, ",")
}

// number formats a number with a fraction or an exponent as JavaScript does.
func number(s string) string {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	if f == 0 {
		return "0"
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	mantissa, exponent, ok := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	if !ok {
		return s
	}
	return mantissa + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0")
}

// ordered returns the entries of a map in JavaScript's iteration order: integer keys
// come first.
func ordered(n *tree.Node) []tree.Field {
	if n == nil {
		return nil
	}
	isIndexed := func(f tree.Field) bool { return isIndex(f.Key) }
	if !slices.ContainsFunc(n.Fields, isIndexed) {
		return n.Fields
	}
	fields := slices.Clone(n.Fields)
	slices.SortStableFunc(fields, func(a, b tree.Field) int {
		switch x, y := isIndex(a.Key), isIndex(b.Key); {
		case x && y && len(a.Key) != len(b.Key):
			return len(a.Key) - len(b.Key)
		case x && y:
			return strings.Compare(a.Key, b.Key)
		case x:
			return -1
		case y:
			return 1
		}
		return 0
	})
	return fields
}

// isIndex reports whether a key is an integer in canonical form.
func isIndex(key string) bool {
	if key == "" || key[0] < '0' || key[0] > '9' {
		return false
	}
	i, err := strconv.ParseUint(key, 10, 32)
	return err == nil && i < math.MaxUint32 && (key[0] != '0' || key == "0")
}

// word returns the string form of a value that should be a name.
func (c *checker) word(f frame, name *tree.Node) string {
	if name.Len() == 0 {
		return text(name)
	}
	s := text(name)
	c.spend(f, name.Len())
	c.spendText(f, len(s))
	return s
}

// get returns an entry of a map, nil if there is none. It builds an index for large
// maps.
func (c *checker) get(n *tree.Node, key string) *tree.Node {
	const few = 16
	if !n.IsMap() || len(n.Fields) <= few {
		return n.Get(key)
	}
	b := c.budget
	index := b.keys[n]
	if index == nil {
		b.spend(len(n.Fields))
		index = make(map[string]*tree.Node, len(n.Fields))
		for _, f := range n.Fields {
			index[f.Key] = f.Value
		}
		if b.keys == nil {
			b.keys = map[*tree.Node]map[string]*tree.Node{}
		}
		b.keys[n] = index
	}
	return index[key]
}
