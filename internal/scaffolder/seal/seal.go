// Package seal encrypts what must not be read in a database.
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

// The first byte of what was sealed says how.
const (
	plain  = 0
	sealed = 1
)

// ErrKey is why something cannot be opened that was sealed with another key, or
// was changed since.
var ErrKey = errors.New("it was encrypted with another key")

// Key seals and opens. A nil Key writes what it is given as it is, and opens
// only that.
type Key struct{ aead cipher.AEAD }

// New returns the key that is made of a secret of the installation, nil if there
// is none.
func New(secret []byte) (*Key, error) {
	if len(secret) == 0 {
		return nil, nil
	}
	const size = 32
	key, err := hkdf.Key(sha256.New, secret, nil, "scaffolder tasks", size)
	if err != nil {
		return nil, fmt.Errorf("cannot make the key for secrets: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("cannot make the key for secrets: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("cannot make the key for secrets: %w", err)
	}
	return &Key{aead: aead}, nil
}

// Seal encrypts data. Only whoever names the same thing opens it.
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

// Open returns what was sealed under a name.
func (k *Key) Open(data []byte, name string) ([]byte, error) {
	switch {
	case len(data) == 0:
		return nil, errors.New("it is empty")
	case data[0] == plain:
		return data[1:], nil
	case data[0] != sealed:
		return nil, errors.New("it was encrypted by a newer program")
	case k == nil:
		return nil, errors.New("it is encrypted, and there is no key")
	case len(data) < 1+k.aead.NonceSize():
		return nil, errors.New("it is cut off")
	}
	nonce, rest := data[1:1+k.aead.NonceSize()], data[1+k.aead.NonceSize():]
	out, err := k.aead.Open(nil, nonce, rest, []byte(name))
	if err != nil {
		return nil, ErrKey
	}
	return out, nil
}
