package cluster_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
)

// badDay is one way in which a cluster can fail.
type badDay struct {
	reason string
	// there starts the broken server.
	there func(t *testing.T) source.Cluster
	// opts are timeouts that are short enough for a test, and long enough for a
	// busy machine.
	opts cluster.Options
	want cluster.Reason
	// says are substrings of the message or its hint.
	says []string
}

// The timeouts for a server that hangs, and for one that fails. All others have
// plenty of time.
var (
	hanging = cluster.Options{Timeout: 400 * time.Millisecond, Patience: 400 * time.Millisecond}
	failing = cluster.Options{Timeout: time.Minute, Patience: 400 * time.Millisecond}
)

// always returns a fake server that answers every request in the same way.
func always(answer func(w http.ResponseWriter, r *http.Request)) func(t *testing.T) source.Cluster {
	return func(t *testing.T) source.Cluster {
		s := &standIn{trouble: func(_ int, w http.ResponseWriter, r *http.Request) bool { answer(w, r); return true }}
		return s.start(t)
	}
}

// status returns a fake server that answers every request with a status.
func status(code int) func(t *testing.T) source.Cluster {
	return always(func(w http.ResponseWriter, _ *http.Request) { refuse(w, code, "no") })
}

// scheme changes the scheme of a URL.
func scheme(c source.Cluster, to string) source.Cluster {
	_, rest, _ := strings.Cut(c.URL, "://")
	c.URL = to + "://" + rest
	return c
}

