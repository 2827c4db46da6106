package expression

import (
	"math"
	"regexp"
	"strings"
	"unicode/utf8"
)

// wanted returns the input of a text filter. undefined, null and false are the empty
// text; other kinds of values are an error.
func (m *machine) wanted(filter string, in value, at int) string {
	if isNothing(in) || in == false {
		return ""
	}
	s, ok := stringOf(in)
	if !ok {
		bail(at, "convert it with | string", "filter %s takes a string, not %s", filter, kindOf(in))
	}
	return s
}

// onText makes a filter from a function on texts.
func onText(name string, f func(m *machine, s string, a given, at int) string) builtin {
	return func(m *machine, in value, a given, at int) value {
		return like(in, m.made(f(m, m.wanted(name, in, at), a, at)))
	}
}

func capital(s string) string {
	s = strings.ToLower(s)
	_, first := utf8.DecodeRuneInString(s)
	return upper(s[:first]) + s[first:]
}

func title(_ *machine, s string, _ given, _ int) string {
	var b strings.Builder
	b.Grow(len(s))
	first := true
	for w := range strings.SplitSeq(s, " ") {
		if !first {
			b.WriteByte(' ')
		}
		first = false
		b.WriteString(capital(w))
	}
	return b.String()
}

func trim(m *machine, in value, _ given, at int) value {
	s, ok := stringOf(in)
	if !ok {
		bail(at, "set a default with | default(\"\"), or convert it with | string", "filter trim takes a string, not %s", kindOf(in))
	}
	return like(in, strings.TrimFunc(s, isSpace))
}

// spaces returns n spaces, rounded up.
func (m *machine) spaces(n float64, at int) string {
	if math.IsNaN(n) || n <= 0 {
		return ""
	}
	m.grown(int(math.Min(math.Ceil(n), math.MaxInt32)), at)
	return strings.Repeat(" ", int(math.Ceil(n)))
}

// argument returns an argument as a number, or otherwise if it is falsy.
func (m *machine) argument(v value, otherwise float64, at int) float64 {
	if !truthy(v) {
		return otherwise
	}
	return m.numberOf(v, at)
}

func center(m *machine, in value, a given, at int) value {
	s := m.wanted("center", in, at)
	room := m.argument(a.at(0), 80, at) - float64(length(s))
	if room <= 0 {
		return like(in, s)
	}
	left, right := m.spaces(room/2-math.Mod(room, 2), at), m.spaces(room/2, at)
	return like(in, m.made(left+s+right))
}

func indent(m *machine, in value, a given, at int) value {
	s := m.wanted("indent", in, at)
	if s == "" {
		return ""
	}
	width := m.spaces(m.argument(a.at(0), 4, at), at)
	m.grown(len(s)+strings.Count(s, "\n")*len(width), at)
	out := strings.ReplaceAll(s, "\n", "\n"+width)
	if truthy(a.at(1)) {
		out = width + out
	}
	return like(in, m.made(out))
}

func truncate(m *machine, in value, a given, at int) value {
	s := m.wanted("truncate", in, at)
	most := m.argument(a.at(0), 255, at)
	if float64(length(s)) <= most {
		return like(in, s)
	}
	n := 0
	if !math.IsNaN(most) {
		n = max(0, int(most))
	}
	out := cut(s, 0, n)
	if !truthy(a.at(1)) {
		// The space may be the first character that is cut off.
		if i := strings.LastIndexByte(cut(s, 0, n+1), ' '); i >= 0 {
			out = cut(s, 0, n+1)[:i]
		}
	}
	end := "..."
	if !isNothing(a.at(2)) {
		end = m.textOf(a.at(2), at)
	}
	return like(in, m.concat(out, end, at))
}

var breaks = strings.NewReplacer("\r\n", "<br />\n", "\n", "<br />\n")

func nl2br(m *machine, in value, _ given, at int) value {
	if isNothing(in) {
		return ""
	}
	s := m.wanted("nl2br", in, at)
	m.grown(len(s)+strings.Count(s, "\n")*len("<br />"), at)
	return like(in, m.made(breaks.Replace(s)))
}

var entities = strings.NewReplacer("&", "&amp;", `"`, "&quot;", "'", "&#39;", "<", "&lt;", ">", "&gt;", `\`, "&#92;")

// escaped returns a text with the special characters of HTML escaped.
func (m *machine) escaped(s string, at int) string {
	const more = len("&quot;") - 1
	if len(s)*(1+more) > m.limits.Output {
		n := len(s)
		for i := range len(s) {
			if strings.IndexByte(`&"'<>\`, s[i]) >= 0 {
				n += more
			}
		}
		m.grown(n, at)
	}
	return entities.Replace(s)
}

func escape(m *machine, in value, _ given, at int) value {
	if s, ok := in.(safe); ok {
		return s
	}
	return safe(m.made(m.escaped(m.shown(in, at), at)))
}

var (
	markup     = regexp.MustCompile(`(?i)</?[a-z][a-z0-9]*\b[^>]*>|<!--(?s:.*?)-->`)
	edges      = regexp.MustCompile(`(?m)^ +| +$`)
	manySpaces = regexp.MustCompile(` +`)
	manyLines  = regexp.MustCompile(`\n\n\n+`)
	anySpace   = regexp.MustCompile(`[` + white + `]+`)
)

