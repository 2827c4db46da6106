package secret

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
)

func TestWeakness(t *testing.T) {
	const short, few, repeats = "at least 16 characters", "at least 8 different characters", "text that does not repeat"
	cases := map[string]struct {
		reason, token, want string
	}{
		"Empty":      {"An empty text is too short.", "", short},
		"Short":      {"15 characters are too short.", "q8Zr1LxT0vKw5Ep", short},
		"Shortest":   {"16 characters are accepted.", "q8Zr1LxT0vKw5EpN", ""},
		"Signs":      {"The length is in characters, not bytes.", "äöüßéèêàçñøåäöü", short},
		"OneSign":    {"One repeated character is refused.", strings.Repeat("a", 16), few},
		"SevenSigns": {"Seven different characters are refused, however long the text is.", strings.Repeat("gfedcba", 9), few},
		"Twice":      {"A repeated word is refused.", "abcdefghabcdefgh", repeats},
		"TwiceCut":   {"A word repeated almost three times is refused.", "12345678901234567890123456", repeats},
		"Joined":     {"A word repeated with a separator is refused.", "changeit-changeit", repeats},
		"Padded":     {"A padded word is refused.", "s3cr3t!x" + strings.Repeat("0", 12), repeats},
		"Words":      {"A usual text is not a repetition.", "a-static-token-of-the-tests-4711", ""},
		"UUID":       {"A random identifier is accepted.", "6f1d3a52-94c1-4d0e-8a7b-2f5e90c3d1b8", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Weakness(tc.token); got != tc.want {
				t.Errorf("%s: weakness is %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestPredictable(t *testing.T) {
	cases := map[string]struct {
		reason, token, want string
	}{
		"Weak":     {"A weak text is predictable.", "aaaaaaaaaaaaaaaa", "at least 8 different characters"},
		"Short":    {"16 characters are too short for production.", "q8Zr1LxT0vKw5EpN", "at least 24 characters"},
		"Words":    {"Words are predictable.", "our-Secret-key-for-the-b4ckend", "random characters, and no words or sequences"},
		"Sequence": {"Sequences are predictable.", "0123456789abcdef0123456789AB", "random characters, and no words or sequences"},
		"Random":   {"A generated text is accepted.", "q8Zr1LxT0vKw5EpNbY7uGh2s", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Predictable(tc.token); got != tc.want {
				t.Errorf("%s: result is %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestWeaknessRandom checks that tokens made as the hints recommend are
// accepted.
func TestWeaknessRandom(t *testing.T) {
	for range 10_000 {
		b := make([]byte, 24)
		if _, err := rand.Read(b); err != nil {
			t.Fatal(err)
		}
		for _, token := range []string{base64.StdEncoding.EncodeToString(b), hex.EncodeToString(b), rand.Text()} {
			if want := Weakness(token); want != "" {
				t.Fatalf("%s is refused: %s", token, want)
			}
		}
	}
}
