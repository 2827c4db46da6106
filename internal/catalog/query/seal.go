package query

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// A sealed text is JSON that clients keep and send back, with a signature so that only
// this catalog can create or change one: {"mac":"…",…} in base64. The JSON is ASCII
// without the two characters that would become + or / in base64, so that the text is
// the same in both alphabets: it needs no escaping in a URL, and the portal's own
// clients can decode a cursor to learn how to send it.
const (
	sealBegin = `{"mac":"`
	sealEnd   = `",`
)

// macSize is the length of a signature in base64.
var macSize = base64.RawURLEncoding.EncodedLen(sha256.Size)

// ErrSeal is returned for a text that this catalog did not create.
var ErrSeal = errors.New("not created by this catalog, or modified since")

// Seal returns v, which must be a struct with fields, as a sealed text. A text of one
// purpose is invalid for another.
func Seal(key []byte, purpose string, v any) (string, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("cannot encode cursor: %w", err)
	}
	plain = ascii(plain)
	mac := sign(key, purpose, plain[1:])
	out := make([]byte, 0, len(plain)+len(sealBegin)+len(mac)+len(sealEnd))
	out = append(append(append(append(out, sealBegin...), mac...), sealEnd...), plain[1:]...)
	return base64.RawURLEncoding.EncodeToString(out), nil
}

// Sealed reports whether a text has the format of a sealed one, which does not need the
// key.
func Sealed(text string) bool {
	_, _, ok := open(text)
	return ok
}

// Unseal reads a sealed text into v. It returns ErrSeal for other texts.
func Unseal(key []byte, purpose, text string, v any) error {
	mac, data, ok := open(text)
	if !ok || !hmac.Equal(sign(key, purpose, data), mac) {
		return ErrSeal
	}
	if err := json.Unmarshal(append([]byte{'{'}, data...), v); err != nil {
		return ErrSeal
	}
	return nil
}

// open splits a sealed text into signature and data.
func open(text string) (mac, data []byte, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	head := len(sealBegin) + macSize + len(sealEnd)
	if err != nil || len(raw) < head || string(raw[:len(sealBegin)]) != sealBegin || string(raw[head-len(sealEnd):head]) != sealEnd {
		return nil, nil, false
	}
	return raw[len(sealBegin) : len(sealBegin)+macSize], raw[head:], true
}

// sign returns the signature of data.
func sign(key []byte, purpose string, data []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(purpose))
	h.Write([]byte{0})
	h.Write(data)
	return base64.RawURLEncoding.AppendEncode(nil, h.Sum(nil))
}

// ascii escapes everything in JSON that is not ASCII, and ? and ~. (Of the characters
// whose lower six bits are all ones, or all but the last, encoding/json escapes >
// itself.)
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
