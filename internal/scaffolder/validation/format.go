package validation

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

// Building blocks of the formats.
const (
	day    = `\d{4}-(?:0\d|1[0-2])-(?:0[1-9]|[12]\d|3[01])`
	clock  = `(?:[01]\d|2[0-4]):[0-5]\d:(?:[0-5]\d|60)`
	offset = `(?:[zZ]|[+-][0-5]\d:(?:[0-5]\d|60))`
	octet  = `(?:25[0-5]|2[0-4]\d|[01]?\d?\d)`
	label  = `[0-9A-Za-z](?:[-0-9A-Za-z]{0,61}[0-9A-Za-z])?`
	atom   = "[-\\w!#$%&'*+/=?^`{|}~]+"
	hex    = `[0-9A-Fa-f]`
	step   = `(?:/(?:[^/~\x{80}-\x{10FFFF}]|~[01])*)*`
	part   = `\s*(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])\s*`
	share  = `\s*(?:\d?\d|100)%\s*`
)

// formats are the formats that upstream knows. Some of them are lenient, and stay so:
// values that upstream accepts are accepted here.
var formats = func() map[string]*pattern {
	within := func(s string) *pattern { return &pattern{linear: regexp.MustCompile(s), size: instructions(s)} }
	whole := func(s string) *pattern { return within(`^(?:` + s + `)$`) }
	address := whole(octet + `(?:\.` + octet + `){3}`)
	host := whole(label + `(?:\.` + label + `)*\.?`)
	scheme := whole(`[a-zA-Z][-a-zA-Z0-9+.]*:[^` + white + `]*`)
	return map[string]*pattern{
		"date-time":             whole(day + `[tT ]` + clock + `(?:\.\d+)?` + offset),
		"date":                  whole(day),
		"time":                  whole(clock),
		"duration":              within(`(?i)P(?:T\d+[HMS]|\d+[DMYW])`),
		"email":                 whole(atom + `(?:\.` + atom + `)*@(?:(?:` + label + `\.)+` + label + `|\[` + octet + `(?:\.` + octet + `){3}\])`),
		"idn-email":             whole(`[^\s@,;:<>()\[\]\\"]+@[^\s@,;:<>()\[\]\\"]+`),
		"ip-address":            address,
		"ipv4":                  address,
		"uri":                   scheme,
		"iri":                   scheme,
		"uuid":                  whole(hex + `{8}(?:-` + hex + `{4}){3}-` + hex + `{12}`),
		"json-pointer":          whole(step),
		"relative-json-pointer": whole(`\d+(?:#|` + step + `)`),
		"hostname":              host,
		"host-name":             host,
		"utc-millisec":          whole(`\s*[-+]?\d+(?:\.0*)?\s*`),
		"style":                 within(`[^\r\n\t ][^:]*:`),
		"color": whole(`#?(?:` + hex + `{3}){1,2}|aqua|black|blue|fuchsia|gray|green|lime|maroon|navy|olive|orange|purple|red|silver|teal|white|yellow` +
			`|rgb\(` + part + `,` + part + `,` + part + `\)|rgb\(` + share + `,` + share + `,` + share + `\)`),
		"phone":        whole(`\+(?:\d ?){6,14}\d`),
		"alpha":        whole(`[a-zA-Z]+`),
		"alphanumeric": whole(`[a-zA-Z0-9]+`),
	}
}()

// isFormat reports whether a text has a format. An unknown format matches every text.
func (c *checker) isFormat(f frame, format string) bool {
	const longest = 255
	s := f.value.Text
	c.spend(f, 1)
	if c.spendText(f, len(s)); c.done() {
		return true
	}
	switch format {
	case "ipv6":
		a, err := netip.ParseAddr(strings.TrimSpace(s))
		return err == nil && a.Is6()
	case "uri-reference", "iri-reference":
		return isReference(s, format == "iri-reference")
	case "regex", "regexp", "pattern":
		return c.pattern(f, s).err == nil
	case "hostname", "host-name":
		return len(s) <= longest && c.found(f, formats[format], s)
	}
	known := formats[format]
	return known == nil || c.found(f, known, s)
}

// isReference reports whether s is an absolute or relative URI.
func isReference(s string, international bool) bool {
	_, err := url.Parse(s)
	return err == nil && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune("\"<>\\^`{|}", r) || r >= 0x7F && !international
	})
}
