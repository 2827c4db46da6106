// Package mask redacts secrets in text that is shown to users.
//
// A secret is found in any casing and in any nesting of common text encodings:
// percent-encoding, the escapes of JSON and Go, HTML entities, base64 and hex.
// Instead of searching for every encoded form of a secret, a text is read in all the
// ways in which it can be decoded, and each reading is matched against one trie of
// all secrets, so that the time does not grow with the number of secrets.
package mask

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/secret"
)

const (
	// hidden replaces a secret.
	hidden = "***"
	// shortest is the minimum length of a secret that is redacted: redacting one letter
	// would redact everything.
	shortest = 3
	// shortestInside is the minimum length of a secret that is searched for in decoded
	// base64 and hex: any text decodes to something, which contains shorter ones by
	// chance.
	shortestInside = 6
	// longest is the maximum length of a pattern. A longer secret is split into several
	// patterns, so that a search takes at most that many steps at each position.
	longest = 64
)

// Mask redacts secrets. A nil Mask redacts nothing. It may be used by several
// goroutines concurrently.
type Mask struct {
	// texts are the secrets, and blobs their base64 forms for text that lost its letter
	// case.
	texts, blobs trie
	// inside is the length of the shortest secret that is searched for in decoded base64
	// and hex, 0 if there is none.
	inside int
}

// New returns a Mask for secrets: unchanged, without surrounding white space, and
// line by line.
func New(secrets map[string]secret.Text) *Mask {
	m := &Mask{}
	var texts, blobs []string
	for _, s := range secrets {
		for i, part := range parts(s.Reveal()) {
			for _, v := range variants(part) {
				texts = append(texts, patterns(v)...)
				if len(v) >= shortestInside && (m.inside == 0 || len(v) < m.inside) {
					m.inside = min(len(v), longest)
				}
				if len(v) < shortestInside {
					texts = append(texts, hex.EncodeToString([]byte(v)), base64.RawStdEncoding.EncodeToString([]byte(v)), base64.RawURLEncoding.EncodeToString([]byte(v)))
				} else if i < 2 {
					blobs = append(blobs, foldedBase64(v)...)
				}
			}
		}
	}
	m.texts, m.blobs = newTrie(texts, &textFold), newTrie(blobs, &blobFold)
	return m
}

// parts returns a secret and its lines, each unchanged and without surrounding white
// space.
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

// variants returns a text unchanged and in upper and lower case, and with invalid
// UTF-8 replaced as JSON encoders do. ASCII letters are found in any casing; other
// letters, and base64 that lost its case, only in these variants.
func variants(s string) []string {
	out := []string{s, strings.ToLower(s), strings.ToUpper(s)}
	if !utf8.ValidString(s) {
		out = append(out, strings.ToValidUTF8(s, "\uFFFD"))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// patterns splits a text into pieces that together cover it, at rune boundaries,
// because an escape encodes a whole rune.
func patterns(s string) []string {
	if len(s) <= longest+longest/2 {
		return []string{s}
	}
	var out []string
	for len(s) > longest {
		end := runeBefore(s, longest)
		out = append(out, s[:end])
		// The last piece is as long as the others.
		s = s[min(end, runeBefore(s, len(s)-longest)):]
	}
	return append(out, s)
}

// runeBefore returns the start of the rune that a byte belongs to.
func runeBefore(s string, at int) int {
	for back := range utf8.UTFMax {
		if at-back > 0 && utf8.RuneStart(s[at-back]) {
			return at - back
		}
	}
	return at
}

// foldedBase64 returns the base64 characters that depend on s alone, for each of the
// three possible alignments. Of a long text the beginning is enough: the rest of the
// run is redacted with it.
func foldedBase64(s string) []string {
	s = s[:min(len(s), longest*3/4)]
	var out []string
	for before := range 3 {
		all := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), s...))
		// The first and the last characters also depend on adjacent bytes.
		begin, end := []int{0, 2, 3}[before], len(all)
		if (before+len(s))%3 != 0 {
			end--
		}
		if end-begin >= shortestBlob {
			out = append(out, all[begin:end])
		}
	}
	return out
}

// shortestBlob is the minimum length of a base64 run to search: shorter ones do not
// hold shortestInside bytes. Two characters of such a run may belong to adjacent
// bytes.
const shortestBlob = shortestInside

// Text returns s with its secrets redacted.
func (m *Mask) Text(s string) string {
	if m == nil || m.texts.empty() {
		return s
	}
	found := m.find(s)
	if len(found) == 0 {
		return s
	}
	slices.SortFunc(found, func(a, b span) int { return a.from - b.from })
	var b strings.Builder
	end := 0
	for i, p := range found {
		if i == 0 || p.from > end {
			b.WriteString(s[end:p.from])
			b.WriteString(hidden)
		}
		end = max(end, p.to)
	}
	b.WriteString(s[end:])
	return b.String()
}

// Node returns n with the secrets in its strings and keys redacted. Scalars without
// secrets are shared with n.
func (m *Mask) Node(n *tree.Node) *tree.Node {
	if m == nil || m.texts.empty() || n == nil {
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
