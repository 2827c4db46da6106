package migration

import (
	"net/url"
	"testing"
)

// TestPlain checks which URL the portal reads.
func TestPlain(t *testing.T) {
	for name, tc := range map[string]struct{ reason, target, want string }{
		"GitHub": {"The page of a file has HTML.", "https://github.com/o/r/blob/main/a/catalog-info.yaml", "https://raw.githubusercontent.com/o/r/main/a/catalog-info.yaml"},
		"Tree":   {"Backstage also writes tree.", "https://github.com/o/r/tree/main/catalog-info.yaml", "https://raw.githubusercontent.com/o/r/main/catalog-info.yaml"},
		"GitLab": {"GitLab may have its own host, and groups in groups.", "https://git.example.org/a/b/c/-/blob/main/x.yaml", "https://git.example.org/a/b/c/-/raw/main/x.yaml"},
		"Other":  {"Other URLs stay.", "https://example.org/blob/x.yaml?token=a", "https://example.org/blob/x.yaml?token=a"},
		"Short":  {"A user is not a file.", "https://github.com/ada", "https://github.com/ada"},
	} {
		t.Run(name, func(t *testing.T) {
			u, err := url.Parse(tc.target)
			if err != nil {
				t.Fatal(err)
			}
			if plain(u); u.String() != tc.want {
				t.Errorf("%s\ngot %s, want %s", tc.reason, u, tc.want)
			}
		})
	}
}

// TestIsFile checks which URLs may be files of entities.
func TestIsFile(t *testing.T) {
	for target, want := range map[string]bool{
		"https://github.com/o/r/blob/main/catalog-info.yaml":               true,
		"https://dev.azure.com/o/p/_git/r?path=/catalog-info.YML":          true,
		"https://github.com/ada":                                           false,
		"https://github.com/orgs/acme/teams/platform":                      false,
		"https://portal.example.org/api/catalog/feed.json?filter=kind=api": true,
	} {
		u, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		if got := isFile(u); got != want {
			t.Errorf("isFile(%s) is %t, want %t", target, got, want)
		}
	}
}

// TestLinked checks which URLs are pages of entities.
func TestLinked(t *testing.T) {
	for address, want := range map[string]string{
		"/catalog/default/component/shop":                             "component:default/shop",
		"https://b.example.org/base/catalog/Team/API/shop/definition": "api:team/shop",
		"https://b.example.org/create/templates/default/bucket?x=y":   "template:default/bucket",
		"https://b.example.org/catalog":                               "",
		"https://docs.example.org/templates/default/bucket":           "",
		"http://[bad": "",
	} {
		if got, ok := linked(address); got != want || ok != (want != "") {
			t.Errorf("linked(%s) is %q, %t, want %q", address, got, ok, want)
		}
	}
}
