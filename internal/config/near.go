package config

import (
	"strings"
	"unicode/utf8"
)

// nearest returns the word of all that s is probably a typo of: the closest one with an
// edit distance of at most two, or one in a short word. It returns "" if there is none.
func nearest(s string, all []string) string {
	const longest = 64
	if s == "" || len(s) > longest {
		return ""
	}
	best, most := "", min(2, max(1, len(s)/3))
	for _, word := range all {
		if strings.EqualFold(s, word) {
			return word
		}
		if d := len(word) - len(s); d > most || d < -most {
			continue
		}
		if d := distance(s, word); d <= most {
			best, most = word, d-1
		}
	}
	return best
}

// distance returns the edit distance of a and b: the number of letters to insert,
// remove or change. A transposition counts as one.
func distance(a, b string) int {
	older, old, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range old {
		old[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			row[j+1] = min(old[j]+change, old[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
		older, old, row = old, row, older
	}
	return old[len(b)]
}

// shorten truncates text that is too long for a message.
func shorten(s string) string {
	const most = 40
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
