package portal_test

import (
	"net/http"
	"net/http/cookiejar"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"example.dev/ingestor/test/issuer"
)

// TestProviders signs in with each configuration of docs/sign-in-providers.md, at a real issuer
// that has the claims of the provider. Only the issuer and the client differ.
func TestProviders(t *testing.T) {
	page, err := os.ReadFile(shipped("docs/sign-in-providers.md"))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason, heading string
		claims          map[string]any
		change          map[string]any
		want            []string
	}{
		"Entra": {
			"Groups are object ids, and user names are email addresses.", "Entra ID",
			map[string]any{"preferred_username": "Jane@example.org", "groups": []string{"6f1f2a5e-0c8d-4d2f-9b57-0d5c0a7f9e11"}}, nil,
			[]string{"user:default/jane-example.org-", "group:default/6f1f2a5e-0c8d-4d2f-9b57-0d5c0a7f9e11"},
		},
		"EntraRoles": {
			"App roles have readable names, and oid does not change.", "Entra ID",
			map[string]any{"oid": "11111111-aaaa-bbbb-cccc-222222222222", "roles": []string{"shop"}},
			map[string]any{"userClaim": "oid", "groupsClaim": "roles"},
			[]string{"user:default/11111111-aaaa-bbbb-cccc-222222222222", "group:default/shop"},
		},
		"EntraOverage": {
			"Beyond 200 groups, the claim refers to Microsoft Graph: the user has no groups.", "Entra ID",
			map[string]any{
				"preferred_username": "jane", "groups": nil, "_claim_names": map[string]any{"groups": "src1"},
				"_claim_sources": map[string]any{"src1": map[string]any{"endpoint": "https://graph.windows.net/t/users/u/getMemberObjects"}},
			}, nil,
			[]string{"user:default/jane"},
		},
		"Okta": {
			"A scope brings the groups; a name with a space gets a hash.", "Okta",
			map[string]any{"preferred_username": "jane", "groups": []string{"shop", "Shop Team"}}, nil,
			[]string{"user:default/jane", "group:default/shop", "group:default/shop-team-"},
		},
		"Keycloak": {
			"The first slash of a full path is removed, another makes a hash.", "Keycloak",
			map[string]any{"preferred_username": "jane", "groups": []string{"shop", "/pay", "/company/shop"}}, nil,
			[]string{"user:default/jane", "group:default/company-shop-", "group:default/pay", "group:default/shop"},
		},
		"GitHub": {
			"Dex writes teams with their organization.", "GitHub",
			map[string]any{"preferred_username": "jane", "groups": []string{"example-org:shop"}}, nil,
			[]string{"user:default/jane", "group:default/example-org-shop-9922eb4d6b60303bfe857c189dc2bfc2"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			auth := oidcOf(t, string(page), tc.heading)
			l := listen(t)
			i := issuer.Start(t, issuer.Options{Claims: tc.claims, Redirect: "http://" + l.Addr().String() + "/api/auth/oidc/handler/frame"})
			for key, v := range tc.change {
				auth[key] = v
			}
			auth["issuer"], auth["clientId"], auth["clientSecret"], auth["caFile"] = i.URL, i.ClientID, i.ClientSecret, i.CAFile
			w := start(t, setup{listener: l, sections: map[string]any{"auth": map[string]any{"providers": map[string]any{"oidc": auth}}}})
			got := w.signIn(i)
			ok := len(got) == len(tc.want)
			for n := range min(len(got), len(tc.want)) {
				// A name that ends with a dash stands for one with any hash.
				whole := strings.TrimRight(got[n], "0123456789abcdef")
				ok = ok && (got[n] == tc.want[n] || whole == tc.want[n])
			}
			if !ok {
				t.Errorf("%s Ownership references (-want +got):\n%s", tc.reason, cmp.Diff(tc.want, got))
			}
		})
	}
}

// oidcOf returns auth.providers.oidc of the configuration below a heading of a page.
func oidcOf(t *testing.T, page, heading string) map[string]any {
	t.Helper()
	_, section, found := strings.Cut(page, "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(section, -1) {
		var c struct {
			Auth struct{ Providers struct{ OIDC map[string]any } }
		}
		if err := yaml.Unmarshal([]byte(block[1]), &c); err != nil {
			t.Fatal(err)
		}
		if c.Auth.Providers.OIDC != nil {
			return c.Auth.Providers.OIDC
		}
	}
	t.Fatalf("page has no configuration for %s (heading found: %t)", heading, found)
	return nil
}

// signIn signs a user in like a browser, and returns the references of the user and the groups.
func (c caller) signIn(i *issuer.Issuer) []string {
	c.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.client.Jar = jar
	visit := func(path string, status int, v any) http.Header {
		return c.want(call{path: path, token: noToken, header: http.Header{"X-Requested-With": {"XMLHttpRequest"}}}, status, v).header
	}
	away := visit("/api/auth/oidc/start", http.StatusFound, nil).Get("Location")
	visit(strings.TrimPrefix(i.Agree(c.t, away), c.base), http.StatusFound, nil)
	var session struct {
		BackstageIdentity struct {
			Identity struct{ OwnershipEntityRefs []string }
		}
	}
	visit("/api/auth/oidc/refresh", http.StatusOK, &session)
	return session.BackstageIdentity.Identity.OwnershipEntityRefs
}
