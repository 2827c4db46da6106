package cluster_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/test/apiserver"
)

// TestSurvey compares a survey, a fetch of everything and a walk through all
// pages.
func TestSurvey(t *testing.T) {
	t.Parallel()
	s := apiserver.Start(t, apiserver.Options{})
	const n = 100
	fill(t, s, n)
	post(t, s, "/apis/apiextensions.crossplane.io/v1/compositeresourcedefinitions", definition(crossplaneV1, "nus.eight.example.org", ""))
	calls := &counter{}
	c := admin(t, "here", s, cluster.Options{PageSize: 30, Log: slog.New(calls)})
	survey, err := c.Survey(t.Context(), upstreamDefinitions, "")
	if err != nil {
		t.Fatal(err)
	}
	if calls.lists.Load() != 4 || len(survey.Items) != n+1 || len(survey.Unreadable) > 0 {
		t.Fatalf("%d definitions in pages of 30 took %d calls: %d %+v", n+1, calls.lists.Load(), len(survey.Items), survey.Unreadable)
	}
	var walked []*tree.Node
	version, err := c.Each(t.Context(), upstreamDefinitions, "", func(objects []*tree.Node, unreadable []finding.Finding) error {
		if len(objects) > 30 || len(unreadable) > 0 {
			t.Errorf("page has %d objects and %+v", len(objects), unreadable)
		}
		walked = append(walked, objects...)
		return nil
	})
	if err != nil || version != survey.Version || version == 0 {
		t.Errorf("version of an unchanged list is %d, then %d, %v", survey.Version, version, err)
	}
	var all []cluster.NamespacedName
	for _, i := range survey.Items {
		all = append(all, cluster.NamespacedName{Name: i.Name})
	}
	none := cluster.NamespacedName{Name: "none.example.org"}
	fetched, gone, err := c.Fetch(t.Context(), upstreamDefinitions, slices.Insert(slices.Clone(all), 50, none))
	if err != nil || !cmp.Equal(gone, []cluster.NamespacedName{none}) {
		t.Errorf("missing objects are %v %v", gone, err)
	}
	for name, objects := range map[string][]*tree.Node{"walked": walked, "fetched": fetched} {
		if len(objects) != len(all) {
			t.Fatalf("%d are %s of %d", len(objects), name, len(all))
		}
		for i, item := range survey.Items {
			if got := itemOf(t, objects[i], item.Changed); !cmp.Equal(item, got) {
				t.Fatalf("survey differs from the object (-surveyed +%s):\n%s", name, cmp.Diff(item, got))
			}
			if objects[i].Get("spec", "group").Str() == "" || objects[i].Get("metadata", "managedFields") != nil {
				t.Fatalf("%s objects are not complete, or have managed fields", name)
			}
		}
	}
	some, err := c.Survey(t.Context(), upstreamDefinitions, "team=nus")
	if err != nil || len(some.Items) != 1 || some.Items[0].Name != "nus.eight.example.org" {
		t.Errorf("survey with a label selector: %+v, %v", some.Items, err)
	}

	enough := errors.New("enough")
	if _, err := c.Each(t.Context(), upstreamDefinitions, "", func([]*tree.Node, []finding.Finding) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("walk that the callback ended returned %v", err)
	}
	unknown := cluster.Resource{Group: "nine.example.org", Version: "v1", Plural: "xis"}
	if _, gone, err := c.Fetch(t.Context(), unknown, []cluster.NamespacedName{none}); !absent(err) || len(gone) > 0 {
		t.Errorf("objects of a kind that is not served were reported as gone: %v, %v", gone, err)
	}
	if _, err := c.Survey(t.Context(), unknown, ""); !absent(err) {
		t.Errorf("survey of a kind that is not served: %v", err)
	}
}

func absent(err error) bool {
	e, ok := errors.AsType[*cluster.Error](err)
	return ok && e.Reason == cluster.Absent
}

// itemOf returns the expected survey item of an object, without changed.
func itemOf(t *testing.T, n *tree.Node, changed time.Time) cluster.Item {
	t.Helper()
	meta := n.Get("metadata")
	words := func(key string) map[string]string {
		all := meta.Get(key)
		if all == nil {
			return nil
		}
		out := map[string]string{}
		for _, f := range all.Fields {
			out[f.Key] = f.Value.Str()
		}
		return out
	}
	created, err := time.Parse(time.RFC3339, meta.Get("creationTimestamp").Str())
	if err != nil || changed.Before(created) {
		t.Fatalf("object was changed before it was created: %v, %v, %v", changed, created, err)
	}
	var generation int64
	_, _ = fmt.Sscan(meta.Get("generation").Scalar(), &generation)
	return cluster.Item{
		Namespace: meta.Get("namespace").Str(), Name: meta.Get("name").Str(), Version: cluster.Version(n), UID: meta.Get("uid").Str(),
		Generation: generation, Labels: words("labels"), Annotations: words("annotations"), Changed: changed,
	}
}

