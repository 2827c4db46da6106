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
			"A valid name is kept.", config.OIDCProvider{UserClaim: "preferred_username", GroupsClaim: "groups"},
			`{"preferred_username":"Ada","groups":["Team-A","team-a","b"]}`,
			[]string{"user:default/ada", "group:default/b", "group:default/team-a"},
		},
		"namespaces": {
			"Namespaces are configurable.", config.OIDCProvider{UserClaim: "sub", GroupsClaim: "roles", UserNamespace: "People", GroupNamespace: "teams"},
			`{"sub":"ada","roles":["x"]}`, []string{"user:people/ada", "group:teams/x"},
		},
		"one group": {
			"A single group may be a text.", config.OIDCProvider{UserClaim: "sub", GroupsClaim: "groups"},
			`{"sub":"ada","groups":"x"}`, []string{"user:default/ada", "group:default/x"},
		},
		"odd groups": {
			"Values that are not names are ignored.", config.OIDCProvider{UserClaim: "sub", GroupsClaim: "groups"},
			`{"sub":"ada","groups":["x",1,null,{},"",["y"]]}`, []string{"user:default/ada", "group:default/x"},
		},
		"no groups": {
			"Groups of another type are ignored.", config.OIDCProvider{UserClaim: "sub", GroupsClaim: "groups"},
			`{"sub":"ada","groups":{"x":1}}`, []string{"user:default/ada"},
		},
		"groups unasked": {
			"Without a configured claim there are no groups.", config.OIDCProvider{UserClaim: "sub"}, `{"sub":"ada","groups":["x"],"":["y"]}`, []string{"user:default/ada"},
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

// TestDistinct checks that different users have different references, and the
// same user has the same one.
func TestDistinct(t *testing.T) {
	ref := func(claim, value string) string {
		v, _ := json.Marshal(value)
		got, err := (&issuer{settings: config.OIDCProvider{UserClaim: claim}}).person(answers{claim: v})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := entity.ParseExisting(got.ref, "", ""); err != nil {
			t.Errorf("reference of %q is invalid: %v", value, err)
		}
		return got.ref
	}
	seen := map[string]string{}
	for _, v := range []string{
		"ab", "Ab", "aB", "AB", "Ab#", "ab#", "a b", "a/b", "group:default/x", "a@b.example", "a.b.example", "ä", "Ä", "../x", "x\x00", "日本",
	} {
		got := ref("sub", v)
		if other, ok := seen[got]; ok {
			t.Errorf("%q and %q both have the reference %s", v, other, got)
		}
		seen[got] = v
	}
	if a, b := ref("email", "Ada@Example.com"), ref("email", "ada@example.com"); a != b {
		t.Errorf("one e-mail address has the references %s and %s", a, b)
	}
}

// TestImpostor checks names that are chosen to impersonate another user.
func TestImpostor(t *testing.T) {
	ref := func(name string) string { return reference("user", "", distinct("preferred_username", name)) }
	nameOf := func(ref string) string { return strings.TrimPrefix(ref, "user:default/") }
	made := nameOf(ref("ada@example.com"))
	plain := strings.Repeat("x", 40) + "@example.com"
	cases := map[string]struct{ reason, victim, impostor string }{
		"Made":       {"A name that looks like an encoded one is distinct.", "ada@example.com", made},
		"MadeTwice":  {"A name that looks like a twice encoded one is distinct.", made, nameOf(ref(made))},
		"Long":       {"A name that is cut is distinct.", plain, nameOf(ref(plain))},
		"Kelvin":     {"The Kelvin sign is not a K.", "kate", "\u212Aate"},
		"Dotted":     {"An I with a dot is not an I.", "irene", "\u0130rene"},
		"Collision":  {"Names whose hashes share eight digits are distinct.", "ada@example.com+#*#$#!!", "ada@example.com#$*!+$!!"},
		"Capitals":   {"Names that differ in the case of another alphabet are distinct.", "\u00e4", "\u00c4"},
		"Separators": {"Names that differ in invalid characters are distinct.", "a@b", "a!b"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			victim, impostor := ref(tc.victim), ref(tc.impostor)
			if victim == impostor {
				t.Errorf("%s: %q and %q both have the reference %s", tc.reason, tc.victim, tc.impostor, victim)
			}
			if _, err := entity.ParseExisting(impostor, "", ""); err != nil {
				t.Error(err)
			}
		})
	}
}
