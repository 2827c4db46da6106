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

// application is one request that applied an object.
type application struct {
	// who is the process that sent it, at the time the request arrived.
	who string
	at  time.Time
	// version is the resource version after it; empty if the client got no
	// response.
	version string
}

// moment is when a process is killed, relative to a request that applies an
// object.
type moment int

const (
	// before kills the client before its request is forwarded.
	before moment = iota
	// behind kills the client after the object was applied and before it gets
	// the response.
	behind
	// soon kills a random process some time later.
	soon
)

// gate is a proxy in front of the API server. It identifies clients, records
// what they apply, and occasionally kills a process.
type gate struct {
	url string

	mu     sync.Mutex
	random *rand.Rand
	// applied has the applications of objects in order, by name.
	applied map[string][]application
	// left is the number of applications until the next kill, every the maximum
	// between two kills; zero means no kills.
	left, every int
	// kill kills the named process, or a random one if the name is empty. It
	// returns after the process has ended.
	kill func(who string)
	// hits counts the kills by moment.
	hits map[moment]int
}

// errKilled is the gate's error for a request of a killed process.
var errKilled = errors.New("client was killed")

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
		// Clients may have been killed.
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

// kills makes about one in every so many applications kill a process from now
// on; zero ends the kills.
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

// due reports whether an application kills a process, and when.
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

// passing is the transport to the API server.
type passing struct {
	gate *gate
	to   http.RoundTripper
}

// RoundTrip forwards a request.
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
		// The request failed, so it applied nothing.
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

// version returns the resource version in a response without consuming its
// body.
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
