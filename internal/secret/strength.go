package secret

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Minimum requirements for a token or key that is hard to guess.
const (
	ShortestToken = 16
	FewestSigns   = 8
)

// Weakness returns what a token that can be guessed lacks, such as "at least 16
// characters"; empty if nothing.
func Weakness(token string) string {
	count := map[rune]int{}
	most := 0
	for _, r := range token {
		count[r]++
		most = max(most, count[r])
	}
	n := utf8.RuneCountInString(token)
	switch {
	case n < ShortestToken:
		return fmt.Sprintf("at least %d characters", ShortestToken)
	case len(count) < FewestSigns:
		return fmt.Sprintf("at least %d different characters", FewestSigns)
	case 2*most >= n, 2*period(token) <= len(token)+1:
		return "text that does not repeat"
	}
	return ""
}

// period returns the length of the shortest string of which s is a repetition, the
// last of which may be incomplete: 2 for "ababa", len(s) if nothing repeats.
func period(s string) int {
	// border[i] is the length of the longest proper prefix of s[:i+1] that is also
	// its suffix.
	border := make([]int, len(s))
	for i := 1; i < len(s); i++ {
		k := border[i-1]
		for k > 0 && s[i] != s[k] {
			k = border[k-1]
		}
		if s[i] == s[k] {
			k++
		}
		border[i] = k
	}
	if len(s) == 0 {
		return 0
	}
	return len(s) - border[len(s)-1]
}

// longToken is the minimum length of a token that was generated at random by any
// of the usual tools.
const longToken = 24

// common are words and sequences that occur in example tokens, and that attackers
// try first.
var common = []string{
	"0123456", "1234567", "9876543", "abcdefg", "admin", "change-me", "changeit", "changeme", "default", "example", "insecure",
	"letmein", "passw", "portal", "qwerty", "sample", "secret", "test", "token",
}

// Predictable returns what a token that is probably not random lacks; empty if
// nothing. It is stricter than Weakness.
func Predictable(token string) string {
	if want := Weakness(token); want != "" {
		return want
	}
	if utf8.RuneCountInString(token) < longToken {
		return fmt.Sprintf("at least %d characters", longToken)
	}
	low := strings.ToLower(token)
	if slices.ContainsFunc(common, func(word string) bool { return strings.Contains(low, word) }) {
		return "random characters, and no words or sequences"
	}
	return ""
}
