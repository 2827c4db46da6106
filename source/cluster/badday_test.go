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

// badDay is a way to be broken.
type badDay struct {
	reason string
	// there starts what is broken.
	there func(t *testing.T) source.Cluster
	// opts are short enough for a test, and long enough for a busy machine.
	opts cluster.Options
	want cluster.Reason
	// says are parts of the message or its hint.
	says []string
}

// The limits of what is broken: of one that hangs, and of one that fails. All
// else has a lot of time.
var (
	hanging = cluster.Options{Timeout: 400 * time.Millisecond, Patience: 400 * time.Millisecond}
	failing = cluster.Options{Timeout: time.Minute, Patience: 400 * time.Millisecond}
)

// always is a stand-in that answers every request in one way.
func always(answer func(w http.ResponseWriter, r *http.Request)) func(t *testing.T) source.Cluster {
	return func(t *testing.T) source.Cluster {
		s := &standIn{trouble: func(_ int, w http.ResponseWriter, r *http.Request) bool { answer(w, r); return true }}
		return s.start(t)
	}
}

// status is a stand-in that answers every request with a status.
func status(code int) func(t *testing.T) source.Cluster {
	return always(func(w http.ResponseWriter, _ *http.Request) { refuse(w, code, "no") })
}

// scheme changes the scheme of an address.
func scheme(c source.Cluster, to string) source.Cluster {
	_, rest, _ := strings.Cut(c.URL, "://")
	c.URL = to + "://" + rest
	return c
}

