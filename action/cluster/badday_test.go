package cluster_test

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	actions "example.dev/ingestor/action/cluster"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
)

// credential is a secret that must not appear in any message or log.
const credential = "hunter2-of-the-cluster"

// before returns a proxy in front of the shared cluster. trouble may answer in
// its place, and reports whether it did.
func before(t *testing.T, opts cluster.Options, trouble func(w http.ResponseWriter, r *http.Request) bool) actions.Clusters {
	t.Helper()
	s := server(t)
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Header.Del("Authorization")
		},
		Transport: s.Client().Transport,
		ErrorLog:  slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !trouble(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	return actions.NewFleet([]source.Cluster{{Name: "real", URL: front.URL, Token: credential}}, opts)
}

// refuse answers with a status as an API server does.
func refuse(w http.ResponseWriter, code int, message string) bool {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":%q,"code":%d}`, message, code)
	return true
}

// isApply reports whether a request applies an object and is no dry run.
func isApply(r *http.Request) bool {
	return r.Method == http.MethodPatch && r.URL.Query().Get("dryRun") == ""
}

func TestBadDays(t *testing.T) {
	ns := namespace(t)
	cases := map[string]struct {
		reason  string
		opts    cluster.Options
		trouble func(n int64, w http.ResponseWriter, r *http.Request) bool
		// applied reports whether the object exists in the end.
		applied bool
		want    string
	}{
		"Unauthorized": {"An expired credential is reported.", cluster.Options{}, func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
			return refuse(w, 401, "Unauthorized")
		}, false, "the server returned 401: Unauthorized\nrenew the credential, which is invalid or has expired"},
		"Slow": {"A server that does not answer is reported after the timeout.", cluster.Options{Timeout: 2 * time.Second}, func(_ int64, _ http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPatch {
				return false
			}
			// A handler sees that the client is gone only after it has read the body.
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			return true
		}, false, "did not respond within 2s\n"},
		"Down": {"A server that shuts down is reported.", cluster.Options{Patience: time.Millisecond}, func(_ int64, w http.ResponseWriter, r *http.Request) bool {
			return isApply(r) && refuse(w, 503, "apiserver is shutting down")
		}, false, "the server returned 503: apiserver is shutting down\ntry again, and check the server's log"},
		"Restart": {"A server that is back soon is retried.", cluster.Options{}, func(n int64, w http.ResponseWriter, _ *http.Request) bool {
			return n%2 == 1 && refuse(w, 503, "not yet")
		}, true, ""},
		"Lost": {"A lost response is retried, and the object is applied.", cluster.Options{}, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			if !isApply(r) || n > 5 {
				return false
			}
			r.URL.Scheme, r.URL.Host, r.RequestURI = "https", strings.TrimPrefix(started.URL, "https://"), ""
			r.Header.Del("Authorization")
			resp, err := started.Client().Do(r)
			if err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
			panic(http.ErrAbortHandler)
		}, true, ""},
		"Foreign": {"A server that is not an API server is reported.", cluster.Options{}, func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>please sign in</html>")
			return true
		}, false, "response is text/html, not JSON\ncheck the url of the cluster; this does not look like an API server"},
		"Quota": {"An exceeded quota is reported.", cluster.Options{}, func(_ int64, w http.ResponseWriter, r *http.Request) bool {
			return r.Method == http.MethodPatch && refuse(w, 403, `things.test.example.org "x" is forbidden: exceeded quota: few, requested: count=1, used: count=1, limited: count=1`)
		}, false, "the cluster denied the request: exceeded quota: few, requested: count=1, used: count=1, limited: count=1\nchange the manifest as the message says, or ask"},
		"Raced": {"A write conflict is reported.", cluster.Options{}, func(_ int64, w http.ResponseWriter, r *http.Request) bool {
			return isApply(r) && refuse(w, 409, "Operation cannot be fulfilled: please apply your changes to the latest version")
		}, false, "object was changed by another client at the same time\ntry again"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int64
			apply := actions.Actions(before(t, tc.opts, func(w http.ResponseWriter, r *http.Request) bool {
				return tc.trouble(n.Add(1), w, r)
			}), actions.Options{})[0]
			object, began := strings.ToLower(name), time.Now()
			r := do(t.Context(), t, apply, with(thing(ns, object, "{size: small}"), ""))
			if got := r.message(); !strings.Contains(got, tc.want) || (tc.want == "") != (got == "") {
				t.Errorf("%s:\nwant %s\ngot  %s", tc.reason, tc.want, got)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("%s: apply took %v", tc.reason, took)
			}
			if strings.Contains(r.message()+r.lines(), credential) {
				t.Errorf("credential is in the output: %s %s", r.message(), r.lines())
			}
			if there := find(t, fmt.Sprintf(things, ns, object)) != nil; there != tc.applied {
				t.Errorf("%s: object exists: %v", tc.reason, there)
			}
		})
	}
}

