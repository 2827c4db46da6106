package wire

import (
	"strings"

	"example.dev/ingestor/document/tree"
)

// List splits a list of objects as an API server sends it: it calls yield for each item,
// not yet decoded, so that an invalid item does not affect the others, and returns the
// rest of the list. The parts to omit are already replaced by null, so that they are not
// kept in memory, and no item keeps the memory of the others alive. A truncated list is
// an error, after its complete items.
func (w Decoder) List(data []byte, yield func(item string)) (*tree.Node, error) {
	p := w.scan(string(data))
	return p.object(func(key string) (*tree.Node, error) {
		if p.space(); key != "items" || p.i == len(p.s) || p.s[p.i] != '[' {
			return p.value(2, nil)
		}
		return nil, p.elements(func() error {
			from := p.i
			if err := p.outline(); err != nil {
				return err
			}
			if len(p.cuts) == 0 {
				yield(strings.Clone(p.s[from:p.i]))
				return nil
			}
			var short strings.Builder
			for _, cut := range p.cuts {
				short.WriteString(p.s[from:cut[0]])
				short.WriteString("null")
				from = cut[1]
			}
			short.WriteString(p.s[from:p.i])
			yield(short.String())
			return nil
		})
	})
}

// outline skips an item and records the ranges to omit.
func (p *scanner) outline() error {
	p.cuts = p.cuts[:0]
	if len(p.omit) == 0 || p.i == len(p.s) || p.s[p.i] != '{' {
		return p.skip()
	}
	_, err := p.object(func(key string) (*tree.Node, error) {
		if key != "metadata" {
			return nil, p.skip()
		}
		return nil, p.trim(p.omit)
	})
	return err
}

// trim skips a value and records the ranges to omit.
func (p *scanner) trim(omit [][]string) error {
	if p.space(); len(omit) == 0 || p.i == len(p.s) {
		return p.skip()
	}
	fields := func() error {
		if p.i == len(p.s) || p.s[p.i] != '{' {
			return p.skip()
		}
		_, err := p.object(func(key string) (*tree.Node, error) {
			whole, rest := below(omit, key)
			if !whole {
				return nil, p.trim(rest)
			}
			p.space()
			from := p.i
			err := p.skip()
			p.cuts = append(p.cuts, [2]int{from, p.i})
			return nil, err
		})
		return err
	}
	if p.s[p.i] == '[' {
		return p.elements(fields)
	}
	return fields()
}

// below returns whether the value of a key is to be omitted, or else which parts of it.
func below(omit [][]string, key string) (whole bool, rest [][]string) {
	for _, path := range omit {
		switch {
		case path[0] != key:
		case len(path) == 1:
			return true, nil
		default:
			rest = append(rest, path[1:])
		}
	}
	return false, rest
}
