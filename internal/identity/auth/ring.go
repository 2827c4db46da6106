package auth

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// ring is the portal's keys: the one this process signs with, which never
// leaves its memory, and the public halves of those of all replicas.
type ring struct {
	store              KeyStore
	now                func() time.Time
	rotation, lifetime time.Duration
	keys               *keySet

	// turn is held while a key is made, and current can be used meanwhile.
	turn    sync.Mutex
	current atomic.Pointer[signer]
}

// signer is a key to sign with.
type signer struct {
	jose.Signer
	id            string
	made, expires time.Time
}

func newRing(ctx context.Context, keys KeyStore, now func() time.Time, rotation, lifetime time.Duration) (*ring, error) {
	r := &ring{store: keys, now: now, rotation: rotation, lifetime: lifetime}
	r.keys = newKeySet(now, r.load)
	r.turn.Lock()
	defer r.turn.Unlock()
	if err := r.rotate(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// load returns the keys of the store. One that cannot be used does not keep
// the others from being.
func (r *ring) load(ctx context.Context) ([]publicKey, error) {
	found, err := r.store.Keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot read the signing keys: %w", err)
	}
	var out []publicKey
	for _, k := range found {
		p := publicKey{expires: k.Expires}
		if err := json.Unmarshal(k.JWK, &p.JSONWebKey); err != nil {
			continue
		}
		if pub, ok := p.Key.(*ecdsa.PublicKey); ok && pub.Curve == elliptic.P256() && p.KeyID == k.ID && k.ID != "" {
			out = append(out, p)
		}
	}
	return out, nil
}

// rotate makes a key and publishes its public half before it signs anything.
// The caller holds the lock.
func (r *ring) rotate(ctx context.Context) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("cannot make a signing key: %w", err)
	}
	made := r.now()
	// It lasts until what it signs last has ended, and as long again as it
	// signs: so long may the store be gone when it is time for the next one.
	s := &signer{id: rand.Text(), made: made, expires: made.Add(2*r.rotation + r.lifetime)}
	public := publicKey{JSONWebKey: jose.JSONWebKey{Key: key.Public(), KeyID: s.id, Algorithm: string(jose.ES256)}, expires: s.expires}
	jwk, err := public.MarshalJSON()
	if err != nil {
		return fmt.Errorf("cannot write a signing key: %w", err)
	}
	s.Signer, err = jose.NewSigner(
		jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: s.id}},
		(&jose.SignerOptions{}).WithType(tokenType),
	)
	if err != nil {
		return fmt.Errorf("cannot use a signing key: %w", err)
	}
	if err := r.store.AddKey(ctx, Key{ID: s.id, JWK: jwk, Expires: s.expires}); err != nil {
		return fmt.Errorf("cannot publish a signing key: %w", err)
	}
	r.keys.add(public)
	r.current.Store(s)
	return nil
}

// signer returns the key to sign with. Its public half is known for longer
// than a token signed by it lasts.
func (r *ring) signer(ctx context.Context) (*signer, error) {
	if s := r.current.Load(); r.lasts(s) {
		return s, nil
	}
	r.turn.Lock()
	defer r.turn.Unlock()
	if s := r.current.Load(); r.lasts(s) {
		return s, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := r.rotate(ctx); err != nil {
		return nil, err
	}
	return r.current.Load(), nil
}

// lasts reports whether a key lasts as long as what it would sign now.
func (r *ring) lasts(s *signer) bool {
	return !r.now().Add(r.lifetime).After(s.expires)
}

// tend reads the keys, makes another one if it is time, or if the own one has
// been taken back, and drops those that have expired.
func (r *ring) tend(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := r.keys.read(ctx, nil); err != nil {
		return err
	}
	r.turn.Lock()
	defer r.turn.Unlock()
	s := r.current.Load()
	due := !r.now().Before(s.made.Add(r.rotation))
	if !due && len(r.keys.named(s.id)) > 0 {
		return nil
	}
	if err := r.rotate(ctx); err != nil {
		return err
	}
	if err := r.store.DropKeys(ctx); err != nil {
		return fmt.Errorf("cannot drop the signing keys that have expired: %w", err)
	}
	return nil
}

// public returns the keys of all replicas, the newest first.
func (r *ring) public(ctx context.Context) []jose.JSONWebKey {
	// What is known is better than nothing.
	_ = r.keys.read(ctx, r.keys.limit)
	keys := r.keys.named("")
	slices.SortFunc(keys, func(a, b publicKey) int {
		return cmp.Or(b.expires.Compare(a.expires), cmp.Compare(a.KeyID, b.KeyID))
	})
	out := make([]jose.JSONWebKey, 0, len(keys))
	for _, k := range keys {
		out = append(out, k.JSONWebKey)
	}
	return out
}
