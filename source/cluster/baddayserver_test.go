package cluster_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// credential is the token of every fake server. It must not appear in any
// message.
const credential = "hunter2-of-the-cluster"

// ours is the group that the fake servers serve, and plain the group of the
// kinds that their definitions define.
const (
	ours  = "apiextensions.crossplane.io"
	other = "apiextensions.composer.io"
	plain = "one.example.org"
)

// standIn is a fake API server with two definitions, a Composition and a
// composite of each. It implements only what a server needs that fails in one
// way.
type standIn struct {
	// groups are the served groups; nil means ours.
	groups []string
	// definitions are its definitions; nil means two.
	definitions []string
	// backOff, if not nil, may answer a request in place of the server, and
	// reports whether it did. n counts the requests from one.
	trouble func(n int, w http.ResponseWriter, r *http.Request) bool

	mu    sync.Mutex
	calls []call
}

// call is a request to a fake server.
type call struct {
	at          time.Time
	path, token string
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	s.calls = append(s.calls, call{time.Now(), r.URL.Path, token})
	n := len(s.calls)
	s.mu.Unlock()
	if s.trouble != nil && s.trouble(n, w, r) {
		return
	}
	if token != credential {
		refuse(w, http.StatusUnauthorized, "Unauthorized")
		return
	}
	s.serve(w, r)
}

// seen returns the requests whose path has this suffix.
func (s *standIn) seen(end string) []call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.calls), func(c call) bool { return !strings.HasSuffix(c.path, end) })
}

func (s *standIn) serve(w http.ResponseWriter, r *http.Request) {
	groups := s.groups
	if groups == nil {
		groups = []string{ours}
	}
	if r.URL.Path == "/apis" {
		respond(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
		return
	}
	for _, g := range groups {
		at := "/apis/" + g
		switch r.URL.Path {
		case at:
			respond(w, `{"kind":"APIGroup","apiVersion":"v1","name":"`+g+`","versions":[{"groupVersion":"`+g+`/v1","version":"v1"}]}`)
			return
		case at + "/v1":
			respond(w, `{"kind":"APIResourceList","apiVersion":"v1","resources":[{"name":"compositeresourcedefinitions"},{"name":"compositeresourcedefinitions/status"},{"name":"compositions"}]}`)
			return
		case at + "/v1/compositeresourcedefinitions":
			all := s.definitions
			if all == nil {
				all = []string{definitionItem(g, "a", ""), definitionItem(g, "b", "")}
			}
			list(w, r, all)
			return
		case at + "/v1/compositions":
			list(w, r, []string{`{"apiVersion":"` + g + `/v1","kind":"Composition","metadata":{"name":"how"},"spec":{}}`})
			return
		}
	}
	for _, name := range []string{"a", "b"} {
		if r.URL.Path == "/apis/"+plain+"/v1/x"+name+"s" {
			list(w, r, []string{`{"apiVersion":"` + plain + `/v1","kind":"X` + strings.ToUpper(name) + `","metadata":{"name":"one"}}`})
			return
		}
	}
	refuse(w, http.StatusNotFound, "the server could not find the requested resource")
}

// definitionItem returns a definition as a server sends it. labels are the
// members of its labels.
func definitionItem(group, name, labels string) string {
	return fmt.Sprintf(`{"apiVersion":"%[1]s/v1","kind":"CompositeResourceDefinition","metadata":{"name":"x%[2]ss.%[3]s","labels":{%[4]s}},`+
		`"spec":{"group":"%[3]s","names":{"kind":"X%[5]s","plural":"x%[2]ss"},"versions":[{"name":"v1","served":true,"referenceable":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`,
		group, name, plain, labels, strings.ToUpper(name))
}

func respond(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, body)
}