// TestChanged checks for which changes a server records a time, because change
// detection by time sees no others.
func TestChanged(t *testing.T) {
	t.Parallel()
	s := upstream(t)
	name := "omicrons.ten.example.org"
	post(t, s, "/apis/apiextensions.crossplane.io/v1/compositeresourcedefinitions?fieldManager=kubectl-patch",
		strings.Replace(definition(crossplaneV1, name, ""), "labels: {", "annotations: {"+lastApplied+": \"{}\", note: one}\n  labels: {", 1))
	c := admin(t, "here", s, cluster.Options{})
	look := func() cluster.Item {
		t.Helper()
		survey, err := c.Survey(t.Context(), upstreamDefinitions, "team=omicrons")
		if err != nil || len(survey.Items) != 1 {
			t.Fatalf("%+v, %v", survey, err)
		}
		return survey.Items[0]
	}
	before := look()
	if diff := cmp.Diff(map[string]string{"note": "one"}, before.Annotations); diff != "" {
		t.Errorf("want all annotations except for the copy of the object (-want +got):\n%s", diff)
	}
	for _, step := range []struct {
		reason, change string
		noted          bool
	}{
		{"a label is set", `{"metadata":{"labels":{"step":"one"}}}`, true},
		{"the same label is set by the same program", `{"metadata":{"labels":{"step":"two"}}}`, true},
		{"the schema is changed", `{"spec":{"versions":[{"name":"v1","served":true,"referenceable":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`, true},
		{"a label is taken away", `{"metadata":{"labels":{"step":null}}}`, false},
		{"a field is set", `{"spec":{"defaultCompositionRef":{"name":"how"}}}`, true},
		{"a field is taken away", `{"spec":{"defaultCompositionRef":null}}`, false},
	} {
		tick(t, s, before.Changed)
		patch(t, s, upstreamDefinitions, name, step.change)
		after := look()
		if after.Version <= before.Version || after.Changed.After(before.Changed) != step.noted {
			t.Errorf("%s: version %d at %v, then %d at %v", step.reason, before.Version, before.Changed, after.Version, after.Changed)
		}
		before = after
	}
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// tick waits until the clock of the server, which has a resolution of a second,
// is past a time.
func tick(t *testing.T, s *apiserver.Server, past time.Time) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		resp, err := s.Client().Get(s.URL + "/version")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if now, err := http.ParseTime(resp.Header.Get("Date")); err == nil && now.After(past) {
			return
		}
	}
	t.Fatal("clock of the server does not advance")
}

// TestServed checks discovery, also with a server that supports only the old
// protocol.
func TestServed(t *testing.T) {
	s := upstream(t)
	s.Apply(t, definition(crossplaneV2, "pis.eleven.example.org", ""))
	// It takes a moment until a server lists a new kind.
	kind := cluster.Resource{Group: "eleven.example.org", Version: "v1", Plural: "pis", Namespace: "red"}
	c := admin(t, "here", s, cluster.Options{})
	var now cluster.Served
	for deadline := time.Now().Add(time.Minute); !now.Has(kind); time.Sleep(50 * time.Millisecond) {
		var err error
		if now, err = c.Served(t.Context()); err != nil || time.Now().After(deadline) {
			t.Fatalf("kind is never served: %v", err)
		}
	}
	// An old server is simulated by requests without the new media type.
	there, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	old := httptest.NewServer(&httputil.ReverseProxy{Transport: s.Client().Transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(there)
		r.Out.Header.Set("Accept", "application/json")
	}})
	t.Cleanup(old.Close)
	before, err := connect(t, "old", source.Cluster{URL: old.URL, Token: credential}, cluster.Options{}).Served(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, served := range map[string]cluster.Served{"at once": now, "one by one": before} {
		for _, k := range append(cluster.Workloads(nil), cluster.Kind{Resource: kind}, cluster.Kind{Resource: upstreamDefinitions}) {
			if !served.Has(k.Resource) {
				t.Errorf("%s: %s is not listed as served", name, k)
			}
		}
		for _, not := range []cluster.Resource{
			{Group: "eleven.example.org", Version: "v2", Plural: "pis"}, {Group: "eleven.example.org", Version: "v1", Plural: "pis/status"}, {},
		} {
			if served.Has(not) {
				t.Errorf("%s: %+v is listed as served", name, not)
			}
		}
	}
	if now.Len() != before.Len() {
		t.Errorf("%d kinds with aggregated discovery, %d without", now.Len(), before.Len())
	}
}
