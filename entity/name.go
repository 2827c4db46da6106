package entity

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

const (
	// hashLen is how many hex digits tell repaired names apart.
	hashLen = 8
	// unnamed stands in for a name of which nothing is left.
	unnamed = "unnamed"
)

// Name makes a valid entity name of s, and reports whether it had to change
// it. A valid s is returned as it is. In any other, each run of characters
// that are not allowed becomes a dash, what is too long is cut, and a dash and
// eight hex digits of the hash of s are added, so that different strings stay
// different. The same string always gives the same name.
func Name(s string) (string, bool) {
	if isName(s) {
		return s, false
	}
	return mend(s, "", nameByte), true
}

// NameWithSuffix makes a valid entity name of base followed by suffix, such as
// "-api", and reports whether it had to change it. When it has, the suffix
// stays whole and the hash stands before it, so that a name still tells what
// it is for, and the names made of one base have one hash. A suffix that no
// name can end with is treated as a part of the base.
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

// Namespace makes a valid namespace of s, and reports whether it had to change
// it. It does as Name does, but in lower case; that alone adds no hash,
// because references that differ only in case mean the same. Empty means
// DefaultNamespace, which is no change.
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

// LabelValue makes a valid label value of s, and reports whether it had to
// change it. An empty value is valid; any other is repaired as a name is,
// rather than dropped: who selects by a label wants different values to stay
// different, and a missing one would look like an answer.
func LabelValue(s string) (string, bool) {
	if s == "" {
		return "", false
	}
	return Name(s)
}

// Tag makes a valid tag of s: in lower case, each run of characters that are
// not allowed (dots, underscores, white space) a dash, cut to fit. It returns
// false when nothing is left. Tags group entities, so two that come out the
// same are one tag, and no hash keeps them apart.
func Tag(s string) (string, bool) {
	if isTag(s) {
		return s, true
	}
	t := squeeze(lowerASCII(s), tagByte, maxName)
	return t, t != ""
}

// Tags makes a list of valid tags without duplicates: those of first in their
// order, then those of rest sorted. Tags of which nothing is left are left out.
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

// mend makes <what is left of s>-<hash><suffix> in at most maxName bytes.
func mend(s, suffix string, allowed class) string {
	stem := squeeze(s, allowed, maxName-1-hashLen-len(suffix))
	if stem == "" {
		stem = unnamed
	}
	sum := sha256.Sum256([]byte(s))
	return stem + "-" + hex.EncodeToString(sum[:hashLen/2]) + suffix
}

// squeeze makes of s at most room bytes of the allowed kinds, with single
// dashes for what it replaced and no separators at the ends.
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

// lowerASCII returns s with A to Z in lower case. Other letters are not
// allowed anywhere, and folding them would make different strings equal.
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