var badDays = map[string]badDay{
	"Refused": {
		reason: "The server is not running.",
		there: func(t *testing.T) source.Cluster {
			srv := httptest.NewTLSServer(nil)
			srv.Close()
			return source.Cluster{URL: srv.URL, Token: credential}
		},
		opts: failing, want: cluster.Unreachable, says: []string{"connection refused", "check that the API server is running"},
	},
	"UnknownName": {
		reason: "The host name cannot be resolved.",
		there: func(*testing.T) source.Cluster {
			return source.Cluster{URL: "https://cluster.invalid", Token: credential}
		},
		opts: failing, want: cluster.Unreachable, says: []string{`cannot resolve host "cluster.invalid"`},
	},
	"HangsBeforeTLS": {
		reason: "The server accepts connections and sends nothing.",
		there:  func(t *testing.T) source.Cluster { return listener(t, func(net.Conn) {}) },
		opts:   hanging, want: cluster.Timeout, says: []string{"did not respond within 400ms"},
	},
	"HangsAfterTLS": {
		reason: "The server accepts requests and never answers.",
		there:  always(func(_ http.ResponseWriter, r *http.Request) { hang(r.Context()) }),
		opts:   hanging, want: cluster.Timeout, says: []string{"did not respond within 400ms"},
	},
	"HangsInBody": {
		reason: "A response begins and never ends.",
		there: always(func(w http.ResponseWriter, r *http.Request) {
			respond(w, `{"kind":"APIGroup",`)
			w.(http.Flusher).Flush()
			hang(r.Context())
		}),
		opts: hanging, want: cluster.Timeout, says: []string{"did not respond within 400ms"},
	},
	"Trickles": {
		reason: "A response is endless, sent byte by byte.",
		there: always(func(w http.ResponseWriter, r *http.Request) {
			for respond(w, "{"); r.Context().Err() == nil; time.Sleep(5 * time.Millisecond) {
				_, _ = w.Write([]byte(" "))
				w.(http.Flusher).Flush()
			}
		}),
		opts: hanging, want: cluster.Timeout, says: []string{"did not respond within 400ms"},
	},
	"UnknownAuthority": {
		reason: "The certificate has an unknown authority.",
		there: func(t *testing.T) source.Cluster {
			c := (&standIn{}).start(t)
			c.CAData = nil
			return c
		},
		opts: failing, want: cluster.Certificate, says: []string{"unknown authority", "caData"},
	},
	"OtherName": {
		reason: "The certificate is for another host.",
		there: func(t *testing.T) source.Cluster {
			return (&standIn{}).start(t, certificate(t, time.Now().Add(time.Hour), net.IPv4(192, 0, 2, 1), "api.example.org"))
		},
		opts: failing, want: cluster.Certificate, says: []string{"127.0.0.1", "names of the certificate in the url of the cluster: api.example.org, 192.0.2.1"},
	},
	"Expired": {
		reason: "The certificate has expired.",
		there: func(t *testing.T) source.Cluster {
			return (&standIn{}).start(t, certificate(t, time.Now().Add(-time.Hour), net.IPv4(127, 0, 0, 1)))
		},
		opts: failing, want: cluster.Certificate, says: []string{"expired", "clock"},
	},
	"PlainBehindTLS": {
		reason: "The server does not speak TLS.",
		there: func(t *testing.T) source.Cluster {
			srv := httptest.NewServer(&standIn{})
			t.Cleanup(srv.Close)
			return scheme(source.Cluster{URL: srv.URL, Token: credential}, "https")
		},
		opts: failing, want: cluster.Certificate, says: []string{"write http://"},
	},
	"OtherProtocol": {
		reason: "The port belongs to another service.",
		there: func(t *testing.T) source.Cluster {
			return listener(t, func(conn net.Conn) { _, _ = conn.Write([]byte("SSH-2.0-OpenSSH_9.2\r\n")) })
		},
		opts: failing, want: cluster.Certificate, says: []string{"does not use TLS", "check the port"},
	},
	"TLSBehindPlain": {
		reason: "The server accepts only TLS.",
		there:  func(t *testing.T) source.Cluster { return scheme((&standIn{}).start(t), "http") },
		opts:   failing, want: cluster.Server, says: []string{"400", "https://"},
	},
	"HangsUp": {
		reason: "The server closes connections at once.",
		there:  func(t *testing.T) source.Cluster { return listener(t, func(conn net.Conn) { _ = conn.Close() }) },
		opts:   failing, want: cluster.Server, says: []string{"the connection was closed too early"},
	},
	"Unauthorized": {
		reason: "The token is rejected.",
		there: func(t *testing.T) source.Cluster {
			c := (&standIn{}).start(t)
			c.Token = credential + "-old"
			return c
		},
		opts: failing, want: cluster.Unauthorized, says: []string{"401", "kubectl create token"},
	},
	"Forbidden": {
		reason: "The account has no permissions at all.",
		there:  status(http.StatusForbidden), opts: failing, want: cluster.Forbidden, says: []string{"403", "lacks a permission"},
	},
	"Absent": {
		reason: "Crossplane is not installed.",
		there:  func(t *testing.T) source.Cluster { return (&standIn{groups: []string{}}).start(t) },
		opts:   failing, want: cluster.Absent, says: []string{"does not serve compositeresourcedefinitions", "install"},
	},
	"TooManyRequests": {
		reason: "The Retry-After of the server exceeds the time limit.",
		there: always(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			refuse(w, http.StatusTooManyRequests, "too many requests")
		}),
		opts: failing, want: cluster.Server, says: []string{"429", "too busy"},
	},
	"Fault": {
		reason: "The server fails permanently.", there: status(http.StatusInternalServerError),
		opts: failing, want: cluster.Server, says: []string{"500", "server error persists"},
	},
	"BadGateway": {
		reason: "A proxy answers with an HTML page.",
		there: always(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusBadGateway)
			_, _ = w.Write([]byte("<h1>oh no</h1>"))
		}),
		opts: failing, want: cluster.Server, says: []string{"502 Bad Gateway"},
	},
	"Redirect": {
		reason: "The server redirects every request.",
		there: func(t *testing.T) source.Cluster {
			elsewhere := &standIn{}
			to := elsewhere.start(t)
			t.Cleanup(func() {
				if calls := elsewhere.seen(""); len(calls) > 0 {
					t.Errorf("redirect was followed: %v", calls)
				}
			})
			return always(func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, to.URL+r.URL.Path, http.StatusFound)
			})(t)
		},
		opts: failing, want: cluster.Server, says: []string{"redirects", "check the url of the cluster"},
	},
	"HTML": {
		reason: "The server is a web site.",
		there: always(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte("<h1>Welcome</h1>"))
		}),
		opts: failing, want: cluster.Server, says: []string{"text/html, not JSON", "check the url of the cluster"},
	},
	"OtherJSON": {
		reason: "The server sends JSON of another API.",
		there:  always(func(w http.ResponseWriter, _ *http.Request) { respond(w, `{"status":"ok"}`) }),
		opts:   failing, want: cluster.Server, says: []string{"check the url of the cluster"},
	},
	"CutOff": {
		reason: "Every response is cut off.",
		there: always(func(w http.ResponseWriter, _ *http.Request) {
			respond(w, `{"kind":"APIGroup","versions":[`)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}),
		opts: failing, want: cluster.Server, says: []string{"cut off", "the connection was closed too early"},
	},
	"HalfJSON": {
		reason: "Every response is incomplete.",
		there:  always(func(w http.ResponseWriter, _ *http.Request) { respond(w, `{"kind":"APIGroup","versions":[`) }),
		opts:   failing, want: cluster.Server, says: []string{"cut off"},
	},
	"NoTokenFile": {
		reason: "The token file does not exist.",
		there: func(t *testing.T) source.Cluster {
			c := (&standIn{}).start(t)
			c.Token, c.TokenFile = "", filepath.Join(t.TempDir(), "nope")
			return c
		},
		opts: failing, want: cluster.Unauthorized, says: []string{"nope", "no such file"},
	},
	"IssuerDown": {
		reason: "The OIDC issuer cannot be reached.",
		there: func(t *testing.T) source.Cluster {
			c := (&standIn{}).start(t)
			c.Auth, c.OIDC = source.AuthOIDC, source.OIDC{Issuer: "https://127.0.0.1:1", ClientID: "c", ClientSecret: credential}
			return c
		},
		opts: failing, want: cluster.Unauthorized, says: []string{`cannot reach issuer "https://127.0.0.1:1"`},
	},
	"ProgramFails": {
		reason: "The credential program fails.",
		there:  program("exit 7"), opts: failing, want: cluster.Unauthorized, says: []string{"give-credentials", "exit code 7"},
	},
	"ProgramHangs": {
		reason: "The credential program never ends.",
		there:  program(`while [ -e "$0" ]; do sleep 0.1; done`),
		opts:   hanging, want: cluster.Unauthorized, says: []string{"give-credentials", "does not terminate"},
	},
	"ProgramMissing": {
		reason: "The credential program is not installed.",
		there:  program(""), opts: failing, want: cluster.Unauthorized, says: []string{"give-credentials", "no such file"},
	},
}

