package store

import (
	"bytes"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

func TestSecret(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s, replica := open(), open()
		first, err := s.Secret(t.Context(), "cursor")
		if err != nil || len(first) != secretSize {
			t.Fatalf("%d bytes (%v)", len(first), err)
		}
		for _, who := range []*Store{s, replica, open()} {
			got, err := who.Secret(t.Context(), "cursor")
			if err != nil || !bytes.Equal(got, first) {
				t.Errorf("a replica has another secret (%v)", err)
			}
		}
		other, err := replica.Secret(t.Context(), "other")
		if err != nil || bytes.Equal(other, first) {
			t.Errorf("another name has the same secret (%v)", err)
		}
	})
}

func TestKeys(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		now := time.UnixMilli(1_000_000).UTC()
		s.opts.Now = func() time.Time { return now }
		b := Key{ID: "b", JWK: []byte(`{"kty":"EC"}`), Expires: now.Add(time.Hour)}
		a := Key{ID: "a", JWK: []byte(`{}`), Expires: now.Add(time.Minute)}
		for _, k := range []Key{b, a, a} {
			if err := s.AddKey(t.Context(), k); err != nil {
				t.Fatal(err)
			}
		}
		want := func(keys ...Key) {
			t.Helper()
			got, err := s.Keys(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(keys, got); diff != "" {
				t.Error(diff)
			}
		}
		want(a, b)
		now = now.Add(time.Minute)
		want(b)
		if err := s.DropKeys(t.Context()); err != nil {
			t.Fatal(err)
		}
		now = now.Add(-time.Minute)
		want(b)
		b.Expires = b.Expires.Add(time.Hour)
		if err := s.AddKey(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		want(b)
	})
}
