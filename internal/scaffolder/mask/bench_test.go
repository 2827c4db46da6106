package mask

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"example.dev/ingestor/internal/secret"
)

// messages returns texts of 64 KiB without a secret.
func messages() map[string]string {
	const size = 64 << 10
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the step applied manifest database.platform.io/v1 to cluster production in namespace team-orders and waits until it is Ready=True; https://git.example.org/platform/infra/merge_requests/41")
	var log, query strings.Builder
	for log.Len() < size {
		log.WriteString(words[r.IntN(len(words))] + " ")
		if r.IntN(12) == 0 {
			log.WriteString("\n")
		}
	}
	for query.Len() < size {
		fmt.Fprintf(&query, "%%%02x%c", r.IntN(256), 'a'+rune(r.IntN(26)))
	}
	blob := make([]byte, size)
	for i := range blob {
		blob[i] = byte(r.Uint32())
	}
	return map[string]string{
		"log": log.String()[:size], "base64": base64.StdEncoding.EncodeToString(blob)[:size], "percent": query.String()[:size],
		"json": strings.Repeat(`{"kind":"XDatabase","note":"a \"quoted\" <text>\n","n":12},`, 2000)[:size],
	}
}

// BenchmarkText masks a message of 64 KiB. The time does not depend on the number
// of secrets.
func BenchmarkText(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 10, 100} {
		secrets := map[string]secret.Text{}
		for i := range n {
			raw := make([]byte, 30)
			for j := range raw {
				raw[j] = byte(r.Uint32())
			}
			secrets[fmt.Sprint(i)] = secret.Text(base64.RawURLEncoding.EncodeToString(raw))
		}
		m := New(secrets)
		for kind, text := range messages() {
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					if m.Text(text) != text {
						b.Fatal("text without a secret was changed")
					}
				}
			})
		}
	}
}

// BenchmarkNew creates a Mask of the maximum number and size of secrets.
func BenchmarkNew(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	secrets := map[string]secret.Text{}
	for i := range 100 {
		raw := make([]byte, 480)
		for j := range raw {
			raw[j] = byte(r.Uint32())
		}
		text := base64.StdEncoding.EncodeToString(raw)
		var lines strings.Builder
		for at := 0; at < len(text); at += 64 {
			lines.WriteString(text[at:min(at+64, len(text))] + "\n")
		}
		secrets[fmt.Sprint(i)] = secret.Text(lines.String())
	}
	for b.Loop() {
		New(secrets)
	}
}
