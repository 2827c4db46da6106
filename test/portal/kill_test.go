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

// The kills, and the size of what is pushed meanwhile.
var kills = size.Of(12, 50)

const entities = 10_000

// side is one of two states that a provider goes back and forth between.
type side struct {
	body string
	// digest is what the catalog is when it is there.
	digest string
}

// newSide makes entities of which most are in both states, every other one with
// other values; some are only in one.
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

// look returns what the catalog is, as a digest of what it serves, and checks
// that its index says the same.
func (c caller) look() string {
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
		c.t.Fatalf("half of %d entities are on one side, the others on both, got %v", entities, sides)
	}
	return hex.EncodeToString(sum[:])
}

// TestKill kills the program at random moments of a push of many entities, and
// wants to find the state before or after each time it is started again, and
// the one after if the push was answered.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
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
		digest := p.look()
		if s.digest != "" && s.digest != digest {
			t.Fatalf("the same push gives another catalog")
		}
		s.digest = digest
	}
	if sides[0].digest == sides[1].digest {
		t.Fatal("the sides do not differ")
	}
	at, before, after, answered := 0, 0, 0, 0
	// A machine may be slower, or quicker, than when the push was timed: then there are some more.
	for i := 0; i < kills || i < 5*kills && (before == 0 || after == 0); i++ {
		to := sides[1-at]
		wait := time.Duration(random.Float64() * 1.1 * float64(took))
		if i%3 == 2 {
			// The end is where it is decided.
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
		switch digest := p.look(); {
		case digest == to.digest:
			at = 1 - at
			after++
		case digest == sides[at].digest && !ok:
			before++
			if before > 2*after {
				took += took / 4
			}
		case digest == sides[at].digest:
			t.Fatalf("kill %d after %v (seed %d): the push was answered, and is lost", i, wait, seed)
		default:
			t.Fatalf("kill %d after %v (seed %d): the catalog is neither as before nor as after", i, wait, seed)
		}
		if ok {
			answered++
			took -= took / 8
		}
	}
	t.Logf("%d kills in pushes of %v: %d times the state before, %d times the one after, of which %d had been answered",
		before+after, took.Round(time.Millisecond), before, after, answered)
	if before == 0 || after == 0 {
		t.Errorf("the kills were all too early or too late")
	}
}

// start50 starts the program for a while. Its answers are too large to hold
// each of them against the contract.
func start50(t *testing.T, database map[string]any) *program {
	t.Helper()
	p := launch(t, setup{database: database}, 0)
	p.caller = p.unchecked()
	return p
}
