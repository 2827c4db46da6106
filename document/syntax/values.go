package syntax

import (
	"bytes"
	"fmt"
	"regexp"

	"example.dev/ingestor/document/tree"
)

// hasTooMany reports whether YAML may have more values than allowed. The parser cannot
// be used for that: by then it has allocated them all, some hundred bytes each.
func hasTooMany(doc []byte, limits Limits) bool {
	return len(doc) > limits.Values && marks(doc) > limits.Values && mostValues(doc) > limits.Values
}

func tooMany(pos tree.Pos, limits Limits) *Error {
	return &Error{
		Pos:  pos,
		Msg:  fmt.Sprintf("document has more than %d values", limits.Values),
		Hint: "split it into several documents",
	}
}

// marks counts the characters that begin values in YAML, with a key and its value as
// one: a line, a comma or a bracket. Values nested in a line without brackets, such as -
// - -, are limited by their depth.
func marks(text []byte) int {
	n := 0
	for _, mark := range []string{"\n", "\r", "\u0085", "\u2028", "\u2029", ",", "[", "{"} {
		n += bytes.Count(text, []byte(mark))
	}
	return n
}

const (
	// inLine matches a character that does not end a line.
	inLine = `[^\n\r\x{85}\x{2028}\x{2029}`
	// bare matches a value without quotes and brackets: it contains no key.
	bare = `[\w/.$~](?:` + inLine + `:]|:` + inLine + ` \t])*`
	// whole matches a value with quotes or brackets that ends on its line.
	whole = `"` + inLine + `"\\]*"|'` + inLine + `']*'|[\[{]` + inLine + `\[\]{}"'#&*!|>%@` + "`" + `]*[\]}]`
)

// simple matches a line that is complete and unambiguous: an item or field with a value
// that ends there, or with the head of a block scalar. The groups are the text before
// the key, the key, and the head.
var simple = regexp.MustCompile(`^((?: *- +)* *)([\w/.$@-]+:(?: +|$))?(?:([|>][-+0-9]*)|` + bare + `|` + whole + `|) *$`)

// The maximum number and length of the lines that are examined.
const (
	mostSimple    = 10_000
	longestSimple = 1 << 10
)

// mostValues returns an upper bound of the number of values in YAML. It skips block
// scalars as far as it can recognise them: up to the first line that is not simple, and
// within the limits above.
func mostValues(doc []byte) int {
	n := 0
	for looked := 0; len(doc) > 0; looked++ {
		line := firstLine(doc)
		if len(line) > longestSimple || looked == mostSimple {
			return n + marks(doc)
		}
		found := simple.FindSubmatchIndex(bytes.TrimRight(line, "\r\n"))
		if word := bytes.TrimSpace(line); found == nil && len(word) > 0 && !IsMarker(line, "---") && (word[0] != '#' || !isOneLine(word)) {
			return n + marks(doc)
		}
		n += marks(line)
		doc = doc[len(line):]
		if found == nil || found[6] < 0 {
			continue
		}
		// The text is indented by more than the key or, without a key, the dash.
		indent := found[3]
		if found[4] < 0 {
			indent = bytes.LastIndexByte(line[:found[3]], '-')
		}
		for len(doc) > 0 {
			line := firstLine(doc)
			if len(bytes.TrimSpace(line)) > 0 && len(line)-len(bytes.TrimLeft(line, " ")) <= indent {
				break
			}
			doc = doc[len(line):]
		}
	}
	return n
}

// firstLine returns the first line of text with its line break.
func firstLine(text []byte) []byte {
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		return text[:end+1]
	}
	return text
}
