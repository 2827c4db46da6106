package secret

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// TestText shows a text in every way there is, and wants it nowhere.
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
			t.Errorf("%q shows in:\n%s", leak, out.String())
		}
	}
	if h.Token.Reveal() != "hunter2" || Text("").String() != "" {
		t.Errorf("who asks is told, and nothing shows as nothing")
	}
}
