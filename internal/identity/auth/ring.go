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

// ring holds the portal's keys: the signing key of this process, which never leaves
// its memory, and the public keys of all replicas.
type ring struct {
	store              KeyStore
	now                func() time.Time
	rotation, lifetime time.Duration
	keys               *keySet

	// turn is held while a key is created; current can be used meanwhile.
	turn    sync.Mutex
	current atomic.Pointer[signer]
}

// signer is a signing key.
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

// load returns the keys of the store. Unusable keys are skipped.
func (r *ring) load(ctx context.Context) ([]publicKey, error) {
	found, err := r.store.Keys(ctx)
	if err != nil {
		return nil, err
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

// rotate creates a key, and publishes its public half before it signs anything. The
// caller must hold turn.
func (r *ring) rotate(ctx context.Context) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("cannot generate signing key: %w", err)
	}
	made := r.now()
	// The key must outlive the last token it signs. The extra rotation period covers an
	// outage of the store when the next key is due.
	s := &signer{id: rand.Text(), made: made, expires: made.Add(2*r.rotation + r.lifetime)}
	public := publicKey{JSONWebKey: jose.JSONWebKey{Key: key.Public(), KeyID: s.id, Algorithm: string(jose.ES256)}, expires: s.expires}
	jwk, err := public.MarshalJSON()
	if err != nil {
		return fmt.Errorf("cannot encode signing key: %w", err)
	}
	s.Signer, err = jose.NewSigner(
		jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: s.id}},
		(&jose.SignerOptions{}).WithType(tokenType),
	)
	if err != nil {
		return fmt.Errorf("cannot use signing key: %w", err)
	}
	if err := r.store.AddKey(ctx, Key{ID: s.id, JWK: jwk, Expires: s.expires}); err != nil {
		return fmt.Errorf("cannot publish signing key: %w", err)
	}
	r.keys.add(public)
	r.current.Store(s)
	return nil
}

// signer returns the signing key. Its public half is published for longer than a
// token signed by it is valid.
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

// lasts reports whether a key outlives a token that it would sign now.
func (r *ring) lasts(s *signer) bool {
	return !r.now().Add(r.lifetime).After(s.expires)
}

// tend reads the keys, creates a new one if it is due or the current one was
// withdrawn, and then removes expired ones.
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
		return fmt.Errorf("cannot rotate signing keys: %w", err)
	}
	return nil
}

// public returns the keys of all replicas, newest first.
func (r *ring) public(ctx context.Context) []jose.JSONWebKey {
	// If reading fails, the cached keys are returned.
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
