package db

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxText sorts after every text that is stored.
const MaxText = string(unicode.MaxRune)

// Separators are characters that other packages may use to separate texts: Storable
// removes them.
const (
	GroupSeparator  = "\x1d"
	RecordSeparator = "\x1e"
	UnitSeparator   = "\x1f"
)

// separates reports whether a character is a separator.
func separates(r rune) bool { return r >= 0x1d && r <= 0x1f }

// Storable returns s without characters that cannot be stored, MaxText and separators.
func Storable(s string) string {
	if isStorable(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == 0 || r == unicode.MaxRune || separates(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}

func isStorable(s string) bool {
	ascii := true
	for i := range len(s) {
		switch c := s[i]; {
		case c == 0 || separates(rune(c)):
			return false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return ascii || utf8.ValidString(s) && !strings.ContainsRune(s, unicode.MaxRune)
}

// IsText reports whether s can be stored: PostgreSQL refuses other bytes.
func IsText(s string) bool {
	return strings.IndexByte(s, 0) < 0 && utf8.ValidString(s)
}

// After returns the smallest text that sorts after all texts with the prefix.
func After(prefix string) string {
	for prefix != "" {
		r, n := utf8.DecodeLastRuneInString(prefix)
		prefix = prefix[:len(prefix)-n]
		switch {
		case r == 0xd7ff:
			return prefix + "\ue000"
		case r < unicode.MaxRune:
			return prefix + string(r+1)
		}
	}
	return MaxText
}
