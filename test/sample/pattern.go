package sample

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Matching returns a text of at most 40 bytes that matches a pattern.
func Matching(pattern string, random *rand.Rand) (string, bool) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "", false
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	for range 200 {
		var b strings.Builder
		Text(&b, parsed, random)
		if s := b.String(); s != "" && len(s) < 40 && re.MatchString(s) {
			return s, true
		}
	}
	return "", false
}

// Text appends a text that matches a pattern, ignoring anchors.
func Text(b *strings.Builder, re *syntax.Regexp, random *rand.Rand) {
	times := func(low, high int) {
		for range low + random.IntN(high-low+1) {
			Text(b, re.Sub[0], random)
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if re.Flags&syntax.FoldCase != 0 && random.IntN(2) == 0 {
				r = unicode.SimpleFold(r)
			}
			b.WriteRune(r)
		}
	case syntax.OpCharClass:
		if len(re.Rune) == 0 {
			return
		}
		at := 2 * random.IntN(len(re.Rune)/2)
		lo, hi := re.Rune[at], re.Rune[at+1]
		if r := lo + rune(random.IntN(int(min(hi-lo, 200))+1)); utf8.ValidRune(r) {
			b.WriteRune(r)
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte("ax0-. /"[random.IntN(7)])
	case syntax.OpStar:
		times(0, 3)
	case syntax.OpPlus:
		times(1, 3)
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpRepeat:
		high := re.Max
		if high < 0 {
			high = re.Min + 2
		}
		times(re.Min, min(high, re.Min+5))
	case syntax.OpAlternate:
		Text(b, re.Sub[random.IntN(len(re.Sub))], random)
	default:
		for _, sub := range re.Sub {
			Text(b, sub, random)
		}
	}
}
