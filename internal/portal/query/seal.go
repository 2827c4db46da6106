package catalog

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// A sealed text is JSON that clients keep and give back, with a signature so
// that nobody else can make or change one: {"mac":"…",…} in base64. All
// replicas sign with one key, which the store keeps. The JSON is plain ASCII
// without the two characters that would make + or / of base64, so that the text
// is the same in both alphabets: it goes into an address as it is, and the
// portal's own clients, which look into a cursor to learn how to send it, can.
const (
	sealBegin = `{"mac":"`
	sealEnd   = `",`
)

// macSize is that of a signature in base64.
var macSize = base64.RawURLEncoding.EncodedLen(sha256.Size)

// errSeal is a text that this catalog did not make.
var errSeal = errors.New("it was not made by this catalog, or was changed since")

// seal returns v, which must be a struct with fields, as a sealed text. Texts
// of one purpose are of no use for another.
func (c *Catalog) seal(ctx context.Context, purpose string, v any) (string, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("cannot write a cursor: %w", err)
	}
	plain = ascii(plain)
	mac, err := c.mac(ctx, purpose, plain[1:])
	if err != nil {
		return "", err
	}
	out := make([]byte, 0, len(plain)+len(sealBegin)+len(mac)+len(sealEnd))
	out = append(append(append(append(out, sealBegin...), mac...), sealEnd...), plain[1:]...)
	return base64.RawURLEncoding.EncodeToString(out), nil
}

// unseal reads a sealed text into v. It returns errSeal for one that is not.
func (c *Catalog) unseal(ctx context.Context, purpose, text string, v any) error {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	head := len(sealBegin) + macSize + len(sealEnd)
	if err != nil || len(raw) < head || string(raw[:len(sealBegin)]) != sealBegin || string(raw[head-len(sealEnd):head]) != sealEnd {
		return errSeal
	}
	mac, err := c.mac(ctx, purpose, raw[head:])
	if err != nil {
		return err
	}
	if !hmac.Equal(mac, raw[len(sealBegin):len(sealBegin)+macSize]) {
		return errSeal
	}
	if err := json.Unmarshal(append([]byte{'{'}, raw[head:]...), v); err != nil {
		return errSeal
	}
	return nil
}

// mac signs data.
func (c *Catalog) mac(ctx context.Context, purpose string, data []byte) ([]byte, error) {
	key, err := c.sealKey(ctx)
	if err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, key)
	h.Write([]byte(purpose))
	h.Write([]byte{0})
	h.Write(data)
	return base64.RawURLEncoding.AppendEncode(nil, h.Sum(nil)), nil
}

// sealKey returns the key that texts are signed with. It never changes, so it
// is asked for once.
func (c *Catalog) sealKey(ctx context.Context) ([]byte, error) {
	if key := c.key.Load(); key != nil {
		return *key, nil
	}
	key, err := c.store.Secret(ctx, "cursor")
	if err != nil {
		return nil, err
	}
	c.key.Store(&key)
	return key, nil
}

// ascii escapes everything in JSON that is not ASCII, and ? and ~. (Of the
// characters whose lower six bits are all ones, or all but the last, json
// escapes > itself.)
func ascii(data []byte) []byte {
	plain := true
	for _, b := range data {
		if b >= '~' || b == '?' {
			plain = false
			break
		}
	}
	if plain {
		return data
	}
	out := make([]byte, 0, len(data)+len(data)/4)
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		i += n
		switch {
		case r < '~' && r != '?':
			out = append(out, byte(r))
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}
