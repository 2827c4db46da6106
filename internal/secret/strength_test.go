package secret

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
)

func TestWeakness(t *testing.T) {
	const short, few, repeats = "at least 16 characters", "at least 8 different characters", "text that does not repeat itself"
	cases := map[string]struct {
		reason, token, want string
	}{
		"Empty":      {"nothing is guessed first", "", short},
		"Short":      {"15 characters", "q8Zr1LxT0vKw5Ep", short},
		"Shortest":   {"16 characters", "q8Zr1LxT0vKw5EpN", ""},
		"Signs":      {"bytes are not characters", "äöüßéèêàçñøåäöü", short},
		"OneSign":    {"16 times the same", strings.Repeat("a", 16), few},
		"SevenSigns": {"seven signs, however long", strings.Repeat("gfedcba", 9), few},
		"Twice":      {"a word twice", "abcdefghabcdefgh", repeats},
		"TwiceCut":   {"a word nearly three times", "12345678901234567890123456", repeats},
		"Joined":     {"a word twice, with a sign between", "changeit-changeit", repeats},
		"Padded":     {"a word, filled up", "s3cr3t!x" + strings.Repeat("0", 12), repeats},
		"Words":      {"what people write is no repetition", "a-static-token-of-the-tests-4711", ""},
		"UUID":       {"a random identifier", "6f1d3a52-94c1-4d0e-8a7b-2f5e90c3d1b8", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Weakness(tc.token); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestPredictable(t *testing.T) {
	cases := map[string]struct {
		reason, token, want string
	}{
		"Weak":     {"what is weak is predictable", "aaaaaaaaaaaaaaaa", "at least 8 different characters"},
		"Short":    {"long enough for trying things out", "q8Zr1LxT0vKw5EpN", "at least 24 characters"},
		"Words":    {"words are tried first", "our-Secret-key-for-the-b4ckend", "random characters, and no words or sequences"},
		"Sequence": {"and sequences", "0123456789abcdef0123456789AB", "random characters, and no words or sequences"},
		"Random":   {"what a tool made", "q8Zr1LxT0vKw5EpNbY7uGh2s", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Predictable(tc.token); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestWeaknessRandom sees that what the hints tell people to make is accepted.
func TestWeaknessRandom(t *testing.T) {
	for range 10_000 {
		b := make([]byte, 24)
		if _, err := rand.Read(b); err != nil {
			t.Fatal(err)
		}
		for _, token := range []string{base64.StdEncoding.EncodeToString(b), hex.EncodeToString(b), rand.Text()} {
			if want := Weakness(token); want != "" {
				t.Fatalf("%s: want %s", token, want)
			}
		}
	}
}
