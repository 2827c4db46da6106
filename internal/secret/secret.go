// Package secret holds text that must not be shown: tokens, passwords, keys.
package secret

import "fmt"

// Text is text that only Reveal returns; it is redacted everywhere else.
type Text string

// masked is the redacted form of a Text.
const masked = "********"

// Reveal returns the text.
func (t Text) Reveal() string { return string(t) }

// String returns the redacted text.
func (t Text) String() string {
	if t == "" {
		return ""
	}
	return masked
}

// Format writes the redacted text for every verb.
func (t Text) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(t.String())) }

// MarshalText redacts the text in JSON, YAML and other encodings.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }
