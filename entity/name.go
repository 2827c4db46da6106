package entity

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

const (
	// hashLen is the number of hex digits that keep repaired names distinct.
	hashLen = 8
	// unnamed replaces a name of which nothing is left.
	unnamed = "unnamed"
)

// Name converts s into a valid entity name, and reports whether it had to change it. A
// valid s is returned as it is. Otherwise each run of invalid characters becomes a dash,
// the result is cut to length, and a dash and eight hex digits of the hash of s are
// appended, so that different strings stay distinct. The result is deterministic.
func Name(s string) (string, bool) {
	if isName(s) {
		return s, false
	}
	return mend(s, "", nameByte), true
}

// NameWithSuffix converts base followed by suffix, such as "-api", into a valid entity
// name, and reports whether it had to change it. If so, the suffix stays whole and the
// hash is placed before it, so that the name still shows its purpose and all names of
// one base share one hash. A suffix that no name can end with is treated as part of the
// base.
func NameWithSuffix(base, suffix string) (string, bool) {
	whole := base + suffix
	if isName(whole) {
		return whole, false
	}
	if !canEndName(suffix) {
		return Name(whole)
	}
	return mend(base, suffix, nameByte), true
}

// canEndName reports whether a repaired name can keep suffix as it is.
func canEndName(suffix string) bool {
	return suffix != "" && len(suffix) <= maxName-len(unnamed)-1-hashLen &&
		allIn(suffix, nameByte) && isIn(suffix[len(suffix)-1], alphanumeric)
}

// Namespace converts s into a valid namespace, and reports whether it had to change it.
// It works like Name, but in lower case; a change of case alone adds no hash, because
// references are case-insensitive. Empty means DefaultNamespace and is not a change.
func Namespace(s string) (string, bool) {
	if s == "" {
		return DefaultNamespace, false
	}
	low := lowerASCII(s)
	if isNamespace(low) {
		return low, low != s
	}
	return mend(low, "", labelByte), true
}

// LabelValue converts s into a valid label value, and reports whether it had to change
// it. An empty value is valid; any other is repaired like a name rather than dropped:
// selectors need different values to stay distinct, and a missing label would be
// misleading.
func LabelValue(s string) (string, bool) {
	if s == "" {
		return "", false
	}
	return Name(s)
}

// Tag converts s into a valid tag: in lower case, with each run of invalid characters
// (dots, underscores, white space) replaced by a dash, cut to length. It returns false
// if nothing is left. Tags group entities, so equal results are one tag and get no hash.
func Tag(s string) (string, bool) {
	if isTag(s) {
		return s, true
	}
	t := squeeze(lowerASCII(s), tagByte, maxName)
	return t, t != ""
}

// Tags returns valid tags without duplicates: those of first in their order, then those
// of rest sorted. Tags of which nothing is left are dropped.
func Tags(first, rest []string) []string {
	var out []string
	add := func(tags []string) {
		for _, s := range tags {
			if t, ok := Tag(s); ok && !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	add(first)
	n := len(out)
	add(rest)
	slices.Sort(out[n:])
	return out
}

// mend returns <rest of s>-<hash><suffix> in at most maxName bytes.
func mend(s, suffix string, allowed class) string {
	stem := squeeze(s, allowed, maxName-1-hashLen-len(suffix))
	if stem == "" {
		stem = unnamed
	}
	sum := sha256.Sum256([]byte(s))
	return stem + "-" + hex.EncodeToString(sum[:hashLen/2]) + suffix
}

// squeeze reduces s to at most room bytes of the allowed classes, with single dashes for
// replaced runs and no separators at the ends.
func squeeze(s string, allowed class, room int) string {
	b := make([]byte, 0, min(len(s), room))
	for i := 0; i < len(s) && len(b) < room; i++ {
		c := s[i]
		if !isIn(c, allowed) {
			c = '-'
		}
		if len(b) == 0 && isIn(c, nameMark) || c == '-' && b[len(b)-1] == '-' {
			continue
		}
		b = append(b, c)
	}
	return strings.TrimRight(string(b), "-_.")
}

// lowerASCII returns s with A to Z in lower case. Other letters are invalid everywhere,
// and folding them would make different strings equal.
func lowerASCII(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r >= 'A' && r <= 'Z' }) < 0 {
		return s
	}
	b := []byte(s)
	for i, c := range b {
		if isIn(c, upper) {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
