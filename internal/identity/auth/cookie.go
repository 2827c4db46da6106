package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Browsers store about 4,000 bytes per cookie, so longer values are split into
// several cookies.
const (
	pieceSize  = 3500
	mostPieces = 5
)

// errTooLong is returned for a value that does not fit into cookies.
var errTooLong = errors.New("value is too long for cookies")

// cookie stores an encrypted value in the browser, which can neither read nor change
// it.
type cookie struct {
	name, path string
	lasts      time.Duration
	secure     bool
	seal       cipher.AEAD
}

// newCookie returns a cookie whose key is derived from a secret and its name, so that
// the value of one cookie cannot be used in another.
func newCookie(secret []byte, name, path string, lasts time.Duration, secure bool) (*cookie, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, "portal cookie "+name, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &cookie{name: name, path: path, lasts: lasts, secure: secure, seal: seal}, nil
}

// write stores a value in the browser.
func (c *cookie) write(w http.ResponseWriter, r *http.Request, v any) error {
	plain, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("cannot write cookie %s: %w", c.name, err)
	}
	rest := base64.RawURLEncoding.EncodeToString(c.seal.Seal(nil, nil, plain, nil))
	pieces := (len(rest) + pieceSize - 1) / pieceSize
	if pieces > mostPieces {
		return errTooLong
	}
	// The first piece has the number of pieces, since old ones may be left in the
	// browser.
	for i := range pieces {
		n := min(pieceSize, len(rest))
		value := rest[:n]
		if i == 0 {
			value = strconv.Itoa(pieces) + "." + value
		}
		c.set(w, i, value, int(c.lasts/time.Second))
		rest = rest[n:]
	}
	c.clearFrom(w, r, pieces)
	return nil
}

// read reads the value into v, and reports whether the browser has a valid one.
func (c *cookie) read(r *http.Request, v any) bool {
	first, err := r.Cookie(c.piece(0))
	if err != nil {
		return false
	}
	count, text, _ := strings.Cut(first.Value, ".")
	pieces, err := strconv.Atoi(count)
	if err != nil || pieces < 1 || pieces > mostPieces {
		return false
	}
	for i := 1; i < pieces; i++ {
		next, err := r.Cookie(c.piece(i))
		if err != nil {
			return false
		}
		text += next.Value
	}
	if len(text) > mostPieces*pieceSize {
		return false
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return false
	}
	plain, err := c.seal.Open(nil, nil, sealed, nil)
	return err == nil && json.Unmarshal(plain, v) == nil
}

// clear removes the value from the browser.
func (c *cookie) clear(w http.ResponseWriter, r *http.Request) { c.clearFrom(w, r, 0) }

func (c *cookie) clearFrom(w http.ResponseWriter, r *http.Request, from int) {
	for i := from; i < mostPieces; i++ {
		if _, err := r.Cookie(c.piece(i)); err == nil {
			c.set(w, i, "", -1)
		}
	}
}

func (c *cookie) piece(i int) string {
	if i == 0 {
		return c.name
	}
	return c.name + "-" + strconv.Itoa(i)
}

func (c *cookie) set(w http.ResponseWriter, i int, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: c.piece(i), Value: value, Path: c.path, MaxAge: age,
		HttpOnly: true, Secure: c.secure, SameSite: http.SameSiteLaxMode,
	})
}
