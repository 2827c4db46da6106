package killed_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/test/apiserver"
)

// application is one time that an object was applied.
type application struct {
	// who is the life that applied it, and at when its request came.
	who string
	at  time.Time
	// version is that of the object afterwards; empty if nobody was told.
	version string
}

// moment is when somebody is killed, counted from a request that applies an
// object.
type moment int

const (
	// before is who asks, before the request is passed on.
	before moment = iota
	// behind is who asks, once the object is applied and before they know it.
	behind
	// soon is anybody, some time later.
	soon
)

// gate stands before the API server. It knows who asks and writes down what is
// applied, and now and then has somebody killed because of it.
type gate struct {
	url string

	mu     sync.Mutex
	random *rand.Rand
	// applied are the applications of objects, by name, in order.
	applied map[string][]application
	// left is how many applications there are until the next kill, and every
	// how many there are between kills at most; zero is no kill.
	left, every int
	// kill kills who asks, or anybody if it is empty. It returns when they are
	// dead.
	kill func(who string)
	// hits counts the kills of each moment.
	hits map[moment]int
}

// errKilled is what the gate makes of a request of somebody dead.
var errKilled = errors.New("whoever asked was killed")

func newGate(t *testing.T, c *apiserver.Server, seed uint64) *gate {
	t.Helper()
	at, err := url.Parse(c.URL)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{random: rand.New(rand.NewPCG(seed, 1)), applied: map[string][]application{}, hits: map[moment]int{}}
	proxy := &httputil.ReverseProxy{
		Transport: passing{g, c.Client().Transport},
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(at) },
		// Those who ask may have been killed.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) {},
	}
	server := httptest.NewUnstartedServer(proxy)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	g.url = server.URL
	return g
}

// kills has about one of so many applications kill somebody from now on; zero
// kills nobody.
func (g *gate) kills(every int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.every = every
	g.draw()
}

func (g *gate) draw() {
	if g.left = 0; g.every > 0 {
		g.left = 1 + g.random.IntN(2*g.every)
	}
}

// due tells whether somebody is to be killed because of an application, and
// when.
func (g *gate) due() (m moment, later time.Duration, yes bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.left == 0 {
		return 0, 0, false
	}
	if g.left--; g.left > 0 {
		return 0, 0, false
	}
	g.draw()
	m = moment(g.random.IntN(3))
	g.hits[m]++
	return m, time.Duration(g.random.Int64N(int64(100 * time.Millisecond))), true
}

// of returns the applications of an object, in order.
func (g *gate) of(name string) []application {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.applied[name])
}

// passing is the way to the API server.
type passing struct {
	gate *gate
	to   http.RoundTripper
}

// RoundTrip passes a request on.
func (p passing) RoundTrip(r *http.Request) (*http.Response, error) {
	who := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	r.Header.Del("Authorization")
	if r.Method != http.MethodPatch || r.URL.Query().Has("dryRun") {
		return p.to.RoundTrip(r)
	}
	g, a := p.gate, application{who: who, at: time.Now()}
	m, later, yes := g.due()
	if yes && m == before {
		g.kill(who)
		return nil, errKilled
	}
	resp, err := p.to.RoundTrip(r)
	if err == nil && resp.StatusCode >= http.StatusMultipleChoices {
		// Nothing was applied.
		return resp, nil
	}
	if err == nil {
		a.version, err = version(resp)
	}
	name := path.Base(r.URL.Path)
	g.mu.Lock()
	g.applied[name] = append(g.applied[name], a)
	g.mu.Unlock()
	if yes && m == behind {
		g.kill(who)
	}
	if yes && m == soon {
		time.AfterFunc(later, func() { g.kill("") })
	}
	return resp, err
}

// version reads which version of which object an answer has, and leaves it as it
// was.
func version(resp *http.Response) (string, error) {
	body, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return "", err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	var made struct {
		Metadata struct{ UID, ResourceVersion string }
	}
	if err := json.Unmarshal(body, &made); err != nil {
		return "", err
	}
	return made.Metadata.UID + "/" + made.Metadata.ResourceVersion, nil
}