var badDays = map[string]badDay{
	"Refused": {
		reason: "nothing listens",
		there: func(t *testing.T) source.Cluster {
			srv := httptest.NewTLSServer(nil)
			srv.Close()
			return source.Cluster{URL: srv.URL, Token: credential}
		},
		opts: failing, want: cluster.Unreachable, says: []string{"connection refused", "check that the API server runs"},
	},
	"UnknownName": {
		reason: "nobody knows the name",
		there: func(*testing.T) source.Cluster {
			return source.Cluster{URL: "https://cluster.invalid", Token: credential}
		},
		opts: failing, want: cluster.Unreachable, says: []string{`no address is known for host "cluster.invalid"`},
	},
	"HangsBeforeTLS": {
		reason: "something accepts connections and says nothing",
		there:  func(t *testing.T) source.Cluster { return listener(t, func(net.Conn) {}) },
		opts:   hanging, want: cluster.Timeout, says: []string{"did not answer within 400ms"},
	},
	"HangsAfterTLS": {
		reason: "requests are taken and never answered",
		there:  always(func(_ http.ResponseWriter, r *http.Request) { hang(r.Context()) }),
		opts:   hanging, want: cluster.Timeout, says: []string{"did not answer within 400ms"},
	},
	"HangsInBody": {
		reason: "an answer begins and never ends",
		there: always(func(w http.ResponseWriter, r *http.Request) {
			say(w, `{"kind":"APIGroup",`)
			w.(http.Flusher).Flush()
			hang(r.Context())
		}),
		opts: hanging, want: cluster.Timeout, says: []string{"did not answer within 400ms"},
	},
	"Trickles": {
		reason: "an answer goes on for ever, byte by byte",
		there: always(func(w http.ResponseWriter, r *http.Request) {
			for say(w, "{"); r.Context().Err() == nil; time.Sleep(5 * time.Millisecond) {
				_, _ = w.Write([]byte(" "))
				w.(http.Flusher).Flush()
			}
		}),
		opts: hanging, want: cluster.Timeout, says: []string{"did not answer within 400ms"},
	},
	"UnknownAuthority": {
		reason: "a stranger signed the certificate",
		there: func(t *testing.T) source.Cluster {
			c := (&standIn{}).start(t)
			c.CAData = nil
			return c
		},
		opts: failing, want: cluster.Certificate, says: []string{"unknown authority", "caData"},
	},
	"OtherName": {
		reason: "the certificate is for somebody else",
		there: func(t *testing.T) source.Cluster {
			return (&standIn{}).start(t, certificate(t, time.Now().Add(time.Hour), net.IPv4(192, 0, 2, 1), "api.example.org"))
		},
		opts: failing, want: cluster.Certificate, says: []string{"127.0.0.1", "the certificate is for api.example.org, 192.0.2.1"},
	},
	"Expired": {
		reason: "the certificate has expired",
		there: func(t *testing.T) source.Cluster {
			return (&standIn{}).start(t, certificate(t, time.Now().Add(-time.Hour), net.IPv4(127, 0, 0, 1)))
		},
		opts: failing, want: cluster.Certificate, says: []string{"expired", "clock"},
	},
	"PlainBehindTLS": {
		reason: "the server does not speak TLS",
		there: func(t *testing.T) source.Cluster {
			srv := httptest.NewServer(&standIn{})
			t.Cleanup(srv.Close)
			return scheme(source.Cluster{URL: srv.URL, Token: credential}, "https")
		},
		opts: failing, want: cluster.Certificate, says: []string{"write http://"},
	},
	"OtherProtocol": {
		reason: "the port is that of something else",
		there: func(t *testing.T) source.Cluster {
			return listener(t, func(conn net.Conn) { _, _ = conn.Write([]byte("SSH-2.0-OpenSSH_9.2\r\n")) })
		},
		opts: failing, want: cluster.Certificate, says: []string{"does not speak TLS", "check the port"},
	},
	"TLSBehindPlain": {
		reason: "the server speaks TLS only",
		there:  func(t *testing.T) source.Cluster { return scheme((&standIn{}).start(t), "http") },
		opts:   failing, want: cluster.Server, says: []string{"400", "https://"},
	},
	"HangsUp": {
		reason: "connections are closed as soon as they are made",
		there:  func(t *testing.T) source.Cluster { return listener(t, func(conn net.Conn) { _ = conn.Close() }) },
		opts:   failing, want: cluster.Server, says: []string{"ended the connection too early"},
	},
	"Unauthorized": {
		reason: "the token is not taken",
		there: func(t *testing.T) source.Cluster {
			c := (&standIn{}).start(t)
			c.Token = credential + "-old"
			return c
		},
		opts: failing, want: cluster.Unauthorized, says: []string{"401", "kubectl create token"},
	},
	"Forbidden": {
		reason: "nothing is allowed at all",
		there:  status(http.StatusForbidden), opts: failing, want: cluster.Forbidden, says: []string{"403", "lacks a permission"},
	},
	"Absent": {
		reason: "the definitions' own definitions are not installed",
		there:  func(t *testing.T) source.Cluster { return (&standIn{groups: []string{}}).start(t) },
		opts:   failing, want: cluster.Absent, says: []string{"serves no compositeresourcedefinitions", "install"},
	},
	"TooManyRequests": {
		reason: "the server asks for more patience than there is",
		there: always(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			refuse(w, http.StatusTooManyRequests, "too many requests")
		}),
		opts: failing, want: cluster.Server, says: []string{"429", "too busy"},
	},
	"Fault": {
		reason: "the server has a fault that stays", there: status(http.StatusInternalServerError),
		opts: failing, want: cluster.Server, says: []string{"500", "fault of its own"},
	},
	"BadGateway": {
		reason: "a proxy answers with a page of its own",
		there: always(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusBadGateway)
			_, _ = w.Write([]byte("<h1>oh no</h1>"))
		}),
		opts: failing, want: cluster.Server, says: []string{"502 Bad Gateway"},
	},
	"Redirect": {
		reason: "the server sends everybody elsewhere",
		there: func(t *testing.T) source.Cluster {
			elsewhere := &standIn{}
			to := elsewhere.start(t)
			t.Cleanup(func() {
				if calls := elsewhere.seen(""); len(calls) > 0 {
					t.Errorf("the redirect was followed: %v", calls)
				}
			})
			return always(func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, to.URL+r.URL.Path, http.StatusFound)
			})(t)
		},
		opts: failing, want: cluster.Server, says: []string{"redirects", "check its url"},
	},
	"HTML": {
		reason: "the server is a web site",
		there: always(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte("<h1>Welcome</h1>"))
		}),
		opts: failing, want: cluster.Server, says: []string{"text/html, not JSON", "check its url"},
	},
	"OtherJSON": {
		reason: "the server speaks JSON, of other things",
		there:  always(func(w http.ResponseWriter, _ *http.Request) { say(w, `{"status":"ok"}`) }),
		opts:   failing, want: cluster.Server, says: []string{"check its url"},
	},
	"CutOff": {
		reason: "every answer is cut off",
		there: always(func(w http.ResponseWriter, _ *http.Request) {
			say(w, `{"kind":"APIGroup","versions":[`)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}),
		opts: failing, want: cluster.Server, says: []string{"cut off", "ended the connection too early"},
	},
	"HalfJSON": {
		reason: "every answer is half of one",
		there:  always(func(w http.ResponseWriter, _ *http.Request) { say(w, `{"kind":"APIGroup","versions":[`) }),
		opts:   failing, want: cluster.Server, says: []string{"cut off"},
	},
	"NoTokenFile": {
		reason: "the token's file is not there",
		there: func(t *testing.T) source.Cluster {
			c := (&standIn{}).start(t)
			c.Token, c.TokenFile = "", filepath.Join(t.TempDir(), "nope")
			return c
		},
		opts: failing, want: cluster.Unauthorized, says: []string{"nope", "no such file"},
	},
	"IssuerDown": {
		reason: "nobody gives tokens",
		there: func(t *testing.T) source.Cluster {
			c := (&standIn{}).start(t)
			c.Auth, c.OIDC = source.AuthOIDC, source.OIDC{Issuer: "https://127.0.0.1:1", ClientID: "c", ClientSecret: credential}
			return c
		},
		opts: failing, want: cluster.Unauthorized, says: []string{`issuer "https://127.0.0.1:1" cannot be asked`},
	},
	"ProgramFails": {
		reason: "the program that gives credentials fails",
		there:  program("exit 7"), opts: failing, want: cluster.Unauthorized, says: []string{"give-credentials", "exit code 7"},
	},
	"ProgramHangs": {
		reason: "the program that gives credentials never ends",
		there:  program(`while [ -e "$0" ]; do sleep 0.1; done`),
		opts:   hanging, want: cluster.Unauthorized, says: []string{"give-credentials", "does not come to an end"},
	},
	"ProgramMissing": {
		reason: "the program that gives credentials is not installed",
		there:  program(""), opts: failing, want: cluster.Unauthorized, says: []string{"give-credentials", "no such file"},
	},
}

