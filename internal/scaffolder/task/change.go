package task

import (
	"bytes"
	"regexp"
	"sync"
	"unicode/utf8"

	"example.dev/ingestor/action"
	"example.dev/ingestor/internal/scaffolder/mask"
)

// What is shown of changes: of each text, of all of them, and how many.
const (
	mostDryText    = 256 << 10
	mostDryTexts   = 4 << 20
	mostDryChanges = 500
)

// Why the text of a change is not shown, beside what actions say.
const (
	hiddenBinary = "binary"
	hiddenSecret = "secret"
	hiddenLarge  = "large"
)

// DryChange is something that a step would make different.
type DryChange struct {
	// Step is the id of the step; Where and Name say what it is about.
	Step, Where, Name string
	// Kind is add, change or remove.
	Kind string
	// Before and After are its text; nil is what is not there, or not shown.
	Before, After *string
	// Hidden says why there is no text.
	Hidden string
}

// dryChanges keeps what would become different.
type dryChanges struct {
	mask *mask.Mask

	mu   sync.Mutex
	all  []DryChange
	size int
	over bool
}

// isSecret finds what a cluster keeps as a secret, in YAML and JSON.
var isSecret = regexp.MustCompile(`(?m)(^[-\s]*|[{,]\s*)["']?kind["']?\s*:\s*["']?Secret["']?\s*([,}#]|$)`)

func (l *dryChanges) add(step string, c action.Change) {
	one := DryChange{Step: step, Where: l.mask.Text(c.Where), Name: l.mask.Text(c.Name), Kind: "change", Hidden: c.Hidden}
	switch {
	case c.Before == nil:
		one.Kind = "add"
	case c.After == nil:
		one.Kind = "remove"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || len(l.all) >= mostDryChanges {
		return
	}
	if one.Hidden == "" {
		one.Hidden = hidden(c, mostDryTexts-l.size)
	}
	if one.Hidden == "" {
		l.size += len(c.Before) + len(c.After)
		one.Before, one.After = l.text(c.Before), l.text(c.After)
	}
	l.all = append(l.all, one)
}

// hidden says why the text of a change is not shown, with so much room left.
func hidden(c action.Change, room int) string {
	for _, text := range [][]byte{c.Before, c.After} {
		switch {
		case !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0:
			return hiddenBinary
		case len(text) > mostDryText:
			return hiddenLarge
		case isSecret.Match(text):
			return hiddenSecret
		}
	}
	if len(c.Before)+len(c.After) > room {
		return hiddenLarge
	}
	return ""
}

func (l *dryChanges) text(data []byte) *string {
	if data == nil {
		return nil
	}
	text := l.mask.Text(string(data))
	return &text
}

// close returns what was told. What is told later is dropped.
func (l *dryChanges) close() []DryChange {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	return l.all
}
