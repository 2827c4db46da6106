package expression

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// testArguments maps the tests to their number of arguments.
var testArguments = map[string]int{
	"callable": 0, "defined": 0, "divisibleby": 1, "escaped": 0, "eq": 1, "equalto": 1, "even": 0, "falsy": 0,
	"ge": 1, "greaterthan": 1, "gt": 1, "iterable": 0, "le": 1, "lessthan": 1, "lower": 0, "lt": 1, "mapping": 0,
	"ne": 1, "null": 0, "number": 0, "odd": 0, "sameas": 1, "string": 0, "truthy": 0, "undefined": 0, "upper": 0,
}

func (m *machine) tests(e *test) value {
	v := m.eval(e.input)
	return m.passes(e.name, v, m.given(e.args), e.at())
}

// knownTest rejects a test that does not exist or has the wrong number of arguments.
func knownTest(name string, a given, at int) {
	want, ok := testArguments[name]
	if !ok {
		bail(at, near(name, slices.Collect(maps.Keys(testArguments)), ""), "unknown test %s", short(name))
	}
	if len(a.positional) != want || len(a.names) > 0 {
		bail(at, "", "test %s takes %d arguments", name, want)
	}
}

// passes applies a test.
func (m *machine) passes(name string, v value, a given, at int) bool {
	knownTest(name, a, at)
	switch name {
	case "eq", "equalto", "sameas":
		return m.same(v, a.at(0))
	case "ne":
		return !m.same(v, a.at(0))
	case "ge", "greaterthan", "gt", "le", "lessthan", "lt":
		order, ok := m.compare(v, a.at(0), at)
		operator := map[byte]string{'g': ">", 'l': "<"}[name[0]]
		if name[1:] == "e" {
			operator += "="
		}
		return ok && ordered(operator, order)
	case "divisibleby":
		return math.Mod(m.numberOf(v, at), m.numberOf(a.at(0), at)) == 0
	case "even":
		return math.Mod(m.numberOf(v, at), 2) == 0
	case "odd":
		return math.Mod(m.numberOf(v, at), 2) == 1
	case "lower", "upper":
		return m.cased(name, v, at)
	}
	return m.is(name, v, at)
}

func (m *machine) cased(name string, v value, at int) bool {
	s, ok := v.(string)
	if !ok {
		if _, isSafe := v.(safe); isSafe {
			return false
		}
		bail(at, "convert it with | string", "test %s takes a string, not %s", name, kindOf(v))
	}
	m.spendText(len(s))
	if name == "lower" {
		return strings.ToLower(s) == s
	}
	return upper(s) == s
}

// is applies the tests about the type of a value.
func (m *machine) is(name string, v value, at int) bool {
	switch name {
	case "falsy":
		return !truthy(v)
	case "truthy":
		return truthy(v)
	case "defined":
		return v != undefined{}
	}
	switch v.(type) {
	case undefined, none:
		if name == "iterable" {
			bail(at, "check it with is defined first", "test iterable cannot check %s", kindOf(v))
		}
		return name == "undefined" && v == undefined{} || name == "null" && v == none{}
	case number, exact:
		return name == "number"
	case string:
		return name == "string" || name == "iterable"
	case safe:
		return name == "escaped" || name == "iterable" || name == "mapping"
	case *list:
		return name == "iterable"
	case *record, *pattern:
		return name == "mapping"
	case *function:
		return name == "callable"
	}
	return false
}
