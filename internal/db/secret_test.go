package db

import (
	"bytes"
	"testing"
)

func TestSecret(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *DB) {
		s, replica := open(), open()
		first, err := s.Secret(t.Context(), "cursor")
		if err != nil || len(first) != secretSize {
			t.Fatalf("secret has %d bytes (%v)", len(first), err)
		}
		for _, who := range []*DB{s, replica, open()} {
			got, err := who.Secret(t.Context(), "cursor")
			if err != nil || !bytes.Equal(got, first) {
				t.Errorf("another replica has a different secret (%v)", err)
			}
		}
		other, err := replica.Secret(t.Context(), "other")
		if err != nil || bytes.Equal(other, first) {
			t.Errorf("another name has the same secret (%v)", err)
		}
	})
}
