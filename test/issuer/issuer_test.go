package issuer

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/oauth2"
)

// TestRefreshToken checks an ID token as a cluster uses it.
func TestRefreshToken(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"client_secret_basic", "client_secret_post", "none"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			i := Start(t, Options{AuthMethod: method, Groups: []string{"a", "b"}, Lifetime: 10 * time.Minute})
			ctx := oidc.ClientContext(t.Context(), i.Client)
			p, err := oidc.NewProvider(ctx, i.URL)
			if err != nil {
				t.Fatal(err)
			}
			config := oauth2.Config{ClientID: i.ClientID, ClientSecret: i.ClientSecret, Endpoint: p.Endpoint()}
			config.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
			if method != "client_secret_basic" {
				config.Endpoint.AuthStyle = oauth2.AuthStyleInParams
			}
			if method == "none" {
				config.ClientSecret = ""
			}
			first := i.RefreshToken(t)
			token, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: first}).Token()
			if err != nil {
				t.Fatal(err)
			}
			if token.RefreshToken == first {
				t.Error("refresh token was not replaced")
			}
			raw, _ := token.Extra("id_token").(string)
			id, err := p.VerifierContext(ctx, &oidc.Config{ClientID: i.ClientID}).Verify(ctx, raw)
			if err != nil {
				t.Fatal(err)
			}
			var claims struct {
				Email  string
				Groups []string
			}
			if err := id.Claims(&claims); err != nil {
				t.Fatal(err)
			}
			got := []any{id.Issuer, id.Audience, id.Subject, id.Expiry.Sub(id.IssuedAt), claims.Email, claims.Groups}
			want := []any{i.URL, []string{i.ClientID}, i.Subject, 10 * time.Minute, i.Subject + "@example.com", []string{"a", "b"}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("claims of the ID token differ (-want +got):\n%s", diff)
			}
			if _, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: first}).Token(); err == nil {
				t.Error("refresh token was accepted twice")
			}
			if diff := cmp.Diff([]Request{{Grant: "refresh_token"}, {Grant: "refresh_token", Error: "invalid_grant"}}, i.Requests(t)); diff != "" {
				t.Errorf("requests differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStop checks that nothing is left when an issuer ends.
func TestStop(t *testing.T) {
	t.Parallel()
	i := Start(t, Options{})
	i.Stop()
	if err := i.get(t.Context(), i.URL+"/requests", new(any)); err == nil {
		t.Error("stopped issuer responds")
	}
}

// TestOff checks that tests that need an issuer are skipped without node.
func TestOff(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Run("Start", func(t *testing.T) {
		Start(t, Options{})
		t.Error("test was not skipped")
	})
}

// TestInstall checks that concurrent callers install the packages only once.
func TestInstall(t *testing.T) {
	if _, _, err := Install(); errors.Is(err, ErrOff) {
		t.Skip(err)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			_, modules, err := Install()
			if err == nil {
				_, err = os.Stat(modules + "/oidc-provider/package.json")
			}
			if err != nil {
				t.Errorf("Install returned %v", err)
			}
		})
	}
	wg.Wait()
}

// orphan is set for the process that is killed.
const orphan = "INGESTOR_TEST_ORPHAN"

// TestOrphan checks that an issuer ends when the test that started it is
// killed.
func TestOrphan(t *testing.T) {
	if os.Getenv(orphan) != "" {
		i := Start(t, Options{})
		if err := os.WriteFile(os.Getenv(orphan), []byte(i.URL), 0o600); err != nil {
			t.Fatal(err)
		}
		<-t.Context().Done()
		return
	}
	t.Parallel()
	seen := Start(t, Options{})
	said := t.TempDir() + "/url"
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestOrphan$")
	cmd.Env = append(os.Environ(), orphan+"="+said)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var url string
	until(t, "the other process starts an issuer", func() bool {
		data, _ := os.ReadFile(said)
		url = string(data)
		return strings.HasPrefix(url, "https://")
	})
	// A connection is enough to show that the issuer runs, even if its
	// certificate is not trusted.
	answers := func() bool {
		err := seen.get(ctx, url+"/requests", new(any))
		return err != nil && strings.Contains(err.Error(), "certificate")
	}
	if !answers() {
		t.Error("other issuer does not respond")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	until(t, "the other issuer ends", func() bool { return !answers() })
}

// until waits for a condition.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
