package source

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// TestSecret checks that a secret is hidden in every output format.
func TestSecret(t *testing.T) {
	c := Cluster{Name: "prod", Token: "hunter2", OIDC: OIDC{ClientSecret: "hunter2", RefreshToken: "hunter2"}}
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb+"\n", c.Token)
		fmt.Fprintf(&out, verb+"\n", c)
		fmt.Fprintf(&out, verb+"\n", &c)
	}
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(data)
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "token", c.Token, "cluster", c)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "token", c.Token, "cluster", c)
	fmt.Fprintln(&out, fmt.Errorf("cannot use %v", c.Token))
	for _, leak := range []string{"hunter2", "68756e74657232"} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("%q is in:\n%s", leak, out.String())
		}
	}
	if c.Token.Reveal() != "hunter2" {
		t.Error("Reveal does not return the secret")
	}
	if got := Secret("").String(); got != "" {
		t.Errorf("empty secret is formatted as %q", got)
	}
}
