package vocabulary

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/text"
	"example.dev/ingestor/test/database"
)

func TestMain(m *testing.M) { database.Main(m) }

// catalog is a catalog that has words only.
type catalog struct {
	t *testing.T
	*db.DB
	now time.Time
}

func newCatalog(t *testing.T, d *db.DB) *catalog {
	c := &catalog{t: t, DB: d, now: time.Now()}
	d.Now = func() time.Time { return c.now }
	return c
}

// set gives an entity words, in a revision of its own. Without words it removes the
// entity. If logged is false, the change log does not have the change.
func (c *catalog) set(ref string, logged bool, words ...string) {
	c.t.Helper()
	err := c.Transact(c.t.Context(), db.NewWriters(), "revision", func(tx *db.Tx) error {
		// Each entity has rows of its own, in a block with the number of its first letter.
		if _, err := tx.ExecContext(c.t.Context(), "DELETE FROM postings WHERE block = $1", int(ref[0])); err != nil {
			return err
		}
		for _, table := range []string{"documents", "fields"} {
			if err := tx.DeleteIn(c.t.Context(), table, "ref", []string{ref}); err != nil {
				return err
			}
		}
		all := ""
		for i, w := range words {
			if _, err := tx.ExecContext(c.t.Context(), "INSERT INTO postings (kid, value, original, block, n, ids) VALUES (0, $1, '', $2, 1, $3)", w, int(ref[0]), []byte{1}); err != nil {
				return err
			}
			if i > 0 {
				all += "\n"
			}
			all += w
		}
		if len(words) > 0 {
			if _, err := tx.ExecContext(c.t.Context(), "INSERT INTO documents (ref, words, etag_at, relations_at, body) VALUES ($1, $2, 0, 0, $3)", ref, all, []byte("{}")); err != nil {
				return err
			}
			if _, err := tx.ExecContext(c.t.Context(), "INSERT INTO fields (ref, packed) VALUES ($1, '')", ref); err != nil {
				return err
			}
		}
		if !logged {
			return nil
		}
		var log changelog.Log
		log.Add(ref)
		return changelog.Append(c.t.Context(), tx, &log)
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *catalog) near(v *Vocabulary, word string) []string {
	c.t.Helper()
	near, err := v.Near(c.t.Context(), []string{word})
	if err != nil {
		c.t.Fatal(err)
	}
	return near[0]
}

func TestNear(t *testing.T) {
	cases := map[string]struct {
		reason, word string
		want         []string
	}{
		"Replaced":  {"A replaced letter is one edit.", "databose", []string{"database"}},
		"Removed":   {"A missing letter is one edit.", "daabase", []string{"database"}},
		"Added":     {"An additional letter is one edit.", "queuee", []string{"queue"}},
		"Swap":      {"Swapped letters are one edit.", "qeuue", []string{"queue"}},
		"Two":       {"A word of eight letters may have two edits.", "databsse", []string{"database"}},
		"TwoShort":  {"A word of seven letters may have one edit.", "databss", nil},
		"Three":     {"Three edits are too many.", "dxtxbxse", nil},
		"Short":     {"A word of three letters has no typos.", "cas", nil},
		"ToShort":   {"A word of four letters is near one of three.", "ccat", []string{"cat"}},
		"Self":      {"A word is not similar to itself.", "database", nil},
		"Prefix":    {"A word is not similar to one that it begins.", "databas", nil},
		"Number":    {"Numbers have no typos.", "10025", nil},
		"Digits":    {"Words with digits have.", "s3buckt", []string{"s3bucket"}},
		"Umlaut":    {"A letter of two bytes is one edit.", "grosse", []string{"grösse"}},
		"Umlauts":   {"So is a missing one.", "grsse", []string{"grösse"}},
		"Separated": {"A name as a whole is not a word.", "ordersdb", nil},
		"Nearest":   {"The most similar word is first.", "deployment", []string{"deploymant", "deploymeet", "deplyoments"}},
		"Unknown":   {"Another word is near nothing.", "elephants", nil},
		"Empty":     {"An empty word is near nothing.", "", nil},
	}
	database.OnBoth(t, func(t *testing.T, open func() *db.DB) {
		c := newCatalog(t, open())
		c.set("a", true, "database", "queue", "cat", "s3bucket", "orders-db", "grösse", "10024", "deploymant", "deplyoments", "deploymeet")
		v := New(c.DB, MaxWords)
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				c.t = t
				if diff := cmp.Diff(tc.want, c.near(v, tc.word)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			})
		}
	})
}

// TestFollow changes words, and checks that the vocabulary has them.
func TestFollow(t *testing.T) {
	database.OnBoth(t, func(t *testing.T, open func() *db.DB) {
		c := newCatalog(t, open())
		v := New(c.DB, 5)
		check := func(reason, word string, want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, c.near(v, word)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", reason, diff)
			}
		}
		check("an empty catalog", "banans")
		c.set("a", true, "banana", "apple")
		check("a word is added", "banans", "banana")
		c.set("a", true, "cherry", "apple")
		check("a word of an entity is replaced", "cherri", "cherry")
		check("a word that no entity has any more is similar still", "banans", "banana")
		c.set("b", false, "lemons")
		check("a change that is not logged is not noticed at once", "lemans")
		c.now = c.now.Add(loadEvery)
		check("it is noticed a minute later", "lemans", "lemons")
		check("removed words are gone then", "banans")
		c.set("b", true)
		c.set("c", true, "orange", "grapes", "papaya")
		check("as many words as there may be", "orangs", "orange")
		c.now = c.now.Add(loadEvery)
		c.set("d", true, "quince", "tomato")
		check("too many words", "orangs")
		c.set("d", true)
		check("too many words a moment ago", "orangs")
		c.now = c.now.Add(fullEvery)
		check("no longer too many", "orangs", "orange")
		if len(v.byLength) == 0 || v.size > 5 {
			t.Errorf("vocabulary has %d words, want at most 5", v.size)
		}
	})
}

// TestLetters checks that words that are near have similar sets of letters, which near
// relies on.
func TestLetters(t *testing.T) {
	word := rapid.StringMatching(`[a-dä0-9]{4,10}`)
	rapid.Check(t, func(t *rapid.T) {
		asked, other := word.Draw(t, "asked"), word.Draw(t, "other")
		v := &Vocabulary{byLength: map[int]*words{}}
		v.add(other)
		most := maxEdits(asked)
		want := most > 0 && len(asked) > 0 && text.Distance(narrow(asked), narrow(other)) <= most && !hasPrefix(other, asked)
		if got := slices.Contains(v.near(asked), other); got != want || !v.has(other) {
			t.Fatalf("%q is near %q: %t, want %t", other, asked, got, want)
		}
	})
}

func hasPrefix(s, prefix string) bool { return len(s) >= len(prefix) && s[:len(prefix)] == prefix }

func BenchmarkNear(b *testing.B) {
	v := &Vocabulary{byLength: map[int]*words{}}
	for i := range MaxWords {
		w := ""
		for n := i + 20; n > 0; n /= 20 {
			w += []string{"ba", "co", "di", "fen", "gar", "hul", "jo", "kir", "lem", "mos", "nu", "por", "qui", "ras", "sto", "tel", "ur", "vin", "wex", "zan"}[n%20]
		}
		v.add(w)
	}
	for b.Loop() {
		if len(v.near("garlempro")) == 0 {
			b.Fatal(fmt.Sprint("nothing is near, of ", v.size))
		}
	}
}
