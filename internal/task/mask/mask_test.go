package mask

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/internal/secret"
	"example.dev/ingestor/tree"
)

func TestText(t *testing.T) {
	cases := map[string]struct {
		reason  string
		secrets []secret.Text
		in      string
		want    string
	}{
		"None":      {"without secrets nothing is hidden", nil, "abc", "abc"},
		"Plain":     {"as it is", []secret.Text{"hunter2"}, "a hunter2, hunter2hunter2", "a ***, ***"},
		"Short":     {"one too short would hide everything", []secret.Text{"ab", ""}, "abc", "abc"},
		"Space":     {"one that is all space too", []secret.Text{"    "}, "a    b", "a    b"},
		"Trimmed":   {"space around it is often lost", []secret.Text{" hunter2\n"}, "hunter2 ", "*** "},
		"Lines":     {"each line of a key", []secret.Text{"first line\nsecond line\n\nab"}, "second line ab", "*** ab"},
		"Quoted":    {"as JSON and Go write it", []secret.Text{"a\"b<c"}, `{"x":"a\"b<c","y":"a\"b\u003cc"} ` + fmt.Sprintf("%q", `a"b<c`), `{"x":"***","y":"***"} "***"`},
		"URL":       {"as URLs have it", []secret.Text{"a b/c&d"}, "?x=" + url.QueryEscape("a b/c&d") + "&y=" + url.PathEscape("a b/c&d"), "?x=***&y=***"},
		"Base64":    {"as base64", []secret.Text{"hunter2"}, base64.StdEncoding.EncodeToString([]byte("hunter2")), "***=="},
		"Overlap":   {"of two that overlap nothing is left", []secret.Text{"abcdef", "defghi"}, "abcdefghi", "***"},
		"Itself":    {"nor of one that overlaps itself", []secret.Text{"aba"}, "ababa", "***"},
		"Within":    {"the longer one is hidden", []secret.Text{"abc", "abcdef"}, "abcdef", "***"},
		"Different": {"what is not secret is shown", []secret.Text{"hunter2"}, "hunter3 Hunter2", "hunter3 Hunter2"},
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
		t.Errorf("no mask makes %s", got)
	}
}

// TestHidden writes secrets in many ways into many texts. None is left, and what
// was around them is.
func TestHidden(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[A-Za-z0-9 "\\/+&%<>ä]{8,40}`).Filter(func(s string) bool { return strings.TrimSpace(s) != "" }).Draw(t, "secret")
		before, after := rapid.StringMatching(`[|-]{0,10}`).Draw(t, "before"), rapid.StringMatching(`[|-]{0,10}`).Draw(t, "after")
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
				t.Fatalf("as %s it is %q", how, got)
			}
		}
	})
}

// TestOverlaps hides a secret that overlaps itself all along, without keeping
// each place it is at.
func TestOverlaps(t *testing.T) {
	m := New(map[string]secret.Text{"x": "aaa"})
	long := strings.Repeat("a", 1<<20)
	n := testing.AllocsPerRun(1, func() {
		if got := m.Text(long + "b" + long); got != "***b***" {
			t.Errorf("it is %.20s", got)
		}
	})
	if n > 20 {
		t.Errorf("it takes %v allocations", n)
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
		t.Errorf("what it was made of (-want +got):\n%s", diff)
	}
}
