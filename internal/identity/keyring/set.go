package keyring

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"
)

// Timeout is the timeout for reading keys and for requests to an issuer.
const Timeout = 10 * time.Second

// Limits for reading keys because of a token with an unknown key, since any client
// can send such tokens.
const (
	readEvery = time.Second
	readBurst = 3
)

// ErrForged is returned for an invalid signature.
var ErrForged = errors.New("token signature matches no known key")

// PublicKey is a key that tokens are verified with.
type PublicKey struct {
	jose.JSONWebKey
	// Expires is zero if it is not known.
	Expires time.Time
}

// Set is a set of public keys. It is read again when a token names an unknown key.
// If that fails, the current keys are kept.
type Set struct {
	load   func(context.Context) ([]PublicKey, error)
	now    func() time.Time
	limit  *rate.Limiter
	flight singleflight.Group

	mu   sync.RWMutex
	keys map[string][]PublicKey
	// readAt is when they were last read, and err the error of the last attempt.
	readAt time.Time
	err    error
}

// NewSet returns a set whose keys load reads.
func NewSet(now func() time.Time, load func(context.Context) ([]PublicKey, error)) *Set {
	return &Set{load: load, now: now, limit: rate.NewLimiter(rate.Every(readEvery), readBurst)}
}

// Verify returns the header and the payload of a token that was signed with one of
// the keys. Any error other than ErrForged means that the keys cannot be read.
func (s *Set) Verify(ctx context.Context, raw string, algorithms []jose.SignatureAlgorithm) (jose.Header, []byte, error) {
	signed, err := jose.ParseSignedCompact(raw, algorithms)
	if err != nil || len(signed.Signatures) != 1 {
		return jose.Header{}, nil, ErrForged
	}
	header := signed.Signatures[0].Protected
	for again := false; ; again = true {
		keys := s.named(header.KeyID)
		for _, k := range keys {
			if payload, err := signed.Verify(k.JSONWebKey); err == nil {
				return header, payload, nil
			}
		}
		if again || header.KeyID != "" && len(keys) > 0 {
			return jose.Header{}, nil, ErrForged
		}
		if err := s.read(ctx, s.limit); err != nil {
			return jose.Header{}, nil, err
		}
	}
}

// named returns the unexpired keys with an id; all unexpired keys if the id is empty.
func (s *Set) named(id string) []PublicKey {
	s.mu.RLock()
	defer s.mu.RUnlock()
	keys := s.keys[id]
	if id == "" {
		keys = slices.Concat(slices.Collect(maps.Values(s.keys))...)
	}
	now := s.now()
	var out []PublicKey
	for _, k := range keys {
		if k.Expires.IsZero() || now.Before(k.Expires) {
			out = append(out, k)
		}
	}
	return out
}

// Read reads the keys.
func (s *Set) Read(ctx context.Context) error { return s.read(ctx, nil) }

// read reads the keys, within the rate limit. Concurrent callers share one request.
func (s *Set) read(ctx context.Context, limit *rate.Limiter) error {
	done := s.flight.DoChan("", func() (any, error) {
		if limit != nil && !limit.AllowN(s.now(), 1) {
			s.mu.RLock()
			defer s.mu.RUnlock()
			return nil, s.err
		}
		// The first caller may be cancelled before the others.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Timeout)
		defer cancel()
		keys, err := s.load(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.err = err
		if err == nil {
			s.readAt, s.keys = s.now(), byID(keys)
		}
		return nil, err
	})
	select {
	case <-ctx.Done():
		return ctx.Err()
	case r := <-done:
		return r.Err
	}
}

// add adds a key without reading the others.
func (s *Set) add(k PublicKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []PublicKey{k}
	for _, keys := range s.keys {
		all = append(all, keys...)
	}
	s.keys = byID(all)
}

// Age returns how long ago the keys were read.
func (s *Set) Age() time.Duration {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.now().Sub(s.readAt)
}

func byID(keys []PublicKey) map[string][]PublicKey {
	out := make(map[string][]PublicKey, len(keys))
	for _, k := range keys {
		out[k.KeyID] = append(out[k.KeyID], k)
	}
	return out
}
