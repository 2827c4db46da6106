package portal_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"example.dev/ingestor/test/issuer"
)

// TestSignIn signs a user in at a real issuer, like a browser. It checks that
// by the portal's rules the user may change entities of their team only.
func TestSignIn(t *testing.T) {
	l := listen(t)
	base := "http://" + l.Addr().String()
	i := issuer.Start(t, issuer.Options{Groups: []string{"team"}, Redirect: base + "/api/auth/oidc/handler/frame"})
	change := []string{"catalog.entity.create", "catalog.entity.delete"}
	w := start(t, setup{listener: l, sections: map[string]any{
		"auth": map[string]any{"providers": map[string]any{"oidc": map[string]any{
			"issuer": i.URL, "clientId": i.ClientID, "clientSecret": i.ClientSecret, "caFile": i.CAFile, "userClaim": "sub",
		}}},
		"permission": map[string]any{"rules": []any{
			map[string]any{"who": []string{"user"}, "permissions": change, "owners": []string{"own"}, "result": "allow"},
			map[string]any{"who": []string{"user"}, "permissions": change, "result": "deny"},
		}},
	}})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	w.client.Jar = jar
	visit := func(method, path string, status int, v any) reply {
		t.Helper()
		return w.want(call{method: method, path: path, token: noToken, header: http.Header{"X-Requested-With": {"XMLHttpRequest"}}}, status, v)
	}

	visit("POST", "/api/auth/guest/refresh", http.StatusForbidden, nil)
	visit("GET", "/api/auth/oidc/refresh", http.StatusUnauthorized, nil)
	visit("GET", "/api/auth/oidc/start?redirect=//elsewhere.example.org/", http.StatusBadRequest, nil)
	away := visit("GET", "/api/auth/oidc/start?redirect=/catalog", http.StatusFound, nil).header.Get("Location")
	if !strings.HasPrefix(away, i.URL) || !strings.Contains(away, "code_challenge_method=S256") {
		t.Fatalf("sign-in redirects to %s, want the issuer with a code challenge", away)
	}
	back := strings.TrimPrefix(i.Agree(t, away), w.base)
	if home := visit("GET", back, http.StatusFound, nil).header.Get("Location"); home != w.base+"/catalog" {
		t.Errorf("sign-in returns to %s, want the page it began on", home)
	}
	visit("GET", back, http.StatusUnauthorized, nil)

	var session struct {
		BackstageIdentity struct {
			Token    string
			Identity struct{ OwnershipEntityRefs []string }
		}
	}
	visit("POST", "/api/auth/oidc/refresh", http.StatusOK, &session)
	token, owns := session.BackstageIdentity.Token, session.BackstageIdentity.Identity.OwnershipEntityRefs
	if !strings.Contains(strings.Join(owns, " "), "group:default/team") {
		t.Errorf("ownership references of the user are %v, want those of their groups", owns)
	}
	w.want(call{path: "/api/catalog/entities", token: token}, http.StatusOK, nil)

	var got report
	theirs := strings.ReplaceAll(component("theirs"), "group:default/team", "group:default/others")
	w.want(call{
		method: "PUT", path: "/api/catalog/providers/mine/entities", body: component("ours") + "\n" + theirs, header: ndjson, token: token,
	}, http.StatusOK, &got)
	if got.Added != 1 || len(got.Refused) != 1 || !strings.Contains(got.Refused[0].Reason, "catalog.entity.create") {
		t.Errorf("push returned %+v, want only the entity of the team accepted", got)
	}
	w.push("others", theirs)
	for name, status := range map[string]int{"theirs": http.StatusForbidden, "ours": http.StatusNoContent} {
		var entity struct{ Metadata struct{ UID string } }
		w.get("/api/catalog/entities/by-name/component/default/"+name, &entity)
		w.want(call{method: "DELETE", path: "/api/catalog/entities/by-uid/" + entity.Metadata.UID, token: token}, status, nil)
	}
	at, err := url.Parse(w.base + "/api/auth/oidc/refresh")
	if err != nil {
		t.Fatal(err)
	}
	copied := jar.Cookies(at)
	visit("POST", "/api/auth/oidc/logout", http.StatusOK, nil)
	visit("GET", "/api/auth/oidc/refresh", http.StatusUnauthorized, nil)
	// A copied cookie and token are invalid after the logout.
	jar.SetCookies(at, copied)
	visit("GET", "/api/auth/oidc/refresh", http.StatusUnauthorized, nil)
	w.want(call{path: "/api/catalog/entities", token: token}, http.StatusForbidden, nil)
}
