// Package keyring has the keys that tokens are signed and verified with: a Ring with the
// portal's own keys, which replicas share, and a Set of public keys, also of others.
package keyring

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

// Ring holds the portal's keys: the signing key of this process, which never leaves
// its memory, and the public keys of all replicas.
type Ring struct {
	store              Store
	tokenType          string
	now                func() time.Time
	rotation, lifetime time.Duration
	keys               *Set

	// turn is held while a key is created; current can be used meanwhile.
	turn    sync.Mutex
	current atomic.Pointer[Signer]
}

// Store is where replicas share their public keys. It must be safe for concurrent use.
type Store interface {
	// AddKey publishes a key until it expires.
	AddKey(ctx context.Context, k Key) error
	// Keys returns the published keys.
	Keys(ctx context.Context) ([]Key, error)
	// DropKeys removes the keys that have expired.
	DropKeys(ctx context.Context) error
}

// Key is the public half of a signing key.
type Key struct {
	ID string
	// JWK is the key as JSON.
	JWK []byte
	// Expires is when nothing signed by it is valid any more.
	Expires time.Time
}

// Signer is a signing key.
type Signer struct {
	jose.Signer
	ID            string
	made, expires time.Time
}

// New returns a ring that has published its first key. A key signs for the rotation
// period, tokens of the given type that are valid for lifetime.
func New(ctx context.Context, keys Store, tokenType string, now func() time.Time, rotation, lifetime time.Duration) (*Ring, error) {
	r := &Ring{store: keys, tokenType: tokenType, now: now, rotation: rotation, lifetime: lifetime}
	r.keys = NewSet(now, r.load)
	r.turn.Lock()
	defer r.turn.Unlock()
	if err := r.rotate(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// load returns the keys of the store. Unusable keys are skipped.
func (r *Ring) load(ctx context.Context) ([]PublicKey, error) {
	found, err := r.store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	var out []PublicKey
	for _, k := range found {
		p := PublicKey{Expires: k.Expires}
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
func (r *Ring) rotate(ctx context.Context) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("cannot generate signing key: %w", err)
	}
	made := r.now()
	// The key must outlive the last token it signs. The extra rotation period covers an
	// outage of the store when the next key is due.
	s := &Signer{ID: rand.Text(), made: made, expires: made.Add(2*r.rotation + r.lifetime)}
	public := PublicKey{JSONWebKey: jose.JSONWebKey{Key: key.Public(), KeyID: s.ID, Algorithm: string(jose.ES256)}, Expires: s.expires}
	jwk, err := public.MarshalJSON()
	if err != nil {
		return fmt.Errorf("cannot encode signing key: %w", err)
	}
	s.Signer, err = jose.NewSigner(
		jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: s.ID}},
		(&jose.SignerOptions{}).WithType(jose.ContentType(r.tokenType)),
	)
	if err != nil {
		return fmt.Errorf("cannot use signing key: %w", err)
	}
	if err := r.store.AddKey(ctx, Key{ID: s.ID, JWK: jwk, Expires: s.expires}); err != nil {
		return fmt.Errorf("cannot publish signing key: %w", err)
	}
	r.keys.add(public)
	r.current.Store(s)
	return nil
}

// Signer returns the signing key. Its public half is published for longer than a
// token signed by it is valid.
func (r *Ring) Signer(ctx context.Context) (*Signer, error) {
	if s := r.current.Load(); r.lasts(s) {
		return s, nil
	}
	r.turn.Lock()
	defer r.turn.Unlock()
	if s := r.current.Load(); r.lasts(s) {
		return s, nil
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	if err := r.rotate(ctx); err != nil {
		return nil, err
	}
	return r.current.Load(), nil
}

// lasts reports whether a key outlives a token that it would sign now.
func (r *Ring) lasts(s *Signer) bool {
	return !r.now().Add(r.lifetime).After(s.expires)
}

// Tend reads the keys, creates a new one if it is due or the current one was
// withdrawn, and then removes expired ones.
func (r *Ring) Tend(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	if err := r.keys.read(ctx, nil); err != nil {
		return err
	}
	r.turn.Lock()
	defer r.turn.Unlock()
	s := r.current.Load()
	due := !r.now().Before(s.made.Add(r.rotation))
	if !due && len(r.keys.named(s.ID)) > 0 {
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

// Verify returns the header and the payload of a token that one of the keys signed. Any
// error other than ErrForged means that the keys cannot be read.
func (r *Ring) Verify(ctx context.Context, raw string) (jose.Header, []byte, error) {
	return r.keys.Verify(ctx, raw, []jose.SignatureAlgorithm{jose.ES256})
}

// Public returns the keys of all replicas, newest first.
func (r *Ring) Public(ctx context.Context) []jose.JSONWebKey {
	// If reading fails, the cached keys are returned.
	_ = r.keys.read(ctx, r.keys.limit)
	keys := r.keys.named("")
	slices.SortFunc(keys, func(a, b PublicKey) int {
		return cmp.Or(b.Expires.Compare(a.Expires), cmp.Compare(a.KeyID, b.KeyID))
	})
	out := make([]jose.JSONWebKey, 0, len(keys))
	for _, k := range keys {
		out = append(out, k.JSONWebKey)
	}
	return out
}
