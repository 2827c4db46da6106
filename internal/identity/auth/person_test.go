package auth

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/config"
)

func TestPerson(t *testing.T) {
	cases := map[string]struct {
		reason   string
		settings config.OIDCProvider
		claims   string
		want     []string
	}{
		"plain": {
			"a name that is one", config.OIDCProvider{UserClaim: "preferred_username", GroupsClaim: "groups"},
			`{"preferred_username":"Ada","groups":["Team-A","team-a","b"]}`,
			[]string{"user:default/ada", "group:default/b", "group:default/team-a"},
		},
		"namespaces": {
			"namespaces are configured", config.OIDCProvider{UserClaim: "sub", GroupsClaim: "roles", UserNamespace: "People", GroupNamespace: "teams"},
			`{"sub":"ada","roles":["x"]}`, []string{"user:people/ada", "group:teams/x"},
		},
		"one group": {
			"some issuers write one as a text", config.OIDCProvider{UserClaim: "sub", GroupsClaim: "groups"},
			`{"sub":"ada","groups":"x"}`, []string{"user:default/ada", "group:default/x"},
		},
		"odd groups": {
			"what is no name is no group", config.OIDCProvider{UserClaim: "sub", GroupsClaim: "groups"},
			`{"sub":"ada","groups":["x",1,null,{},"",["y"]]}`, []string{"user:default/ada", "group:default/x"},
		},
		"no groups": {
			"they are in none", config.OIDCProvider{UserClaim: "sub", GroupsClaim: "groups"},
			`{"sub":"ada","groups":{"x":1}}`, []string{"user:default/ada"},
		},
		"groups unasked": {
			"no claim is configured", config.OIDCProvider{UserClaim: "sub"}, `{"sub":"ada","groups":["x"],"":["y"]}`, []string{"user:default/ada"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var all answers
			if err := json.Unmarshal([]byte(tc.claims), &all); err != nil {
				t.Fatal(err)
			}
			got, err := (&issuer{settings: tc.settings}).person(all)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got.ownership); diff != "" || got.ref != tc.want[0] {
				t.Errorf("%s: %q (-want +got):\n%s", tc.reason, got.ref, diff)
			}
		})
	}
}

// TestDistinct sees that different people are different users, and the same
// one is the same.
func TestDistinct(t *testing.T) {
	ref := func(claim, value string) string {
		v, _ := json.Marshal(value)
		got, err := (&issuer{settings: config.OIDCProvider{UserClaim: claim}}).person(answers{claim: v})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := entity.ParseExisting(got.ref, "", ""); err != nil {
			t.Errorf("%q: %v", value, err)
		}
		return got.ref
	}
	seen := map[string]string{}
	for _, v := range []string{
		"ab", "Ab", "aB", "AB", "Ab#", "ab#", "a b", "a/b", "group:default/x", "a@b.example", "a.b.example", "ä", "Ä", "../x", "x\x00", "日本",
	} {
		got := ref("sub", v)
		if other, ok := seen[got]; ok {
			t.Errorf("%q and %q are both %s", v, other, got)
		}
		seen[got] = v
	}
	if a, b := ref("email", "Ada@Example.com"), ref("email", "ada@example.com"); a != b {
		t.Errorf("one address is %s and %s", a, b)
	}
}

// TestImpostor chooses names so as to be taken for somebody else.
func TestImpostor(t *testing.T) {
	ref := func(name string) string { return reference("user", "", distinct("preferred_username", name)) }
	nameOf := func(ref string) string { return strings.TrimPrefix(ref, "user:default/") }
	made := nameOf(ref("ada@example.com"))
	plain := strings.Repeat("x", 40) + "@example.com"
	cases := map[string]struct{ reason, victim, impostor string }{
		"Made":       {"a name that looks as if it was made of another", "ada@example.com", made},
		"MadeTwice":  {"and one made of that", made, nameOf(ref(made))},
		"Long":       {"one that is cut", plain, nameOf(ref(plain))},
		"Kelvin":     {"a K that is not one", "kate", "\u212Aate"},
		"Dotted":     {"an I with a dot", "irene", "\u0130rene"},
		"Collision":  {"names of which eight digits of the hash are the same", "ada@example.com+#*#$#!!", "ada@example.com#$*!+$!!"},
		"Capitals":   {"names that differ in a capital of another alphabet", "\u00e4", "\u00c4"},
		"Separators": {"names that differ in what is not allowed", "a@b", "a!b"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			victim, impostor := ref(tc.victim), ref(tc.impostor)
			if victim == impostor {
				t.Errorf("%s: %q and %q are both %s", tc.reason, tc.victim, tc.impostor, victim)
			}
			if _, err := entity.ParseExisting(impostor, "", ""); err != nil {
				t.Error(err)
			}
		})
	}
}
