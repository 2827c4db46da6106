package secret

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// TestText formats a text in every way, and checks that it is never shown.
func TestText(t *testing.T) {
	type holder struct{ Token Text }
	h := holder{"hunter2"}
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, v := range []any{h.Token, h, &h} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
	}
	data, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(data)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "token", h.Token, "holder", h)
	for _, leak := range []string{"hunter2", "68756e74657232"} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("output contains %q:\n%s", leak, out.String())
		}
	}
	if h.Token.Reveal() != "hunter2" || Text("").String() != "" {
		t.Errorf("Reveal does not return the text, or an empty text is not shown as empty")
	}
}
