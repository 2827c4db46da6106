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
		t.Fatalf("empty key returned %v: %v", none, err)
	}
	secret := []byte("hunter2 hunter2 hunter2")
	sealed := one.Seal(secret, "a")
	if bytes.Contains(sealed, secret[:7]) || bytes.Equal(sealed, one.Seal(secret, "a")) {
		t.Error("sealed data contains the secret, or is the same twice")
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
		"Opened":  {"The same key decrypts the data.", one, sealed, "a", ""},
		"Plain":   {"Data that was not encrypted can be read.", one, none.Seal(secret, "a"), "a", ""},
		"NoKey":   {"Data that was not encrypted can be read without a key.", none, none.Seal(secret, "a"), "a", ""},
		"Other":   {"Another key does not decrypt the data.", other, sealed, "a", "data was encrypted with another key"},
		"Name":    {"Another name does not decrypt the data.", one, sealed, "b", "data was encrypted with another key"},
		"Changed": {"Changed data is refused.", one, changed, "a", "data was encrypted with another key"},
		"Cut":     {"Truncated data is refused.", one, sealed[:9], "a", "data is truncated"},
		"None":    {"Encrypted data cannot be read without a key.", none, sealed, "a", "data is encrypted, and no key is set"},
		"Newer":   {"An unknown format is refused.", one, []byte{9, 1}, "a", "data was encrypted by a newer version"},
		"Empty":   {"Empty data is refused.", one, nil, "a", "data is empty"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.key.Open(tc.data, tc.name)
			said := ""
			if err != nil {
				said = err.Error()
			}
			if said != tc.want || tc.want == "" && !bytes.Equal(got, secret) {
				t.Errorf("%s: data is %q, error %q", tc.reason, got, said)
			}
		})
	}
}