// refuse answers with a status as an API server does.
func refuse(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%q,"code":%d}`, message, code)
}

// list answers with the requested page of the objects that match a selector.
func list(w http.ResponseWriter, r *http.Request, all []string) {
	q := r.URL.Query()
	if key, value, ok := strings.Cut(q.Get("labelSelector"), "="); ok {
		all = slices.DeleteFunc(slices.Clone(all), func(o string) bool { return !strings.Contains(o, fmt.Sprintf("%q:%q", key, value)) })
	}
	from, _ := strconv.Atoi(q.Get("continue"))
	to, next := len(all), ""
	if limit, _ := strconv.Atoi(q.Get("limit")); limit > 0 && from+limit < to {
		to = from + limit
		next = strconv.Itoa(to)
	}
	respond(w, `{"kind":"AnyList","apiVersion":"v1","metadata":{"resourceVersion":"1","continue":"`+next+`"},"items":[`+strings.Join(all[from:to], ",")+`]}`)
}

// start starts a fake server, with TLS if it has a certificate, and returns its
// configuration.
func (s *standIn) start(t testing.TB, cert ...tls.Certificate) source.Cluster {
	t.Helper()
	srv := httptest.NewUnstartedServer(s)
	srv.EnableHTTP2 = true
	srv.Config.ErrorLog = stdlog.New(io.Discard, "", 0)
	if len(cert) > 0 {
		srv.TLS = &tls.Config{Certificates: cert, MinVersion: tls.VersionTLS12}
	}
	srv.StartTLS()
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return source.Cluster{URL: srv.URL, Token: credential, CAData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})}
}

// certificate returns a self-signed certificate for names and until a time.
func certificate(t testing.TB, until time.Time, ip net.IP, names ...string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "stand-in"}, NotBefore: until.Add(-24 * time.Hour), NotAfter: until,
		DNSNames: names, IPAddresses: []net.IP{ip}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// listener starts a listener that passes each connection to a function.
func listener(t testing.TB, each func(net.Conn)) source.Cluster {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
			each(conn)
		}
	}()
	return source.Cluster{URL: "https://" + l.Addr().String(), Token: credential}
}

// journal records a log at the most verbose level.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// checkNoCredential checks that neither the log nor an error, however it is formatted,
// contains the credential.
func (j *journal) checkNoCredential(t *testing.T, err error) {
	t.Helper()
	j.mu.Lock()
	shown := []string{j.text.String()}
	j.mu.Unlock()
	var look func(error)
	look = func(e error) {
		if e == nil {
			return
		}
		shown = append(shown, fmt.Sprintf("%v %+v %#v", e, e, e))
		if e, ok := e.(*cluster.Error); ok { //nolint:errorlint // every error of the chain is looked at
			shown = append(shown, fmt.Sprintf("%+v %#v", *e, *e))
		}
		look(errors.Unwrap(e))
		if many, ok := e.(interface{ Unwrap() []error }); ok {
			for _, e := range many.Unwrap() {
				look(e)
			}
		}
	}
	look(err)
	for _, text := range shown {
		if strings.Contains(text, "hunter2") {
			t.Errorf("credential is in %q", text)
		}
	}
}

// connect returns a reader of a fake server.
func connect(t testing.TB, name string, c source.Cluster, opts cluster.Options) *cluster.Cluster {
	t.Helper()
	c.Name = name
	out, err := cluster.Connect(c, opts)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// everything reads definitions, Compositions and composites.
var everything = cluster.ReadOptions{Composites: func(*xrd.Definition) bool { return true }}

// contents lists what is in a set, in order.
func contents(set *xrd.Set) []string {
	var out []string
	for _, d := range set.Definitions {
		out = append(out, d.Origin.File)
	}
	for _, c := range set.Compositions {
		out = append(out, c.Origin.File)
	}
	for _, o := range set.Others {
		out = append(out, o.Origin.File)
	}
	slices.Sort(out)
	return out
}

// whole is what contents returns for a fake server without failures.
func whole(name string) []string {
	return []string{
		name + "/composition/how",
		name + "/xas/one", name + "/xbs/one",
		name + "/xrd/xas." + plain, name + "/xrd/xbs." + plain,
	}
}

// failures returns the joined errors.
func failures(err error) []*cluster.Error {
	if e, ok := err.(*cluster.Error); ok { //nolint:errorlint // those that are joined are looked at below
		return []*cluster.Error{e}
	}
	var out []*cluster.Error
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			out = append(out, failures(e)...)
		}
	}
	return out
}

// hang holds a request until the client has cancelled it.
func hang(ctx context.Context) bool {
	<-ctx.Done()
	return true
}
