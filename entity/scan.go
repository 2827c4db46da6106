package entity

import "strings"

// The limits of the catalog.
const (
	maxName      = 63
	maxSubdomain = 253
)

// class is a set of byte classes.
type class uint8

const (
	lower class = 1 << iota
	upper
	digit
	// nameMark are the separators allowed within a name: dash, underscore and dot.
	nameMark
	// tagMark are the characters allowed in a tag besides letters and digits: : + #.
	tagMark
	dash

	alphanumeric = lower | upper | digit
	nameByte     = alphanumeric | nameMark
	labelByte    = lower | digit
	tagByte      = labelByte | tagMark
)

// classes maps each byte to its classes. The scanners below use this table because Check
// runs on every entity of every scan, and a regular expression is ten times as slow.
var classes = func() (t [256]class) {
	for c := 'a'; c <= 'z'; c++ {
		t[c] = lower
		t[c-'a'+'A'] = upper
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = digit
	}
	t['-'] = nameMark | dash
	t['_'], t['.'] = nameMark, nameMark
	t[':'], t['+'], t['#'] = tagMark, tagMark, tagMark
	return t
}()

// isIn reports whether the byte is in one of the classes.
func isIn(c byte, kinds class) bool { return classes[c]&kinds != 0 }

// allIn reports whether every byte of s is in one of the classes.
func allIn(s string, kinds class) bool {
	for i := range len(s) {
		if !isIn(s[i], kinds) {
			return false
		}
	}
	return true
}

// isName reports whether s is a valid entity name:
// ^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$, at most 63 characters.
func isName(s string) bool {
	return s != "" && len(s) <= maxName &&
		isIn(s[0], alphanumeric) && isIn(s[len(s)-1], alphanumeric) && allIn(s, nameByte)
}

// isNamespace reports whether s is a valid namespace, which is a DNS label:
// ^[a-z0-9]+(?:\-+[a-z0-9]+)*$, at most 63 characters.
func isNamespace(s string) bool {
	return s != "" && len(s) <= maxName &&
		isIn(s[0], labelByte) && isIn(s[len(s)-1], labelByte) && allIn(s, labelByte|dash)
}

// isTag reports whether s is a valid tag: ^[a-z0-9:+#]+(\-[a-z0-9:+#]+)*$, at most 63
// characters.
func isTag(s string) bool {
	return s != "" && len(s) <= maxName &&
		isIn(s[0], tagByte) && isIn(s[len(s)-1], tagByte) && allIn(s, tagByte|dash) &&
		!strings.Contains(s, "--")
}

// isKind reports whether s is a valid kind: ^[a-zA-Z][a-z0-9A-Z]*$, at most 63
// characters.
func isKind(s string) bool {
	return s != "" && len(s) <= maxName && isIn(s[0], lower|upper) && allIn(s, alphanumeric)
}

// isSubdomain reports whether s consists of DNS labels separated by dots.
func isSubdomain(s string) bool {
	if len(s) > maxSubdomain {
		return false
	}
	for {
		label, rest, more := strings.Cut(s, ".")
		if !isNamespace(label) {
			return false
		}
		if !more {
			return true
		}
		s = rest
	}
}

// isAPIVersion reports whether s is a version with an optional group.
func isAPIVersion(s string) bool {
	group, version, ok := strings.Cut(s, "/")
	if !ok {
		group, version = "", s
	}
	return (!ok || isSubdomain(group)) && version != "" && len(version) <= maxName && allIn(version, alphanumeric)
}

// isKey reports whether s is a valid key of a label or annotation: a name with an
// optional domain.
func isKey(s string) bool {
	domain, name, ok := strings.Cut(s, "/")
	if !ok {
		return isName(s)
	}
	return isSubdomain(domain) && isName(name)
}

// isURL reports whether s is an absolute URL: a scheme and something after it; a host
// for http and https. It is not a parser; it detects links that cannot work.
func isURL(s string) bool {
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok || scheme == "" || rest == "" || !isIn(scheme[0], lower|upper) {
		return false
	}
	for i := range len(scheme) {
		if c := scheme[i]; !isIn(c, alphanumeric|dash) && c != '+' && c != '.' {
			return false
		}
	}
	for i := range len(rest) {
		if c := rest[i]; c <= ' ' || c == 0x7f {
			return false
		}
	}
	if !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return true
	}
	host, web := strings.CutPrefix(rest, "//")
	return web && host != "" && !strings.ContainsRune("/?#:@", rune(host[0]))
}

// isLocation reports whether s is a location of the form type:target. A web address is
// not: its type would be "https", which no portal supports.
func isLocation(s string) bool {
	kind, target, ok := strings.Cut(s, ":")
	return ok && strings.TrimSpace(kind) != "" && strings.TrimSpace(target) != "" && kind != "http" && kind != "https"
}