// program is a cluster whose kubeconfig runs a script for credentials; an
// empty one does not exist.
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

// TestBadDay reads three clusters, of which the middle one is broken in every
// way there is: that it is, and how, is told, and costs the others nothing.
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
				t.Errorf("%s\nread of the others (-want +got):\n%s", day.reason, diff)
			}
			for _, n := range []string{"first", "last"} {
				want := cluster.Status{Cluster: n, URL: told[n].URL, Definitions: 2, Compositions: 1, Composites: 2, Lists: 4, Known: true}
				if diff := cmp.Diff(want, told[n]); diff != "" {
					t.Errorf("%s\nstatus of %s (-want +got):\n%s", day.reason, n, diff)
				}
			}
			if s := told["broken"]; s.Err == nil || s.Lists != 0 || s.Definitions != 0 {
				t.Errorf("%s\nstatus of the broken one: %+v", day.reason, s)
			}
			all := failures(err)
			if len(all) != 1 {
				t.Fatalf("%s\ngot %d errors, want one: %v", day.reason, len(all), err)
			}
			judge(t, all[0], day)
			said.keeps(t, err)
			if limit := max(day.opts.Patience, 400*time.Millisecond) + 20*time.Second; took > limit {
				t.Errorf("%s\nit took %v", day.reason, took)
			}
		})
	}
}

// judge looks at the error of a bad day.
func judge(t *testing.T, e *cluster.Error, day badDay) {
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

// TestBadSettings tries what cannot even be begun.
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
		"Address":    {"a password in an address ends up in logs", source.Cluster{URL: "https://a:" + credential + "@b", Token: credential}, "cannot use the address"},
		"Token":      {"there is none", source.Cluster{URL: "https://b", Auth: source.AuthToken}, "there is no token"},
		"Authority":  {"it is none", source.Cluster{URL: "https://b", Token: credential, CAData: []byte(credential)}, "not a certificate"},
		"Kubeconfig": {"it is not there", source.Cluster{Kubeconfig: config + ".nope"}, "config.nope"},
		"Context":    {"it is not there, and others are", source.Cluster{Kubeconfig: config, Context: "two"}, `it has "one"`},
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
			judge(t, all[0], badDay{reason: tc.reason, want: cluster.Settings, says: []string{tc.says}})
			said.keeps(t, err)
		})
	}
}
