package seal

import (
	"bytes"
	"testing"
)

func TestSeal(t *testing.T) {
	one, err := New([]byte("the key of an installation"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := New([]byte("the key of another"))
	if err != nil {
		t.Fatal(err)
	}
	none, err := New(nil)
	if err != nil || none != nil {
		t.Fatalf("of nothing comes %v: %v", none, err)
	}
	secret := []byte("hunter2 hunter2 hunter2")
	sealed := one.Seal(secret, "a")
	if bytes.Contains(sealed, secret[:7]) || bytes.Equal(sealed, one.Seal(secret, "a")) {
		t.Error("it can be seen")
	}
	changed := bytes.Clone(sealed)
	changed[len(changed)-1] ^= 1
	cases := map[string]struct {
		reason string
		key    *Key
		data   []byte
		name   string
		want   string
	}{
		"Opened":  {"the same key opens it", one, sealed, "a", ""},
		"Plain":   {"what was not encrypted can be read", one, none.Seal(secret, "a"), "a", ""},
		"NoKey":   {"so it can without a key", none, none.Seal(secret, "a"), "a", ""},
		"Other":   {"another key does not open it", other, sealed, "a", "it was encrypted with another key"},
		"Name":    {"nor another name", one, sealed, "b", "it was encrypted with another key"},
		"Changed": {"nobody changes it", one, changed, "a", "it was encrypted with another key"},
		"Cut":     {"nor cuts it off", one, sealed[:9], "a", "it is cut off"},
		"None":    {"without a key it stays closed", none, sealed, "a", "it is encrypted, and there is no key"},
		"Newer":   {"what is not known is told", one, []byte{9, 1}, "a", "it was encrypted by a newer program"},
		"Empty":   {"nothing is not something", one, nil, "a", "it is empty"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.key.Open(tc.data, tc.name)
			said := ""
			if err != nil {
				said = err.Error()
			}
			if said != tc.want || tc.want == "" && !bytes.Equal(got, secret) {
				t.Errorf("%s: it is %q: %q", tc.reason, got, said)
			}
		})
	}
}
