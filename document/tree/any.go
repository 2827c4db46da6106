package tree

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// Any returns n as plain Go values, as encoding/json does: nil, bool, int64 or float64
// (json.Number if neither can hold the number), string, []any and map[string]any.
func (n *Node) Any() any {
	if n == nil {
		return nil
	}
	switch n.Kind {
	case Bool:
		return n.Text == "true"
	case Int:
		if i, err := strconv.ParseInt(n.Text, 10, 64); err == nil {
			return i
		}
		return json.Number(n.Text)
	case Float:
		f, err := strconv.ParseFloat(n.Text, 64)
		if err != nil {
			return json.Number(n.Text)
		}
		return f
	case String:
		return n.Text
	case List:
		out := make([]any, len(n.Items))
		for i, it := range n.Items {
			out[i] = it.Any()
		}
		return out
	case Map:
		out := make(map[string]any, len(n.Fields))
		for _, f := range n.Fields {
			out[f.Key] = f.Value.Any()
		}
		return out
	}
	return nil
}

// From makes a Node from plain Go values: those that Any returns, the other integer and
// float types, []string, map[string]string, and Nodes themselves. Maps are sorted by
// key. Anything else is an error.
func From(v any) (*Node, error) {
	switch v := v.(type) {
	case nil:
		return Nil(), nil
	case *Node:
		return v, nil
	case bool:
		return Boolean(v), nil
	case string:
		return Str(v), nil
	case int:
		return Number(int64(v)), nil
	case int8:
		return Number(int64(v)), nil
	case int16:
		return Number(int64(v)), nil
	case int32:
		return Number(int64(v)), nil
	case int64:
		return Number(v), nil
	case uint:
		return From(uint64(v))
	case uint8:
		return Number(int64(v)), nil
	case uint16:
		return Number(int64(v)), nil
	case uint32:
		return Number(int64(v)), nil
	case uint64:
		return &Node{Kind: Int, Text: strconv.FormatUint(v, 10)}, nil
	case float32:
		return floatNode(float64(v))
	case float64:
		return floatNode(v)
	case json.Number:
		return ParseNumber(string(v))
	case []string:
		n := Strs(v)
		if n == nil {
			n = Arr()
		}
		return n, nil
	case map[string]string:
		n := StrMap(v)
		if n == nil {
			n = Obj()
		}
		return n, nil
	case []any:
		n := &Node{Kind: List, Items: make([]*Node, len(v))}
		for i, it := range v {
			c, err := From(it)
			if err != nil {
				return nil, err
			}
			n.Items[i] = c
		}
		return n, nil
	case map[string]any:
		n := &Node{Kind: Map, Fields: make([]Field, 0, len(v))}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			c, err := From(v[k])
			if err != nil {
				return nil, err
			}
			n.Fields = append(n.Fields, F(k, c))
		}
		return n, nil
	}
	return nil, fmt.Errorf("cannot convert %T to a node", v)
}

// floatNode makes a number node from f; a whole number becomes an Int (see Kind).
func floatNode(f float64) (*Node, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("cannot write number %v: JSON does not support it", f)
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return Number(int64(f)), nil
	}
	return &Node{Kind: Float, Text: strconv.FormatFloat(f, 'g', -1, 64)}, nil
}

// ParseNumber makes a number node from the text of a JSON number.
func ParseNumber(s string) (*Node, error) {
	const surelyFits = 300
	whole := IsDecimal(s)
	if whole && len(s) <= surelyFits {
		return &Node{Kind: Int, Text: s}, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if errors.Is(err, strconv.ErrRange) {
		return nil, fmt.Errorf("cannot read number %.40s: out of range", s)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read number %.40q", s)
	}
	if whole {
		return &Node{Kind: Int, Text: s}, nil
	}
	return floatNode(f)
}

// IsDecimal reports whether s is an integer in canonical decimal form.
func IsDecimal(s string) bool {
	d := s
	if len(d) > 1 && d[0] == '-' {
		d = d[1:]
	}
	if d == "" || d[0] == '0' && s != "0" {
		return false
	}
	for i := range len(d) {
		if d[i] < '0' || d[i] > '9' {
			return false
		}
	}
	return true
}
