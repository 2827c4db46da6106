package mask

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/secret"
)

func TestText(t *testing.T) {
	cases := map[string]struct {
		reason  string
		secrets []secret.Text
		in      string
		want    string
	}{
		"None":      {"Without secrets nothing is masked.", nil, "abc", "abc"},
		"Plain":     {"A secret is masked wherever it occurs.", []secret.Text{"hunter2"}, "a hunter2, hunter2hunter2", "a ***, ***"},
		"Short":     {"A short secret is not masked, as it would hide everything.", []secret.Text{"ab", ""}, "abc", "abc"},
		"Space":     {"A secret of spaces only is not masked.", []secret.Text{"    "}, "a    b", "a    b"},
		"Trimmed":   {"A secret is masked without its surrounding space.", []secret.Text{" hunter2\n"}, "hunter2 ", "*** "},
		"Lines":     {"Each line of a secret is masked.", []secret.Text{"first line\nsecond line\n\nab"}, "second line ab", "*** ab"},
		"Quoted":    {"A secret is masked as JSON and Go escape it.", []secret.Text{"a\"b<c"}, `{"x":"a\"b<c","y":"a\"b\u003cc"} ` + fmt.Sprintf("%q", `a"b<c`), `{"x":"***","y":"***"} "***"`},
		"URL":       {"A secret is masked as URLs escape it.", []secret.Text{"a b/c&d"}, "?x=" + url.QueryEscape("a b/c&d") + "&y=" + url.PathEscape("a b/c&d"), "?x=***&y=***"},
		"Base64":    {"A secret is masked as base64.", []secret.Text{"hunter2"}, base64.StdEncoding.EncodeToString([]byte("hunter2")), "***=="},
		"Overlap":   {"Overlapping secrets are masked completely.", []secret.Text{"abcdef", "defghi"}, "abcdefghi", "***"},
		"Itself":    {"A secret that overlaps itself is masked completely.", []secret.Text{"aba"}, "ababa", "***"},
		"Within":    {"The longer of two secrets is masked.", []secret.Text{"abc", "abcdef"}, "abcdef", "***"},
		"Different": {"Text that is not secret is shown.", []secret.Text{"hunter2"}, "hunter3 Hunter 2", "hunter3 Hunter 2"},
		"Case":      {"A secret is masked in any case.", []secret.Text{"hunter2-Ä"}, "HUNTER2-Ä Hunter2-Ä hunter2-ä", "*** *** ***"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			secrets := map[string]secret.Text{}
			for i, s := range tc.secrets {
				secrets[fmt.Sprint(i)] = s
			}
			if diff := cmp.Diff(tc.want, New(secrets).Text(tc.in)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	var none *Mask
	if got := none.Text("abc"); got != "abc" {
		t.Errorf("nil Mask returned %s", got)
	}
}

// TestHidden writes secrets in many encodings into many texts, and checks that
// they are masked and the text around them is not.
func TestHidden(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[A-Za-z0-9 "\\/+&%<>ä]{8,40}`).Filter(func(s string) bool { return strings.TrimSpace(s) != "" }).Draw(t, "secret")
		before, after := rapid.StringMatching(`[|~]{0,10}`).Draw(t, "before"), rapid.StringMatching(`[|~]{0,10}`).Draw(t, "after")
		quoted, _ := json.Marshal(s)
		goes := fmt.Sprintf("%q", s)
		write := map[string]string{
			"plain": s, "json": string(quoted[1 : len(quoted)-1]), "query": url.QueryEscape(s), "path": url.PathEscape(s),
			"go": goes[1 : len(goes)-1], "basic": base64.StdEncoding.EncodeToString([]byte("user:" + s + "@")),
			"raw": base64.RawURLEncoding.EncodeToString([]byte(s)),
		}
		m := New(map[string]secret.Text{"x": secret.Text(s)})
		for how, written := range write {
			got := m.Text(before + written + after)
			if strings.Contains(got, written) || !strings.HasPrefix(got, before) || !strings.HasSuffix(got, after) || !strings.Contains(got, hidden) {
				t.Fatalf("secret as %s is shown as %q", how, got)
			}
		}
	})
}

// encoder is an encoding of text.
type encoder struct {
	name   string
	encode func(string) string
	// blob means that it encodes several letters together, folds that it loses the
	// case of letters.
	blob, folds bool
}

// eachByte, eachUnit and eachRune write every byte, UTF-16 unit or rune with a
// format.
func eachByte(format string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for i := range len(s) {
			fmt.Fprintf(&b, format, s[i])
		}
		return b.String()
	}
}

func eachUnit(format string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for _, u := range utf16.Encode([]rune(s)) {
			fmt.Fprintf(&b, format, u)
		}
		return b.String()
	}
}

