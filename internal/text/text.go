// Package text has what messages need of texts: shortening them, and finding the word
// that was meant.
package text

import "strings"

// Shorten returns the first bytes of s, at most so many and whole characters, and an
// ellipsis if that is not all of it.
func Shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// longest is the longest word that Nearest considers.
const longest = 64

// Nearest returns the word that s is a typo of: the closest one that is at most two
// edits away, and at most one edit for every three letters. It returns "" if there is
// none. Case alone is no difference.
func Nearest(s string, words []string) string {
	if s == "" || len(s) > longest {
		return ""
	}
	best, most := "", min(2, max(1, len(s)/3))
	for _, w := range words {
		if strings.EqualFold(s, w) {
			return w
		}
		if d := len(w) - len(s); len(w) > longest || d > most || d < -most {
			continue
		}
		if d := Distance(s, w); d <= most {
			best, most = w, d-1
		}
	}
	return best
}

// Distance returns the edit distance of two texts, in bytes: how many insertions,
// deletions, replacements and swaps of neighbours make one of the other.
func Distance(a, b string) int {
	older, old, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range old {
		old[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			replace := 1
			if a[i] == b[j] {
				replace = 0
			}
			row[j+1] = min(old[j]+replace, old[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
		older, old, row = old, row, older
	}
	return old[len(b)]
}

// Enumerate joins words as in a sentence, with a conjunction before the last one.
func Enumerate(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + conjunction + " " + words[len(words)-1]
}
