package audit

import (
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// timeFormat is RFC 3339 with milliseconds. Times are in UTC.
	timeFormat = "2006-01-02T15:04:05.000Z"
	// maxText is how many characters of a text are written.
	maxText = 512
	// maxFields is how many entries of a target are written.
	maxFields = 32
)

// line is an event as it is written.
type line struct {
	Time      string            `json:"time"`
	Event     string            `json:"event"`
	Result    Result            `json:"result"`
	Actor     Actor             `json:"actor"`
	Target    map[string]string `json:"target,omitempty"`
	Counts    map[string]int    `json:"counts,omitempty"`
	RequestID string            `json:"requestId,omitempty"`
	Client    string            `json:"client,omitempty"`
	Reason    string            `json:"reason,omitempty"`
}

// lineOf returns an event with its texts truncated.
func lineOf(e Event) line {
	l := line{Event: bounded(e.Name), Result: e.Result, Counts: e.Counts, Reason: bounded(e.Reason)}
	if e.Actor != nil {
		l.Actor = e.Actor.bounded()
	}
	for key, value := range e.Target {
		if value == "" || len(l.Target) == maxFields {
			continue
		}
		if l.Target == nil {
			l.Target = map[string]string{}
		}
		l.Target[bounded(key)] = bounded(value)
	}
	return l
}

func (a Actor) bounded() Actor {
	return Actor{Kind: bounded(a.Kind), Subject: bounded(a.Subject), Via: bounded(a.Via)}
}

// bounded truncates a text.
func bounded(s string) string {
	if len(s) <= maxText {
		return s
	}
	n := 0
	for i := range s {
		if n == maxText {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// encode returns the line with a newline. All non-printable characters are escaped,
// so that it is one line for every reader, and cannot control a terminal.
func (l line) encode() []byte {
	// Strings and numbers can always be encoded.
	data, _ := json.Marshal(l)
	out := make([]byte, 0, len(data)+1)
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if unicode.IsPrint(r) {
			out = append(out, data[:size]...)
		} else {
			// Non-printable characters occur only inside strings: everything else is ASCII.
			out = append(out, escaped(r)...)
		}
		data = data[size:]
	}
	return append(out, '\n')
}

// escaped returns the JSON escape of a character, as a surrogate pair if necessary.
func escaped(r rune) string {
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