func eachRune(format string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for _, r := range s {
			fmt.Fprintf(&b, format, r)
		}
		return b.String()
	}
}

// lowerEscapes writes percent-encoding with lower-case digits.
func lowerEscapes(s string) string {
	return regexp.MustCompile("%[0-9A-F]{2}").ReplaceAllStringFunc(url.QueryEscape(s), strings.ToLower)
}

// mime writes base64 in lines of 76 letters.
func mime(s string) string {
	var b strings.Builder
	for text := base64.StdEncoding.EncodeToString([]byte(s)); text != ""; {
		n := min(len(text), 76)
		b.WriteString(text[:n] + "\r\n")
		text = text[n:]
	}
	return b.String()
}

var encoders = []encoder{
	{name: "plain", encode: func(s string) string { return s }},
	{name: "upper", encode: strings.ToUpper, folds: true},
	{name: "lower", encode: strings.ToLower, folds: true},
	{name: "base64", encode: func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }, blob: true},
	{name: "rawurl", encode: func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }, blob: true},
	{name: "mime", encode: mime, blob: true},
	{name: "hex", encode: func(s string) string { return fmt.Sprintf("%x", s) }, blob: true},
	{name: "HEX", encode: func(s string) string { return fmt.Sprintf("%X", s) }, blob: true},
	{name: "query", encode: url.QueryEscape},
	{name: "path", encode: url.PathEscape},
	{name: "query, lower", encode: lowerEscapes},
	{name: "query twice", encode: func(s string) string { return url.QueryEscape(url.QueryEscape(s)) }},
	{name: "percent", encode: eachByte("%%%02X")},
	{name: "percent, lower", encode: eachByte("%%%02x")},
	{name: "json", encode: func(s string) string { b, _ := json.Marshal(s); return string(b[1 : len(b)-1]) }},
	{name: "json, all", encode: eachUnit(`\u%04x`)},
	{name: "go", encode: func(s string) string { b := strconv.QuoteToASCII(s); return b[1 : len(b)-1] }},
	{name: "html", encode: html.EscapeString},
	{name: "html, all", encode: eachRune("&#%d;")},
	{name: "html, hex", encode: eachRune("&#x%X;")},
}

// TestChains writes a secret in one encoding inside another, surrounded by text,
// and checks that it is masked.
func TestChains(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[A-Za-z0-9 "\\/+&%<>=äßЖ😀]{8,40}`).Filter(func(s string) bool { return len(strings.TrimSpace(s)) >= 8 }).Draw(t, "secret")
		written, blobs, before, after := s, 0, "", ""
		for i := range rapid.IntRange(1, 4).Draw(t, "depth") {
			e := rapid.SampledFrom(encoders).Draw(t, "encoder")
			if e.folds && blobs > 0 && i != 1 {
				// Base64 that has lost its case cannot be decoded inside other encodings.
				continue
			}
			if e.blob {
				blobs++
			}
			written = e.encode(written)
			// Surrounding letters do not affect encodings of single letters; the start of a
			// blob must be visible if it is escaped.
			around := rapid.StringMatching(`[a-zA-Z0-9 :;,./|=_+"'<>&%\\\n-]{0,8}`)
			before, after = around.Draw(t, "before"), around.Draw(t, "after")
			if blobs > 0 {
				before += rapid.StringMatching(`[ |,:]`).Draw(t, "between")
			}
			if i == 3 || rapid.Bool().Draw(t, "outermost") {
				break
			}
			if rapid.Bool().Draw(t, "inside") {
				written = before + written + after
			}
			before, after = "", ""
		}
		got := New(map[string]secret.Text{"x": secret.Text(s)}).Text(before + written + after)
		if strings.Contains(got, written) || !strings.Contains(got, hidden) {
			t.Fatalf("%q is shown as %q", written, got)
		}
	})
}

