// Package seal encrypts data that must not be readable in a database.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
)

// The first byte of sealed data is its format.
const (
	plain  = 0
	sealed = 1
)

// ErrKey is returned for data that was sealed with another key, or modified since.
var ErrKey = errors.New("data was encrypted with another key")

// Key seals and opens data. A nil Key stores data unencrypted, and opens only such
// data.
type Key struct{ aead cipher.AEAD }

// New returns the key derived from a secret of the installation, nil if the secret is
// empty.
func New(secret []byte) (*Key, error) {
	if len(secret) == 0 {
		return nil, nil
	}
	const size = 32
	key, err := hkdf.Key(sha256.New, secret, nil, "scaffolder tasks", size)
	if err != nil {
		return nil, fmt.Errorf("cannot derive encryption key for secrets: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("cannot derive encryption key for secrets: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("cannot derive encryption key for secrets: %w", err)
	}
	return &Key{aead: aead}, nil
}

// Seal encrypts data. Open must be called with the same name.
func (k *Key) Seal(data []byte, name string) []byte {
	if k == nil {
		return append([]byte{plain}, data...)
	}
	size := k.aead.NonceSize()
	out := make([]byte, 1+size, 1+size+len(data)+k.aead.Overhead())
	out[0] = sealed
	_, _ = rand.Read(out[1:]) // It never fails.
	return k.aead.Seal(out, out[1:1+size], data, []byte(name))
}

// IsSealed reports whether data was encrypted.
func IsSealed(data []byte) bool { return len(data) > 0 && data[0] == sealed }

// Open returns the data that was sealed with a name.
func (k *Key) Open(data []byte, name string) ([]byte, error) {
	switch {
	case len(data) == 0:
		return nil, errors.New("data is empty")
	case data[0] == plain:
		return data[1:], nil
	case data[0] != sealed:
		return nil, errors.New("data was encrypted by a newer version")
	case k == nil:
		return nil, errors.New("data is encrypted, and no key is set")
	case len(data) < 1+k.aead.NonceSize():
		return nil, errors.New("data is truncated")
	}
	nonce, rest := data[1:1+k.aead.NonceSize()], data[1+k.aead.NonceSize():]
	out, err := k.aead.Open(nil, nonce, rest, []byte(name))
	if err != nil {
		return nil, ErrKey
	}
	return out, nil
}
