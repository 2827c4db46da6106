// Package secret holds texts that must not be shown: tokens, passwords, keys.
package secret

import "fmt"

// Text is a text that shows itself to nobody who does not ask with Reveal.
type Text string

// masked is what a Text shows.
const masked = "********"

// Reveal returns the text.
func (t Text) Reveal() string { return string(t) }

// String hides the text.
func (t Text) String() string {
	if t == "" {
		return ""
	}
	return masked
}

// Format hides the text from every verb.
func (t Text) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(t.String())) }

// MarshalText hides the text in JSON, YAML, and what else is made of values.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }
