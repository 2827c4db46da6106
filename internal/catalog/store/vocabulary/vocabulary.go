// Package vocabulary finds the words of the catalog that a misspelled word may mean.
package vocabulary

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/text"
)

const (
	// MaxWords is up to how many words are held in memory, which takes about 8 MB. If the
	// catalog has more, no word is similar to another.
	MaxWords = 200_000
	// maxNear is how many similar words are returned. Words of entities that a caller may not
	// read are among them, so it is far above what a language has.
	maxNear = 256
	// minLength is the length of the shortest word that may be similar to another.
	minLength = 3
	// loadEvery is the shortest interval of reading all words, and fullEvery that of checking
	// whether there are still too many.
	loadEvery = time.Minute
	fullEvery = time.Hour
)

// Vocabulary holds the words of the catalog, and nothing about the entities that have
// them. The change log brings it up to date; words of removed entities stay until all
// words are read again. All methods may be called concurrently.
type Vocabulary struct {
	db       *db.DB
	maxWords int
	// turn is held by the goroutine that reads what is missing.
	turn chan struct{}

	mu sync.RWMutex
	// revision is that of the words; 0 means that nothing is loaded. loaded is when all words
	// were read.
	revision int64
	loaded   time.Time
	// byLength has the words by their number of characters, and size is how many there are.
	byLength map[int]*words
	size     int
	// full reports that there are too many words, so that none are held.
	full bool
}

// words are words of the same length, each with the set of its letters.
type words struct {
	words []string
	sets  []uint32
}

// New returns the vocabulary of a database, of at most maxWords words.
func New(d *db.DB, maxWords int) *Vocabulary {
	return &Vocabulary{db: d, maxWords: maxWords, turn: make(chan struct{}, 1)}
}