// TestWhole checks that an encoded secret is masked completely, except for
// padding.
func TestWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[A-Za-z0-9"<>ä]{20,200}`).Draw(t, "secret")
		written, names := s, []string{}
		for range rapid.IntRange(1, 3).Draw(t, "depth") {
			e := rapid.SampledFrom(slices.DeleteFunc(slices.Clone(encoders), func(e encoder) bool { return e.folds })).Draw(t, "encoder")
			written, names = e.encode(written), append(names, e.name)
		}
		got := New(map[string]secret.Text{"x": secret.Text(s)}).Text(written)
		if left := strings.ReplaceAll(got, hidden, ""); len(left) > len(written)/2 {
			t.Fatalf("secret as %v %q is shown as %q", names, written, got)
		}
	})
}

// TestFoldedBase64 checks that base64 that lost its case, and cannot be decoded,
// is masked.
func TestFoldedBase64(t *testing.T) {
	for _, s := range []string{"hunter2-hunter3", strings.Repeat("a long secret, ", 20)} {
		m := New(map[string]secret.Text{"x": secret.Text(s)})
		for _, user := range []string{"", "a:", "ab:", "abc:"} {
			text := strings.ToUpper(base64.StdEncoding.EncodeToString([]byte(user + s + "@host")))
			if got := m.Text(text); len(got) > 20 {
				t.Errorf("%q after %q is shown as %q", s, user, got)
			}
		}
	}
}

// TestHostile checks the time limit for texts with very many possible decodings.
func TestHostile(t *testing.T) {
	many := map[string]secret.Text{}
	for i := range 99 {
		many[fmt.Sprint(i)] = secret.Text(strings.Repeat("%41A", i%30+1) + strings.Repeat("3%25", i%20+1))
	}
	m := New(many)
	cases := map[string]string{
		"percent": strings.Repeat("%25", 1<<14) + strings.Repeat("41", 1<<13), "nested": strings.Repeat("%2525252541", 6000),
		"threes": strings.Repeat("3", 1<<16), "entities": strings.Repeat("&#38;#37;41", 6000), "slashes": strings.Repeat(`\`, 1<<16),
		"open": strings.Repeat("&#x", 1<<14), "zeros": strings.Repeat("A", 1<<16), "lines": strings.Repeat("QUFB\n", 1<<13),
	}
	for name, text := range cases {
		began := time.Now()
		m.Text(text)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s took %v", name, took)
		} else {
			t.Logf("%s took %v", name, took)
		}
	}
}

// TestOverlaps masks a secret that overlaps itself everywhere, without storing
// each match.
func TestOverlaps(t *testing.T) {
	m := New(map[string]secret.Text{"x": "aaa"})
	long := strings.Repeat("a", 1<<20)
	n := testing.AllocsPerRun(1, func() {
		if got := m.Text(long + "b" + long); got != "***b***" {
			t.Errorf("masked text is %.20s", got)
		}
	})
	if n > 20 {
		t.Errorf("masking took %v allocations, want at most 20", n)
	}
}

func TestNode(t *testing.T) {
	m := New(map[string]secret.Text{"a": "hunter2", "b": "12345"})
	in := tree.Obj(tree.F("a", tree.Str("x hunter2")), tree.F("hunter2", tree.Arr(tree.Number(1), tree.Number(1234567), tree.Str("y"))), tree.F("b", tree.Boolean(true)))
	want := `{"a":"x ***","***":[1,"***67","y"],"b":true}`
	if diff := cmp.Diff(want, string(tree.AppendJSON(nil, m.Node(in), ""))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(`x hunter2`, in.Get("a").Str()); diff != "" {
		t.Errorf("input was changed (-want +got):\n%s", diff)
	}
}
