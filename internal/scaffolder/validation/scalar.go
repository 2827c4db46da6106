package validation

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.dev/ingestor/document/tree"
)

// numberSteps is the cost of a keyword about numbers or lengths, which are compared
// as fractions of any size.
const numberSteps = 16

// string checks the keywords about strings.
func (c *checker) string(f frame, key string, word *tree.Node) {
	switch key {
	case "minLength":
		if !atLeast(c.length(f), word) {
			c.fail(f, key, word, func() string { return "does not meet minimum length of " + text(word) })
		}
	case "maxLength":
		if !atMost(c.length(f), word) {
			c.fail(f, key, word, func() string { return "does not meet maximum length of " + text(word) })
		}
	case "pattern":
		if !word.IsString() {
			c.senseless(f, key, "the pattern is not a string")
			return
		}
		if !c.matches(f, key, word.Text, f.value.Text) {
			c.fail(f, key, word, func() string { return "does not match pattern " + quote(word) })
		}
	case "format":
		if !c.isFormat(f, word.Str()) {
			c.fail(f, key, word, func() string { return "does not conform to the " + quote(word) + " format" })
		}
	}
}

// length counts the characters of a string.
func (c *checker) length(f frame) int {
	c.spend(f, numberSteps)
	c.spendText(f, len(f.value.Text))
	return utf8.RuneCountInString(f.value.Text)
}

// number checks the keywords about numbers.
func (c *checker) number(f frame, key string, word *tree.Node) {
	limit, ok := numeric(word)
	value, _ := numeric(f.value)
	order := func() int {
		if !ok {
			return 2
		}
		return value.Cmp(limit)
	}
	fail := func(message string) { c.fail(f, key, word, func() string { return message + text(word) }) }
	switch key {
	case "minimum":
		strict := f.schema.Get("exclusiveMinimum").IsTrue()
		switch o := order(); {
		case strict && o != 1:
			fail("must be greater than ")
		case !strict && o != 1 && o != 0:
			fail("must be greater than or equal to ")
		}
	case "maximum":
		strict := f.schema.Get("exclusiveMaximum").IsTrue()
		switch o := order(); {
		case strict && o != -1:
			fail("must be less than ")
		case !strict && o != -1 && o != 0:
			fail("must be less than or equal to ")
		}
	case "exclusiveMinimum":
		// In old schemas it is a boolean, which is handled under minimum.
		if word.Kind != tree.Bool && order() != 1 {
			fail("must be strictly greater than ")
		}
	case "exclusiveMaximum":
		if word.Kind != tree.Bool && order() != -1 {
			fail("must be strictly less than ")
		}
	case "multipleOf", "divisibleBy":
		if ok && limit.Sign() == 0 {
			c.senseless(f, key, key+" is 0")
			return
		}
		if ok && new(big.Rat).Quo(value, limit).IsInt() {
			return
		}
		message := "is not a multiple of (divisible by) "
		if key == "divisibleBy" {
			message = "is not divisible by (multiple of) "
		}
		if !isNumber(word) {
			c.fail(f, key, word, func() string { return message + quote(word) })
			return
		}
		fail(message)
	}
}

func isNumber(n *tree.Node) bool {
	if n == nil || n.Kind != tree.Int && n.Kind != tree.Float {
		return false
	}
	_, ok := numeric(n)
	return ok
}

// isWhole reports whether n is a number without a fraction. Large numbers may be
// written with an exponent.
func isWhole(n *tree.Node) bool {
	if n == nil || n.Kind != tree.Int && n.Kind != tree.Float {
		return false
	}
	r, ok := numeric(n)
	return ok && r.IsInt()
}

// numeric returns n as a number, and false if it cannot be compared: a limit may be
// given as a string.
func numeric(n *tree.Node) (*big.Rat, bool) {
	// No number in a document can have more digits.
	const digits = 320
	if n == nil || len(n.Text) > digits {
		return nil, false
	}
	switch n.Kind {
	case tree.Null:
		return new(big.Rat), true
	case tree.Bool:
		r := new(big.Rat)
		if n.IsTrue() {
			r.SetInt64(1)
		}
		return r, true
	case tree.Int:
		if i, err := strconv.ParseInt(n.Text, 10, 64); err == nil {
			return new(big.Rat).SetInt64(i), true
		}
		i, ok := new(big.Int).SetString(n.Text, 10)
		if !ok {
			return nil, false
		}
		return new(big.Rat).SetInt(i), true
	case tree.Float, tree.String:
		s := strings.TrimSpace(n.Text)
		if n.Kind == tree.String && s == "" {
			return new(big.Rat), true
		}
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
			return nil, false
		}
		// The shortest representation is the number that was written.
		return new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	}
	return nil, false
}

// atLeast reports whether a length is at least a limit.
func atLeast(length int, limit *tree.Node) bool {
	r, ok := numeric(limit)
	return ok && new(big.Rat).SetInt64(int64(length)).Cmp(r) >= 0
}

// atMost reports whether a length is at most a limit.
func atMost(length int, limit *tree.Node) bool {
	r, ok := numeric(limit)
	return ok && new(big.Rat).SetInt64(int64(length)).Cmp(r) <= 0
}
