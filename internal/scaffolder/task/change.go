package task

import (
	"bytes"
	"regexp"
	"sync"
	"unicode/utf8"

	"example.dev/ingestor/action"
	"example.dev/ingestor/internal/scaffolder/mask"
)

// Limits of the changes that are shown: bytes per text, bytes of all texts, and
// number of changes.
const (
	mostDryText    = 256 << 10
	mostDryTexts   = 4 << 20
	mostDryChanges = 500
)

// Reasons why the text of a change is not shown, besides those that actions give.
const (
	hiddenBinary = "binary"
	hiddenSecret = "secret"
	hiddenLarge  = "large"
)

// DryChange is a change that a step would make.
type DryChange struct {
	// Step is the id of the step; Where and Name identify what it would change.
	Step, Where, Name string
	// Kind is add, change or remove.
	Kind string
	// Before and After are the text before and after; nil if it does not exist or is not
	// shown.
	Before, After *string
	// Hidden is the reason why no text is shown.
	Hidden string
}

// dryChanges collects the changes that a dry run would make.
type dryChanges struct {
	mask *mask.Mask

	mu   sync.Mutex
	all  []DryChange
	size int
	over bool
}

// isSecret matches Kubernetes Secrets in YAML and JSON.
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

// hidden returns the reason why the text of a change is not shown, empty if it is;
// room is how many bytes may still be shown.
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

// close returns the collected changes. Changes added later are dropped.
func (l *dryChanges) close() []DryChange {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	return l.all
}
