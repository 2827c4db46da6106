package engine

import (
	"cmp"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/xrd/composed"
)

const (
	// mostLinks is the maximum number of links of a composite.
	mostLinks = 10
	// longestLink is the maximum length of a link's address.
	longestLink = 1024
)

// addressWords are the last words of field names that hold an address.
var addressWords = []string{
	"url", "urls", "uri", "uris", "endpoint", "endpoints", "address", "addresses",
	"host", "hosts", "hostname", "hostnames", "fqdn", "link", "links",
}

// secretFields are words in the names of fields whose address grants access to anyone
// who knows it; secretParameters are such words in the names of query parameters.
var (
	secretFields     = []string{"token", "secret", "password", "credential", "credentials", "webhook", "hook", "signed", "presigned", "sas"}
	secretParameters = append([]string{
		"key", "apikey", "passwd", "pwd", "signature", "sig", "auth", "authorization", "jwt", "session", "code", "ticket",
	}, secretFields...)
)

// Telling returns the parts of a composite's status that are published: conditions and
// addresses. The rest is private and may be secret.
func Telling(status *tree.Node) *tree.Node {
	if !status.IsMap() {
		return status
	}
	out := tree.Obj()
	for _, f := range status.Fields {
		switch {
		case f.Key == "conditions":
			out.Fields = append(out.Fields, tree.F(f.Key, conditionsOf(f.Value)))
		case len(appendLinks(nil, "", &f)) > 0:
			out.Fields = append(out.Fields, tree.F(f.Key, addressesIn(f.Value)))
		case f.Value.IsMap() && !hasWord(f.Key, secretFields):
			inner := tree.Obj()
			for _, g := range f.Value.Fields {
				if len(appendLinks(nil, "", &g)) > 0 {
					inner.Fields = append(inner.Fields, tree.F(g.Key, addressesIn(g.Value)))
				}
			}
			if len(inner.Fields) > 0 {
				out.Fields = append(out.Fields, tree.F(f.Key, inner))
			}
		}
	}
	return out
}

// conditionsOf keeps the fields of conditions that do not change on every read. The time is
// kept only of the condition that decides the readiness.
func conditionsOf(n *tree.Node) *tree.Node {
	if !n.IsList() {
		return n
	}
	out := tree.Arr()
	_, deciding := composed.ReadinessOf(tree.Obj(tree.F("status", tree.Obj(tree.F("conditions", n)))))
	for _, c := range n.Items {
		kept := tree.Obj()
		for _, key := range []string{"type", "status", "reason"} {
			if f := c.Field(key); f != nil {
				kept.Fields = append(kept.Fields, *f)
			}
		}
		if deciding != nil && !deciding.Since.IsZero() && c.Get("type").Str() == deciding.Type {
			kept.Set("lastTransitionTime", tree.Str(deciding.Since.UTC().Format(time.RFC3339)))
		}
		out.Items = append(out.Items, kept)
	}
	return out
}

// addressesIn keeps the addresses of a list.
func addressesIn(n *tree.Node) *tree.Node {
	if !n.IsList() {
		return n
	}
	out := tree.Arr()
	for _, item := range n.Items {
		if item.IsString() && webAddress(item.Text) != "" {
			out.Items = append(out.Items, item)
		}
	}
	return out
}

// links returns the addresses in a status, at the top level and one level down. The
// order of the keys does not matter.
func links(status *tree.Node) []entity.Link {
	if !status.IsMap() {
		return nil
	}
	var all []entity.Link
	for i := range status.Fields {
		f := &status.Fields[i]
		all = appendLinks(all, "", f)
		if !f.Value.IsMap() || hasWord(f.Key, secretFields) {
			continue
		}
		title := form.Humanise(f.Key) + " "
		if f.Key == "atProvider" {
			title = "" // A wrapper that means nothing to users.
		}
		for j := range f.Value.Fields {
			all = appendLinks(all, title, &f.Value.Fields[j])
		}
	}
	slices.SortFunc(all, func(a, b entity.Link) int {
		return cmp.Or(strings.Compare(a.Title, b.Title), strings.Compare(a.URL, b.URL))
	})
	// If an address has several titles, keep the first.
	var out []entity.Link
	for _, l := range all {
		if len(out) < mostLinks && !slices.ContainsFunc(out, func(o entity.Link) bool { return o.URL == l.URL }) {
			out = append(out, l)
		}
	}
	return out
}