// striptags removes markup, repeatedly until there is none: the rest of two tags may
// form a third.
func striptags(m *machine, s string, a given, at int) string {
	for rounds := 0; markup.MatchString(s); rounds++ {
		if rounds > 8 {
			bail(at, "", "filter striptags found tags that are nested too deeply")
		}
		m.spendText(len(s))
		s = markup.ReplaceAllString(s, "")
	}
	s = strings.TrimFunc(s, isSpace)
	if !truthy(a.at(0)) {
		return anySpace.ReplaceAllString(s, " ")
	}
	s = manySpaces.ReplaceAllString(edges.ReplaceAllString(s, ""), " ")
	return manyLines.ReplaceAllString(strings.ReplaceAll(s, "\r\n", "\n"), "\n\n")
}

// replace replaces a text, everywhere or at most n times, or the matches of a regular
// expression.
func replace(m *machine, in value, a given, at int) value {
	if p, ok := a.at(0).(*pattern); ok {
		s, ok := stringOf(in)
		if !ok {
			bail(at, "set a default with | default(\"\")", "filter replace takes a string, not %s", kindOf(in))
		}
		return m.replacePattern(s, p, m.textOf(a.at(1), at), at)
	}
	what, isText := a.at(0).(string)
	if f, ok := floatOf(a.at(0)); ok {
		what, isText = numberText(f), true
	}
	if f, ok := floatOf(in); ok {
		in = numberText(f)
	}
	s, ok := stringOf(in)
	if !isText || !ok {
		return in
	}
	with := m.textOf(a.at(1), at)
	if what == "" {
		between := with
		if a.at(1) == (undefined{}) {
			between = ","
		}
		m.grown(len(s)*(1+len(between))+2*len(with), at)
		m.spend(len(s))
		return like(in, m.made(with+m.joined(letters(s), between, at, 0)+with))
	}
	count := strings.Count(s, what)
	if most := a.at(2); most != (undefined{}) && !m.same(most, number(-1)) {
		f := m.numberOf(most, at)
		if math.IsNaN(f) || f <= 0 {
			return in
		}
		count = int(math.Min(float64(count), math.Ceil(f)))
	}
	if count == 0 {
		return in
	}
	m.grown(len(s)+count*(len(with)-len(what)), at)
	return like(in, m.made(strings.Replace(s, what, with, count)))
}

// component encodes a text as a URL component.
func (m *machine) component(s string, at int) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if isLetter(c) || isDigit(c) || strings.IndexByte("-.!~*'()", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteString(string([]byte{'%', hex[c>>4], hex[c&15]}))
		m.grown(b.Len(), at)
	}
	return b.String()
}

// urlencode encodes a text, or the pairs of an object or list as a query.
func urlencode(m *machine, in value, _ given, at int) value {
	if s, ok := stringOf(in); ok {
		return m.made(m.component(s, at))
	}
	var pairs []string
	pair := func(key, v value) {
		pairs = append(pairs, m.made(m.component(m.textOf(key, at), at)+"="+m.component(m.textOf(v, at), at)))
	}
	switch in := in.(type) {
	case *record:
		for _, k := range m.keysOf(in) {
			v, _ := m.get(in, k)
			pair(k, v)
		}
	case *list:
		for _, it := range m.items(in) {
			if isNothing(it) {
				bail(at, "", "filter urlencode takes pairs, not %s", kindOf(it))
			}
			key, _ := m.own(it, "0")
			v, _ := m.own(it, "1")
			pair(key, v)
		}
	}
	return m.made(strings.Join(pairs, "&"))
}

// words counts runs of letters, digits and underscores.
func words(s string) int {
	n, within := 0, false
	for i := range len(s) {
		is := isLetter(s[i]) || isDigit(s[i])
		if is && !within {
			n++
		}
		within = is
	}
	return n
}

func wordcount(m *machine, in value, _ given, at int) value {
	s := m.wanted("wordcount", in, at)
	m.spendText(len(s))
	n := words(s)
	if n == 0 {
		return none{}
	}
	return number(n)
}

var (
	wordOrSpace = regexp.MustCompile(`[` + white + `]+|[^` + white + `]+`)
	punctuated  = regexp.MustCompile(`^(?:\(|<|&lt;)?(.*?)(?:\.|,|\)|\n|&gt;)?$`)
	mail        = regexp.MustCompile("(?i)^[\\w.!#$%&'*+\\-/=?^`{|}~]+@[a-z\\d-]+(\\.[a-z\\d-]+)+$")
	domain      = regexp.MustCompile(`\.(?:org|net|com)(?::|/|$)`)
)

// urlize converts addresses to links.
func urlize(m *machine, in value, a given, at int) value {
	s, ok := stringOf(in)
	if !ok {
		bail(at, "convert it with | string", "filter urlize takes a string, not %s", kindOf(in))
	}
	most := length(s)
	if f := m.numberOf(a.at(0), at); !math.IsNaN(f) {
		most = max(0, m.integerOf(a.at(0), at))
	}
	follow := ""
	if a.at(1) == true {
		follow = ` rel="nofollow"`
	}
	m.spendText(len(s))
	return m.made(wordOrSpace.ReplaceAllStringFunc(s, func(w string) string {
		address := w
		if found := punctuated.FindStringSubmatch(w); found != nil {
			address = found[1]
		}
		link := func(to string) string { return `<a href="` + to + `"` + follow + ">" + cut(address, 0, most) + "</a>" }
		switch {
		case strings.HasPrefix(address, "http://"), strings.HasPrefix(address, "https://"):
			return link(address)
		case strings.HasPrefix(address, "www."):
			return link("http://" + address)
		case mail.MatchString(address):
			return `<a href="mailto:` + address + `">` + address + "</a>"
		case domain.MatchString(address):
			return link("http://" + address)
		}
		return w
	}))
}
