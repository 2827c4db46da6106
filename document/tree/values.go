package tree

import (
	"bytes"
	"fmt"
	"regexp"
)

// hasTooMany reports whether YAML may hold more values than there may be. The
// parser cannot be asked: it has made them all by then, each of some hundred
// bytes.
func hasTooMany(doc []byte, limits Limits) bool {
	return len(doc) > limits.Values && marks(doc) > limits.Values && mostValues(doc) > limits.Values
}

func tooMany(pos Pos, limits Limits) *Error {
	return &Error{
		Pos:  pos,
		Msg:  fmt.Sprintf("the document has more than %d values", limits.Values),
		Hint: "split it into several documents",
	}
}

// marks counts what values of YAML begin with, if a key and its value are one:
// a line, a comma or a bracket. Those nested in a line without brackets, such as
// - - -, are bounded by their depth.
func marks(text []byte) int {
	n := 0
	for _, mark := range []string{"\n", "\r", "\u0085", "\u2028", "\u2029", ",", "[", "{"} {
		n += bytes.Count(text, []byte(mark))
	}
	return n
}

const (
	// inLine is a character that ends no line.
	inLine = `[^\n\r\x{85}\x{2028}\x{2029}`
	// bare is a value without quotes and brackets: it holds no key.
	bare = `[\w/.$~](?:` + inLine + `:]|:` + inLine + ` \t])*`
	// whole is a value with quotes or brackets that ends on its line.
	whole = `"` + inLine + `"\\]*"|'` + inLine + `']*'|[\[{]` + inLine + `\[\]{}"'#&*!|>%@` + "`" + `]*[\]}]`
)

// simple is a line that leaves nothing open and means what it seems to mean: an
// item or field with a value that ends there, or with the head of a block of
// text. The groups are what stands before the key, the key, and the head.
var simple = regexp.MustCompile(`^((?: *- +)* *)([\w/.$@-]+:(?: +|$))?(?:([|>][-+0-9]*)|` + bare + `|` + whole + `|) *$`)

// How many lines are looked at, and how long they are.
const (
	mostSimple    = 10_000
	longestSimple = 1 << 10
)

// mostValues returns how many values YAML holds at most. It passes over blocks of
// text, as far as it can tell that they are some: up to the first line that is
// not simple, and not for long.
func mostValues(doc []byte) int {
	n := 0
	for looked := 0; len(doc) > 0; looked++ {
		line := firstLine(doc)
		if len(line) > longestSimple || looked == mostSimple {
			return n + marks(doc)
		}
		found := simple.FindSubmatchIndex(bytes.TrimRight(line, "\r\n"))
		if word := bytes.TrimSpace(line); found == nil && len(word) > 0 && !isMarker(line, "---") && (word[0] != '#' || !isOneLine(word)) {
			return n + marks(doc)
		}
		n += marks(line)
		doc = doc[len(line):]
		if found == nil || found[6] < 0 {
			continue
		}
		// The text is indented by more than the key, or else the dash.
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

// firstLine returns the first line of text with its end.
func firstLine(text []byte) []byte {
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		return text[:end+1]
	}
	return text
}