// program returns a cluster whose kubeconfig runs a script for credentials; an
// empty script does not exist.
func program(script string) func(t *testing.T) source.Cluster {
	return func(t *testing.T) source.Cluster {
		t.Helper()
		dir := t.TempDir()
		at, config := filepath.Join(dir, "give-credentials"), filepath.Join(dir, "config")
		if script != "" {
			if err := os.WriteFile(at, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"it","contexts":[{"name":"it","context":{"cluster":"it","user":"it"}}],
"clusters":[{"name":"it","cluster":{"server":%q,"insecure-skip-tls-verify":true}}],
"users":[{"name":"it","user":{"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":%q,"interactiveMode":"Never","env":[{"name":"KEY","value":%q}]}}}]}`,
			(&standIn{}).start(t).URL, at, credential)
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return source.Cluster{Kubeconfig: config}
	}
}

// TestBadDay reads three clusters, of which the middle one fails in every way:
// the failure is reported with its reason, and does not affect the others.
func TestBadDay(t *testing.T) {
	t.Parallel()
	for name, day := range badDays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := &journal{}
			opts := day.opts
			opts.Log = said.logger()
			good := cluster.Options{Timeout: time.Minute, Patience: time.Minute, Log: said.logger()}
			clusters := []*cluster.Cluster{
				connect(t, "first", (&standIn{}).start(t), good),
				connect(t, "broken", day.there(t), opts),
				connect(t, "last", (&standIn{}).start(t), good),
			}
			told := map[string]cluster.Status{}
			begin := time.Now()
			set, err := cluster.New(clusters, everything, func(s cluster.Status) { told[s.Cluster] = s }).Read(t.Context())
			took := time.Since(begin)

			if diff := cmp.Diff(append(whole("first"), whole("last")...), contents(set)); diff != "" {
				t.Errorf("%s\nobjects of the other clusters (-want +got):\n%s", day.reason, diff)
			}
			for _, n := range []string{"first", "last"} {
				want := cluster.Status{Cluster: n, URL: told[n].URL, Definitions: 2, Compositions: 1, Composites: 2, Lists: 4, Known: true}
				if diff := cmp.Diff(want, told[n]); diff != "" {
					t.Errorf("%s\nstatus of %s (-want +got):\n%s", day.reason, n, diff)
				}
			}
			if s := told["broken"]; s.Err == nil || s.Lists != 0 || s.Definitions != 0 {
				t.Errorf("%s\nstatus of the broken cluster: %+v", day.reason, s)
			}
			all := failures(err)
			if len(all) != 1 {
				t.Fatalf("%s\ngot %d errors, want one: %v", day.reason, len(all), err)
			}
			checkError(t, all[0], day)
			said.checkNoCredential(t, err)
			if limit := max(day.opts.Patience, 400*time.Millisecond) + 20*time.Second; took > limit {
				t.Errorf("%s\nread took %v", day.reason, took)
			}
		})
	}
}

// checkError checks the error of a bad day.
func checkError(t *testing.T, e *cluster.Error, day badDay) {
	t.Helper()
	if e.Cluster != "broken" || e.Reason != day.want || e.Hint == "" || !strings.HasPrefix(e.Error(), `cluster "broken": cannot `) {
		t.Errorf("%s\ngot cluster %q, reason %q, hint %q, %v; want reason %q", day.reason, e.Cluster, e.Reason, e.Hint, e, day.want)
	}
	for _, text := range day.says {
		if !strings.Contains(e.Error()+"\n"+e.Hint, text) {
			t.Errorf("%s\ngot %v\n%s\nwant %q in it", day.reason, e, e.Hint, text)
		}
	}
}

// TestBadSettings checks settings that are refused before any connection.
func TestBadSettings(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(config, []byte(`{"apiVersion":"v1","kind":"Config","contexts":[{"name":"one","context":{}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		c      source.Cluster
		says   string
	}{
		"Address":    {"A password in a URL is refused, because URLs end up in logs.", source.Cluster{URL: "https://a:" + credential + "@b", Token: credential}, "cannot use URL"},
		"Token":      {"A missing token is refused.", source.Cluster{URL: "https://b", Auth: source.AuthToken}, "no token set"},
		"Authority":  {"A certificate authority that cannot be parsed is refused.", source.Cluster{URL: "https://b", Token: credential, CAData: []byte(credential)}, "not in PEM format"},
		"Kubeconfig": {"A missing kubeconfig is refused.", source.Cluster{Kubeconfig: config + ".nope"}, "config.nope"},
		"Context":    {"A missing context is refused, and the error lists the others.", source.Cluster{Kubeconfig: config, Context: "two"}, `use one of "one"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := &journal{}
			tc.c.Name = "broken"
			_, err := cluster.Connect(tc.c, cluster.Options{Log: said.logger()})
			all := failures(err)
			if len(all) != 1 {
				t.Fatalf("%s\ngot %v, want an *Error", tc.reason, err)
			}
			checkError(t, all[0], badDay{reason: tc.reason, want: cluster.Settings, says: []string{tc.says}})
			said.checkNoCredential(t, err)
		})
	}
}