// appendLinks appends the addresses in a field that is a string or a list of strings.
func appendLinks(dst []entity.Link, title string, f *tree.Field) []entity.Link {
	if !f.Value.IsString() && !f.Value.IsList() || !slices.Contains(addressWords, lastWord(f.Key)) || hasWord(f.Key, secretFields) {
		return dst
	}
	texts := f.Value.Strings()
	if f.Value.IsString() {
		texts = []string{f.Value.Text}
	}
	for _, s := range texts {
		if address := webAddress(s); address != "" {
			dst = append(dst, entity.Link{URL: address, Title: title + form.Humanise(f.Key)})
		}
	}
	return dst
}

// keyWords returns the words of a field name in lower case.
func keyWords(key string) []string { return strings.Fields(strings.ToLower(form.Humanise(key))) }

func lastWord(key string) string {
	all := keyWords(key)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

func hasWord(key string, among []string) bool {
	return slices.ContainsFunc(keyWords(key), func(w string) bool { return slices.Contains(among, w) })
}

// webAddress returns the address in s in a form that a browser opens: an absolute http
// or https URL as it is, a bare host prefixed with https://. It returns "" for anything
// else, and for addresses that may contain a secret.
func webAddress(s string) string {
	if s == "" || len(s) > longestLink || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"<>\^{|}`+"`", r) }) {
		return ""
	}
	if !strings.Contains(s, "://") {
		if !isHost(s) {
			return ""
		}
		return "https://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Opaque != "" || u.Hostname() == "" || strings.Contains(u.Host, "@") {
		return ""
	}
	if tells(u.RawQuery) || tells(u.EscapedFragment()) {
		return ""
	}
	return s
}

// tells reports whether the parameters of an address may contain a secret: a name
// suggests one, or a value looks random.
func tells(parameters string) bool {
	for p := range strings.FieldsFuncSeq(parameters, func(r rune) bool { return r == '&' || r == ';' || r == '?' }) {
		name, value, _ := strings.Cut(p, "=")
		plain, err := url.QueryUnescape(name)
		if err != nil || hasWord(plain, secretParameters) || strings.HasPrefix(strings.ToLower(plain), "x-") {
			return true
		}
		if value == "" {
			value = name
		}
		if looksRandom(value) {
			return true
		}
	}
	return false
}

// looksRandom reports whether s has a long run of mixed letters and digits.
func looksRandom(s string) bool {
	const long = 20
	run, digits := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
			run++
		case isLower(c), isUpper(c), c == '_':
			run++
		default:
			run, digits = 0, 0
		}
		if run >= long && digits > 0 {
			return true
		}
	}
	return false
}

// isHost reports whether s is a DNS name or a global unicast IP address, with or without
// a port.
func isHost(s string) bool {
	host, port, ported := s, "", false
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.Contains(s[i:], "]") {
		host, port, ported = s[:i], s[i+1:], true
	}
	if n, err := strconv.ParseUint(port, 10, 16); ported && (err != nil || n == 0) {
		return false
	}
	bare, bracketed := strings.CutPrefix(host, "[")
	if bracketed {
		bare, bracketed = strings.CutSuffix(bare, "]")
		ip, err := netip.ParseAddr(bare)
		return bracketed && err == nil && ip.Is6() && ip.Zone() == "" && ip.IsGlobalUnicast()
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Is4() && ip.IsGlobalUnicast()
	}
	return isDNSName(host)
}

// isDNSName reports whether s is a DNS name of several labels, the last of which begins
// with a letter, as all top-level domains do.
func isDNSName(s string) bool {
	labels := strings.Split(strings.ToLower(s), ".")
	last := labels[len(labels)-1]
	if len(labels) < 2 || len(s) > 253 || last == "" || last[0] < 'a' || len(last) < 2 {
		return false
	}
	return !slices.ContainsFunc(labels, func(l string) bool { return !isLabel(l) })
}