// Near returns, for each of some words in lower case, the words of the catalog that are
// similar, the most similar first. Words that begin with the word itself are not among
// them. For words of 4 to 7 characters one edit is similar, for longer ones two; shorter
// ones and numbers are similar to nothing.
func (v *Vocabulary) Near(ctx context.Context, asked []string) ([][]string, error) {
	near := make([][]string, len(asked))
	if !slices.ContainsFunc(asked, func(w string) bool { return maxEdits(w) > 0 }) {
		return near, nil
	}
	if err := v.update(ctx); err != nil {
		return nil, err
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	for i, w := range asked {
		near[i] = v.near(w)
	}
	return near, nil
}

// maxEdits returns how many edits away a word may be from a similar one.
func maxEdits(w string) int {
	if !strings.ContainsFunc(w, unicode.IsLetter) {
		return 0
	}
	switch n := utf8.RuneCountInString(w); {
	case n < 4:
		return 0
	case n < 8:
		return 1
	}
	return 2
}

func (v *Vocabulary) near(word string) []string {
	type similar struct {
		word  string
		edits int
	}
	var found []similar
	most, length, set, typed := maxEdits(word), utf8.RuneCountInString(word), letters(word), narrow(word)
	for n := length - most; most > 0 && n <= length+most; n++ {
		of := v.byLength[n]
		if of == nil {
			continue
		}
		for i, w := range of.words {
			// An edit adds a letter, removes one, or both.
			if bits.OnesCount32(of.sets[i]^set) > 2*most || strings.HasPrefix(w, word) {
				continue
			}
			if edits := text.Distance(typed, narrow(w)); edits <= most {
				found = append(found, similar{w, edits})
			}
		}
	}
	slices.SortFunc(found, func(a, b similar) int { return cmp.Or(a.edits-b.edits, strings.Compare(a.word, b.word)) })
	var near []string
	for _, s := range found[:min(len(found), maxNear)] {
		near = append(near, s.word)
	}
	return near
}

// letters returns the set of the letters of a word.
func letters(w string) (set uint32) {
	for _, r := range w {
		if r >= 'a' && r <= 'z' {
			set |= 1 << (r - 'a')
		} else {
			set |= 1 << (26 + r%6)
		}
	}
	return set
}

// narrow returns a word with one byte per character, so that an edit is one character.
// Characters that become the same byte count as equal, which is rare and harmless.
func narrow(w string) string {
	if utf8.RuneCountInString(w) == len(w) {
		return w
	}
	out := make([]byte, 0, len(w))
	for _, r := range w {
		out = append(out, byte(r))
	}
	return string(out)
}

// update brings the words up to date. One goroutine does that for all that wait.
func (v *Vocabulary) update(ctx context.Context) error {
	revision, err := changelog.Revision(ctx, v.db.Query)
	if err != nil || v.isAt(revision) {
		return err
	}
	select {
	case v.turn <- struct{}{}:
		defer func() { <-v.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if v.isAt(revision) {
		return nil
	}
	// Only the goroutine that holds turn writes.
	age := v.db.Now().Sub(v.loaded)
	switch {
	case v.revision == 0 || v.full && age >= fullEvery:
	case v.full:
		return nil
	case v.revision < revision:
		if followed, err := v.follow(ctx); followed || err != nil {
			return err
		}
		fallthrough
	default:
		// Words that are missing for a minute cost a typo that is not recognized.
		if age < loadEvery {
			return nil
		}
	}
	return v.load(ctx)
}

func (v *Vocabulary) isAt(revision int64) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.revision == revision
}

// follow adds the words of entities that have changed. It returns false if the change log
// does not cover all changes, or there are too many words.
func (v *Vocabulary) follow(ctx context.Context) (bool, error) {
	n, err := changelog.Since(ctx, v.db.Query, v.revision)
	if err != nil || !n.Complete {
		return false, err
	}
	refs := make([]string, 0, len(n.Present))
	for ref := range n.Present {
		refs = append(refs, ref)
	}
	var changed []string
	err = v.db.SelectIn(ctx, v.db.Query, "SELECT words FROM documents WHERE ref IN ", refs, func(rows *db.Rows) error {
		var all string
		err := rows.Scan(&all)
		changed = append(changed, strings.Split(all, index.WordEnd)...)
		return err
	})
	if err != nil {
		return false, err
	}
	slices.Sort(changed)
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, w := range slices.Compact(changed) {
		if isCandidate(w) && !v.has(w) {
			v.add(w)
		}
	}
	v.revision = n.Revision
	return v.size <= v.maxWords, nil
}

// load reads all words.
func (v *Vocabulary) load(ctx context.Context) error {
	fresh := New(v.db, v.maxWords)
	fresh.byLength = map[int]*words{}
	var err error
	// A change in between is in the change log after this revision.
	if fresh.revision, err = changelog.Revision(ctx, v.db.Query); err != nil {
		return err
	}
	rows, err := v.db.Query(ctx, "SELECT DISTINCT value FROM postings WHERE kid = $1 AND value <> ''", index.WordKid)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() && fresh.size <= v.maxWords {
		var w string
		if err := rows.Scan(&w); err != nil {
			return err
		}
		if isCandidate(w) {
			fresh.add(w)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.revision, v.loaded, v.full = fresh.revision, v.db.Now(), fresh.size > v.maxWords
	v.byLength, v.size = fresh.byLength, fresh.size
	if v.full {
		v.byLength, v.size = nil, 0
	}
	return nil
}

// isCandidate reports whether a word can be similar to a word of a search term: it has
// letters, and nothing but letters and digits.
func isCandidate(w string) bool {
	letter := false
	for _, r := range w {
		switch {
		case unicode.IsLetter(r):
			letter = true
		case !unicode.IsDigit(r):
			return false
		}
	}
	return letter && utf8.RuneCountInString(w) >= minLength
}

func (v *Vocabulary) has(w string) bool {
	of := v.byLength[utf8.RuneCountInString(w)]
	if of == nil {
		return false
	}
	set := letters(w)
	for i, s := range of.sets {
		if s == set && of.words[i] == w {
			return true
		}
	}
	return false
}

func (v *Vocabulary) add(w string) {
	n := utf8.RuneCountInString(w)
	of := v.byLength[n]
	if of == nil {
		of = &words{}
		v.byLength[n] = of
	}
	of.words, of.sets = append(of.words, w), append(of.sets, letters(w))
	v.size++
}
