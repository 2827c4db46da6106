package portal_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/test/size"
)

// The number of kills, and of entities in each push.
var kills = size.Of(12, 50)

const entities = 10_000

// side is one of two states that a provider alternates between.
type side struct {
	body string
	// digest is the digest of the catalog in this state.
	digest string
}

// newSide returns a state: most entities are in both states, every other one of
// them with different values, and some are in one state only.
func newSide(own string, first int) *side {
	var b strings.Builder
	for i := first; i < first+entities; i++ {
		name := "both"
		if i%2 == 0 {
			name = own
		}
		fmt.Fprintf(&b, `{"apiVersion":"backstage.io/v1alpha1","kind":"Resource","metadata":{"name":"r%05d","labels":{"side":%q}},`+
			`"spec":{"type":"x","owner":"group:default/%s%d"}}`+"\n", i, name, name, i%100)
	}
	return &side{body: b.String()}
}

func (s *side) push() call {
	return call{method: "PUT", path: "/api/catalog/providers/sides/entities", body: s.body, header: ndjson}
}

// catalogDigest returns a digest of the catalog as it is served, and checks that its
// index agrees.
func (c caller) catalogDigest() string {
	c.t.Helper()
	r := c.want(call{path: "/api/catalog/entities?filter=kind=resource&fields=metadata.name,metadata.labels,spec.owner,relations"}, http.StatusOK, nil)
	sum := sha256.Sum256(r.body)
	var facets struct {
		Facets map[string][]struct {
			Value string
			Count int
		}
	}
	c.get("/api/catalog/entity-facets?facet=metadata.labels.side", &facets)
	if sides := facets.Facets["metadata.labels.side"]; len(sides) != 2 || sides[0].Count != entities/2 || sides[1].Count != entities/2 {
		c.t.Fatalf("facets of %d entities are %v, want half of the entities on each side", entities, sides)
	}
	return hex.EncodeToString(sum[:])
}

// TestKill kills the program at random times during a large push. It checks
// that the restarted program has the state before or after the push, and the
// state after it if the push was acknowledged.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("kill test takes a minute")
	}
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	database := sqlite(t)
	p := start50(t, database)
	sides := []*side{newSide("a", 0), newSide("b", entities/10)}
	var took time.Duration
	for _, s := range append(sides, sides[0]) {
		begin := time.Now()
		p.want(s.push(), http.StatusOK, nil)
		took = time.Since(begin)
		digest := p.catalogDigest()
		if s.digest != "" && s.digest != digest {
			t.Fatalf("same push resulted in another catalog")
		}
		s.digest = digest
	}
	if sides[0].digest == sides[1].digest {
		t.Fatal("both states have the same digest")
	}
	at, before, after, answered := 0, 0, 0, 0
	// The machine may be slower or faster now than when the push was timed;
	// then some more kills are needed.
	for i := 0; i < kills || i < 5*kills && (before == 0 || after == 0); i++ {
		to := sides[1-at]
		wait := time.Duration(random.Float64() * 1.1 * float64(took))
		if i%3 == 2 {
			// Most kills are near the end of the push, where it is committed.
			wait = time.Duration((0.8 + 0.3*random.Float64()) * float64(took))
		}
		done := make(chan bool, 1)
		go func() {
			r, err := p.try(to.push())
			done <- err == nil && r.status == http.StatusOK
		}()
		time.Sleep(wait)
		p.Kill()
		ok := <-done
		p = start50(t, database)
		switch digest := p.catalogDigest(); {
		case digest == to.digest:
			at = 1 - at
			after++
		case digest == sides[at].digest && !ok:
			before++
			if before > 2*after {
				took += took / 4
			}
		case digest == sides[at].digest:
			t.Fatalf("kill %d after %v (seed %d): acknowledged push was lost", i, wait, seed)
		default:
			t.Fatalf("kill %d after %v (seed %d): catalog has neither the state before nor the state after the push", i, wait, seed)
		}
		if ok {
			answered++
			took -= took / 8
		}
	}
	t.Logf("%d kills during pushes of %v: %d times the state before, %d times the state after, of which %d were acknowledged",
		before+after, took.Round(time.Millisecond), before, after, answered)
	if before == 0 || after == 0 {
		t.Errorf("all kills were too early or too late")
	}
}

// start50 starts the program. Its responses are too large to validate each of
// them against the contract.
func start50(t *testing.T, database map[string]any) *program {
	t.Helper()
	p := launch(t, setup{database: database}, 0)
	p.caller = p.unchecked()
	return p
}
