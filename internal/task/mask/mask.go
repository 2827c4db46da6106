// Package mask hides secrets in what people get to see.
package mask

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/internal/secret"
	"example.dev/ingestor/tree"
)

const (
	// hidden stands for a secret.
	hidden = "***"
	// shortest is the length of the shortest secret that is hidden: hiding one
	// letter would hide everything.
	shortest = 3
	// shortestInside is the length of the shortest part of a longer text in
	// base64 that is hidden.
	shortestInside = 8
)

// Mask hides secrets. A nil Mask hides nothing. It may be used by several
// goroutines at once.
type Mask struct{ forms []string }

// New returns a Mask for secrets: as they are, without the space around them,
// line by line, and as URLs, base64, JSON and Go write them.
func New(secrets map[string]secret.Text) *Mask {
	found := map[string]bool{}
	for _, s := range secrets {
		for _, part := range parts(s.Reveal()) {
			for _, form := range forms(part) {
				found[form] = true
			}
		}
	}
	m := &Mask{}
	for form := range found {
		m.forms = append(m.forms, form)
	}
	slices.Sort(m.forms)
	return m
}

// parts returns a secret and its lines.
func parts(s string) []string {
	all := []string{s}
	for line := range strings.Lines(s) {
		all = append(all, line)
	}
	var out []string
	for _, p := range all {
		for _, p := range []string{p, strings.TrimSpace(p)} {
			if len(p) >= shortest && strings.TrimSpace(p) != "" {
				out = append(out, p)
			}
		}
	}
	return out
}

// forms returns the ways to write a text.
func forms(s string) []string {
	quoted := strconv.Quote(s)
	out := []string{s, url.QueryEscape(s), url.PathEscape(s), quoted[1 : len(quoted)-1]}
	for _, html := range []bool{true, false} {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(html)
		if e.Encode(s) == nil {
			out = append(out, strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`))
		}
	}
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		out = append(out, e.EncodeToString([]byte(s)))
		for before := range 3 {
			if inside := insideBase64(e, s, before); len(inside) >= shortestInside {
				out = append(out, inside)
			}
		}
	}
	return out
}

// insideBase64 returns what all texts have in common in base64 that have s
// behind so many bytes, such as user:s.
func insideBase64(e *base64.Encoding, s string, before int) string {
	all := e.EncodeToString(append(make([]byte, before), s...))
	// The first and the last letters also tell of what is beside.
	begin, end := []int{0, 2, 3}[before], len(all)
	if (before+len(s))%3 != 0 {
		end--
	}
	return all[min(begin, end):end]
}

// Text returns s with its secrets hidden.
func (m *Mask) Text(s string) string {
	if m == nil {
		return s
	}
	type span struct{ from, to int }
	var spans []span
	for _, form := range m.forms {
		first := len(spans)
		for at := 0; ; at++ {
			i := strings.Index(s[at:], form)
			if i < 0 {
				break
			}
			at += i
			// One that overlaps itself again and again is one span.
			if last := len(spans) - 1; last >= first && at <= spans[last].to {
				spans[last].to = at + len(form)
				continue
			}
			spans = append(spans, span{at, at + len(form)})
		}
	}
	if len(spans) == 0 {
		return s
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	var b strings.Builder
	end := 0
	for i, p := range spans {
		if i == 0 || p.from > end {
			b.WriteString(s[end:p.from])
			b.WriteString(hidden)
		}
		end = max(end, p.to)
	}
	b.WriteString(s[end:])
	return b.String()
}

// Node returns n with the secrets in its texts and keys hidden. Parts without
// any are shared with n.
func (m *Mask) Node(n *tree.Node) *tree.Node {
	if m == nil || len(m.forms) == 0 || n == nil {
		return n
	}
	out := *n
	switch n.Kind {
	case tree.Map:
		out.Fields = slices.Clone(n.Fields)
		for i, f := range out.Fields {
			out.Fields[i].Key, out.Fields[i].Value = m.Text(f.Key), m.Node(f.Value)
		}
	case tree.List:
		out.Items = slices.Clone(n.Items)
		for i, it := range out.Items {
			out.Items[i] = m.Node(it)
		}
	default:
		text := m.Text(n.Text)
		if text == n.Text {
			return n
		}
		return tree.Str(text)
	}
	return &out
}
