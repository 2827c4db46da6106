package rest

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Params parses the query string of an address. A semicolon is an ordinary character,
// as it is for the portal's clients.
func Params(raw string) (url.Values, error) {
	if raw == "" {
		return nil, nil
	}
	q, err := url.ParseQuery(strings.ReplaceAll(raw, ";", "%3B"))
	if err != nil {
		return nil, Input("Malformed query string: %s", err)
	}
	return q, nil
}

// Count returns a numeric parameter, or the default if it is not given.
func Count(q url.Values, name string, byDefault int) (int, error) {
	values, given := q[name]
	if !given {
		return byDefault, nil
	}
	if len(values) != 1 || !isInteger(values[0]) {
		return 0, Input("request/query/%s must be integer", name)
	}
	n, err := strconv.Atoi(values[0])
	if err != nil && !strings.HasPrefix(values[0], "-") {
		n = math.MaxInt
	}
	if n < 0 || err != nil && n == 0 {
		return 0, Input("request/query/%s must be >= 0", name)
	}
	if n > math.MaxInt32 {
		return 0, Input("request/query/%s must be <= %d", name, math.MaxInt32)
	}
	return n, nil
}

func isInteger(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// One returns a parameter that may be given only once.
func One(q url.Values, name string) (value string, given bool, err error) {
	switch values := q[name]; len(values) {
	case 0:
		return "", false, nil
	case 1:
		return values[0], true, CheckText(name, values[0])
	}
	return "", true, Input("request/query/%s must be string", name)
}

// Flag returns a boolean parameter; false if it is not given.
func Flag(q url.Values, name string) (bool, error) {
	v, given, err := One(q, name)
	if err != nil || !given {
		return false, err
	}
	switch strings.ToLower(v) {
	case "", "true", "1", "yes", "y", "on":
		return true, nil
	case "false", "0", "no", "n", "off":
		return false, nil
	}
	return false, Input("request/query/%s must be boolean", name)
}

// List returns the items of parameters that are separated by commas.
func List(params []string) []string {
	var items []string
	for _, p := range params {
		for item := range strings.SplitSeq(p, ",") {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
	}
	return items
}

// CheckText refuses text that no entity can contain, and that databases do not accept.
func CheckText(what, s string) error {
	if !IsText(s) {
		return Input("Invalid %s, it has a NUL or is not UTF-8", what)
	}
	return nil
}

// IsText reports whether an entity can contain the text, so that a search may find it.
func IsText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// Short returns the beginning of a client's text, for messages.
func Short(s string) string {
	const most = 100
	if len(s) <= most {
		return s
	}
	end := most
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