// TestHalfway checks that a step which lost the server between two documents
// can be run again.
func TestHalfway(t *testing.T) {
	ns := namespace(t)
	var down atomic.Bool
	down.Store(true)
	apply := actions.Actions(before(t, cluster.Options{Patience: time.Millisecond}, func(w http.ResponseWriter, r *http.Request) bool {
		return down.Load() && isApply(r) && strings.HasSuffix(r.URL.Path, "/two") && refuse(w, 503, "gone")
	}), actions.Options{})[0]
	manifest := with(thing(ns, "one", "{size: small}")+"---\n"+thing(ns, "two", "{size: small}"), "")
	r := do(t.Context(), t, apply, manifest)
	if want := "Thing " + ns + "/one was already applied; running the step again does not change it"; !strings.HasSuffix(r.message(), want) {
		t.Errorf("error does not name the documents that were applied: %s", r.message())
	}
	first := find(t, fmt.Sprintf(things, ns, "one")).Get("metadata", "resourceVersion").Str()
	down.Store(false)
	r = do(t.Context(), t, apply, manifest)
	if r.err != nil || !strings.Contains(r.lines(), "/one in cluster real was left unchanged\n") {
		t.Errorf("second run did not continue after the first document: %s\n%s", r.message(), r.lines())
	}
	if again := find(t, fmt.Sprintf(things, ns, "one")).Get("metadata", "resourceVersion").Str(); again != first {
		t.Errorf("first document was written again: resourceVersion %s, then %s", first, again)
	}
}

// TestCancel checks tasks that are cancelled at different moments.
func TestCancel(t *testing.T) {
	ns := namespace(t)
	manifest := func(name string) string {
		return with(thing(ns, name+"-one", "{size: small}")+"---\n"+thing(ns, name+"-two", "{size: small}"), "wait: true\n")
	}
	cases := map[string]struct {
		reason string
		at     func(r *http.Request) bool
		there  bool
	}{
		"early": {"A task that is cancelled before the first write writes nothing.", func(r *http.Request) bool { return r.Method == http.MethodPatch && !isApply(r) }, false},
		"late":  {"A write that has begun is finished.", isApply, true},
		"last":  {"A cancelled task ends without waiting for readiness.", func(r *http.Request) bool { return false }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var applied atomic.Int64
			apply := actions.Actions(before(t, cluster.Options{}, func(_ http.ResponseWriter, r *http.Request) bool {
				if tc.at(r) || applied.Load() == 2 && r.Method == http.MethodGet {
					cancel()
				}
				if isApply(r) {
					applied.Add(1)
				}
				return false
			}), actions.Options{})[0]
			began := time.Now()
			r := do(ctx, t, apply, manifest(name))
			if r.err != context.Canceled { //nolint:errorlint // it is no error of a cluster
				t.Errorf("%s: %v", tc.reason, r.err)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("cancelled task took %v to end", took)
			}
			for _, n := range []string{"one", "two"} {
				if there := find(t, fmt.Sprintf(things, ns, name+"-"+n)) != nil; there != tc.there {
					t.Errorf("%s: object %s exists: %v", tc.reason, n, there)
				}
			}
		})
	}
}

// TestAdmission checks the errors for objects that an admission webhook or
// policy refuses.
func TestAdmission(t *testing.T) {
	ns, s := namespace(t), server(t)
	hook := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, after, _ := strings.Cut(string(body), `"uid":"`)
		uid, _, _ := strings.Cut(after, `"`)
		allowed := !strings.Contains(string(body), `"size":"large"`)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":%q,"allowed":%v,"status":{"message":"large ones are for production"}}}`, uid, allowed)
	}))
	hook.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw})
	rules := `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: NS}
webhooks:
  - name: size.example.org
    clientConfig: {url: "URL", caBundle: CA}
    sideEffects: None
    admissionReviewVersions: [v1]
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NS}}
    rules: [{apiGroups: [test.example.org], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: ["*"]}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: NS}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NS}}
    resourceRules: [{apiGroups: [test.example.org], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: ["*"]}]
  validations: [{expression: "!has(object.spec.count) || object.spec.count < 5", message: "ask the platform team for more than 4"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: NS}
spec: {policyName: NS, validationActions: [Deny]}
`
	rules = strings.NewReplacer("NS", ns, "URL", hook.URL, "CA", base64.StdEncoding.EncodeToString(ca)).Replace(rules)
	s.Apply(t, rules)
	t.Cleanup(func() { s.Delete(t, rules) })
	fleet := actions.NewFleet([]source.Cluster{{Name: "real", Kubeconfig: s.Kubeconfig}}, cluster.Options{Patience: time.Millisecond})
	apply := actions.Actions(fleet, actions.Options{})[0]
	say := func(spec string) string {
		return do(t.Context(), t, apply, with(thing(ns, "one", spec), "dryRun: true\n")).message()
	}
	doing := fmt.Sprintf(`cluster "real": cannot apply Thing %s/one: `, ns)
	want := doing + `the admission webhook "size.example.org" denied the request: large ones are for production` + "\nchange the manifest as the message says, or ask the owner of the policy"
	eventually(t, "the webhook refuses the object", func() bool { return say("{size: large}") == want })
	want = doing + fmt.Sprintf(`the admission policy %q denied the request: ask the platform team for more than 4`, ns) + "\nchange the manifest as the message says, or ask the owner of the policy"
	eventually(t, "the policy refuses the object", func() bool { return say("{size: small, count: 5}") == want })
	if got := say("{size: small}"); got != "" {
		t.Errorf("admitted object was refused: %s", got)
	}
	hook.Close()
	if got := say("{size: small}"); !strings.HasPrefix(got, doing+`the admission webhook "size.example.org" of the cluster does not respond: `) || !strings.HasSuffix(got, "\ncontact the owner of the webhook; objects of this kind cannot be changed until it responds") {
		t.Errorf("error for a webhook that is down: %s", got)
	}
}
