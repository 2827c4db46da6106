package entity

import "strings"

// The bounds of the catalog.
const (
	maxName      = 63
	maxSubdomain = 253
)

// class is a set of kinds of byte.
type class uint8

const (
	lower class = 1 << iota
	upper
	digit
	// nameMark is what may stand within a name: - _ and the dot.
	nameMark
	// tagMark is what a tag may hold besides letters and digits: : + #.
	tagMark
	dash

	alphanumeric = lower | upper | digit
	nameByte     = alphanumeric | nameMark
	labelByte    = lower | digit
	tagByte      = labelByte | tagMark
)

// classes tells the kinds of each byte. The scanners below look bytes up here
// because Check runs on every entity of every scan, and a regular expression
// costs it ten times as much.
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

// isIn reports whether the byte is of one of the kinds.
func isIn(c byte, kinds class) bool { return classes[c]&kinds != 0 }

// allIn reports whether every byte of s is of one of the kinds.
func allIn(s string, kinds class) bool {
	for i := range len(s) {
		if !isIn(s[i], kinds) {
			return false
		}
	}
	return true
}

// isName reports whether s may be the name of an entity:
// ^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$, at most 63 long.
func isName(s string) bool {
	return s != "" && len(s) <= maxName &&
		isIn(s[0], alphanumeric) && isIn(s[len(s)-1], alphanumeric) && allIn(s, nameByte)
}

// isNamespace reports whether s may be a namespace, which is a DNS label:
// ^[a-z0-9]+(?:\-+[a-z0-9]+)*$, at most 63 long.
func isNamespace(s string) bool {
	return s != "" && len(s) <= maxName &&
		isIn(s[0], labelByte) && isIn(s[len(s)-1], labelByte) && allIn(s, labelByte|dash)
}

// isTag reports whether s may be a tag:
// ^[a-z0-9:+#]+(\-[a-z0-9:+#]+)*$, at most 63 long.
func isTag(s string) bool {
	return s != "" && len(s) <= maxName &&
		isIn(s[0], tagByte) && isIn(s[len(s)-1], tagByte) && allIn(s, tagByte|dash) &&
		!strings.Contains(s, "--")
}

// isKind reports whether s may be a kind: ^[a-zA-Z][a-z0-9A-Z]*$, at most 63
// long.
func isKind(s string) bool {
	return s != "" && len(s) <= maxName && isIn(s[0], lower|upper) && allIn(s, alphanumeric)
}

// isSubdomain reports whether s is DNS labels with dots between them.
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

// isAPIVersion reports whether s is a version, perhaps with a group before it.
func isAPIVersion(s string) bool {
	group, version, ok := strings.Cut(s, "/")
	if !ok {
		group, version = "", s
	}
	return (!ok || isSubdomain(group)) && version != "" && len(version) <= maxName && allIn(version, alphanumeric)
}

// isKey reports whether s may be the key of a label or annotation: a name,
// perhaps with a domain before it.
func isKey(s string) bool {
	domain, name, ok := strings.Cut(s, "/")
	if !ok {
		return isName(s)
	}
	return isSubdomain(domain) && isName(name)
}

// isURL reports whether s is an absolute URL: a scheme, and something after
// it; for the web's schemes a host. It is no parser; it finds the links nobody
// could follow.
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

// isLocation reports whether s is the type:target form of a location. A web
// address is not: its type would be "https", which no portal can read.
func isLocation(s string) bool {
	kind, target, ok := strings.Cut(s, ":")
	return ok && strings.TrimSpace(kind) != "" && strings.TrimSpace(target) != "" && kind != "http" && kind != "https"
}
