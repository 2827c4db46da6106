package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/sample"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/selector"
)

// The clusters that the tests share, one per vocabulary. Tests that change or
// stop a cluster start their own.
var upstream, portal = shared("crossplane"), shared("composer")

var started []*apiserver.Server

func shared(crds string) func(t *testing.T) *apiserver.Server {
	run := sync.OnceValues(func() (*apiserver.Server, error) {
		s, err := apiserver.Run(apiserver.Options{CRDs: crds, XRCRDs: true})
		if err == nil {
			started = append(started, s)
		}
		return s, err
	})
	return func(t *testing.T) *apiserver.Server {
		t.Helper()
		s, err := run()
		if errors.Is(err, apiserver.ErrOff) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, s := range started {
		if err := s.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// admin returns a cluster with administrator access.
func admin(t *testing.T, name string, s *apiserver.Server, opts cluster.Options) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Connect(source.Cluster{Name: name, Kubeconfig: s.Kubeconfig}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// as returns a cluster with the access of a service account.
func as(t *testing.T, name string, s *apiserver.Server, token string, opts cluster.Options) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Connect(source.Cluster{Name: name, URL: s.URL, CAData: s.CA, Token: source.Secret(token)}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// definition returns a small definition. written is its apiVersion.
func definition(written, name, more string) string {
	plural, group, _ := strings.Cut(name, ".")
	return fmt.Sprintf(`---
apiVersion: %s
kind: CompositeResourceDefinition
metadata:
  name: %s
  labels: {example.dev/ingest: "true", team: %s}
spec:
  group: %s
  names: {kind: %s, plural: %s}
  versions:
    - name: v1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          type: object
          properties: {spec: {type: object, properties: {size: {type: string}}}}
%s`, written, name, plural, group, strings.ToUpper(plural[:1])+plural[1:], plural, more)
}

const (
	crossplaneV1 = "apiextensions.crossplane.io/v1"
	crossplaneV2 = "apiextensions.crossplane.io/v2"
	composerV1   = "apiextensions.composer.io/v1"
	composerV2   = "apiextensions.composer.io/v2"
)

func composition(written, name, group, kind string) string {
	return fmt.Sprintf(`---
apiVersion: %s
kind: Composition
metadata: {name: %s}
spec:
  compositeTypeRef: {apiVersion: %s/v1, kind: %s}
  mode: Pipeline
  pipeline: [{step: one, functionRef: {name: function-one}}]
`, written, name, group, kind)
}

func names(set *xrd.Set) []string {
	var out []string
	for _, d := range set.Definitions {
		out = append(out, d.Name)
	}
	slices.Sort(out)
	return out
}

// TestTwoClusters reads two real clusters at once, one per vocabulary, and one
// that does not exist.
func TestTwoClusters(t *testing.T) {
	up, own := upstream(t), portal(t)
	up.Apply(t, definition(crossplaneV1, "xalphas.two.example.org", "  claimNames: {kind: Alpha, plural: alphas}\n")+
		definition(crossplaneV2, "betas.two.example.org", "")+composition(crossplaneV1, "alpha-one", "two.example.org", "Xalphas"))
	own.Apply(t, definition(composerV1, "xalphas.two.example.org", "  claimNames: {kind: Alpha, plural: alphas}\n")+
		definition(composerV2, "gammas.two.example.org", "  scope: Cluster\n")+composition(composerV1, "alpha-two", "two.example.org", "Xalphas"))
	gone, err := cluster.Connect(source.Cluster{Name: "gone", URL: "https://127.0.0.1:1", Token: "t"}, cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	status := map[string]cluster.Status{}
	wanted, err := selector.Parse("example.dev/ingest=true,team in (xalphas,betas,gammas)")
	if err != nil {
		t.Fatal(err)
	}
	src := cluster.New([]*cluster.Cluster{admin(t, "up", up, cluster.Options{}), gone, admin(t, "own", own, cluster.Options{})},
		cluster.ReadOptions{Labels: wanted}, func(s cluster.Status) { status[s.Cluster] = s })
	set, err := src.Read(t.Context())
	failed, ok := errors.AsType[*cluster.Error](err)
	if !ok || failed.Cluster != "gone" || failed.Reason != cluster.Unreachable || failed.Hint == "" {
		t.Errorf("error does not name the broken cluster: %v", err)
	}
	type seen struct {
		APIVersion, Name string
		Scope            xrd.Scope
		Claim            string
		Words            words.Vocabulary
		Origin           xrd.Origin
	}
	var got []seen
	for _, d := range set.Definitions {
		got = append(got, seen{d.APIVersion, d.Name, d.Scope, d.Claim.Kind, d.Words, d.Origin})
	}
	at := func(cluster, name, url string) xrd.Origin {
		return xrd.Origin{Source: xrd.SourceCluster, Cluster: cluster, File: cluster + "/xrd/" + name, Location: "url:" + url}
	}
	want := []seen{
		{words.DefinitionV2, "betas.two.example.org", xrd.ScopeNamespaced, "", words.Upstream, at("up", "betas.two.example.org", up.URL)},
		{words.DefinitionV1, "xalphas.two.example.org", xrd.ScopeLegacyCluster, "Alpha", words.Upstream, at("up", "xalphas.two.example.org", up.URL)},
		{words.DefinitionV2, "gammas.two.example.org", xrd.ScopeCluster, "", words.Portal, at("own", "gammas.two.example.org", own.URL)},
		{words.DefinitionV1, "xalphas.two.example.org", xrd.ScopeLegacyCluster, "Alpha", words.Portal, at("own", "xalphas.two.example.org", own.URL)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want each definition once, in the version it was written for (-want +got):\n%s", diff)
	}
	if s := status["own"]; s.Err != nil || s.Definitions != 2 || s.Compositions != 1 || s.Lists == 0 || s.URL != own.URL {
		t.Errorf("status of a cluster that was read: %+v", s)
	}
	if s := status["gone"]; s.Err == nil || s.Lists != 0 {
		t.Errorf("status of a cluster that was not read: %+v", s)
	}
}

// TestComposites reads composites and claims: of all namespaces, of one, and
// only their metadata.
func TestComposites(t *testing.T) {
	s := upstream(t)
	s.Apply(t, definition(crossplaneV1, "xdeltas.three.example.org", "  claimNames: {kind: Delta, plural: deltas}\n")+
		definition(crossplaneV2, "epsilons.three.example.org", ""))
	for _, ns := range []string{"red", "blue"} {
		s.Apply(t, fmt.Sprintf("apiVersion: three.example.org/v1\nkind: Delta\nmetadata: {name: d, namespace: %[1]s}\nspec: {size: l}\n---\napiVersion: three.example.org/v1\nkind: Epsilons\nmetadata: {name: e, namespace: %[1]s}\nspec: {size: s}\n", ns))
	}
	s.Apply(t, "apiVersion: three.example.org/v1\nkind: Xdeltas\nmetadata: {name: x}\nspec: {size: m}\n---\n"+
		"apiVersion: three.example.org/v1\nkind: Xdeltas\nmetadata: {name: z}\nspec: {size: xl, claimRef: {namespace: blue, name: d}}\n")
	c := admin(t, "here", s, cluster.Options{})
	read := func(opts cluster.ReadOptions) []string {
		t.Helper()
		opts.Composites = func(d *xrd.Definition) bool { return d.Group == "three.example.org" }
		opts.NoCompositions = true
		set, err := c.Read(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, o := range set.Others {
			out = append(out, strings.TrimRight(fmt.Sprintf("%s %s %s %s", o.Origin.File, o.APIVersion, o.Kind, o.Node.Get("spec", "size").Str()), " "))
		}
		slices.Sort(out)
		return out
	}
	all := []string{
		"here/deltas/blue/d three.example.org/v1 Delta l", "here/deltas/red/d three.example.org/v1 Delta l",
		"here/epsilons/blue/e three.example.org/v1 Epsilons s", "here/epsilons/red/e three.example.org/v1 Epsilons s",
		"here/xdeltas/x three.example.org/v1 Xdeltas m", "here/xdeltas/z three.example.org/v1 Xdeltas xl",
	}
	if diff := cmp.Diff(all, read(cluster.ReadOptions{})); diff != "" {
		t.Errorf("composites of all namespaces (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{all[1], all[3], all[4]}, read(cluster.ReadOptions{Namespaces: []string{"red"}})); diff != "" {
		t.Errorf("composites of one namespace, and cluster-scoped ones without a claim in another (-want +got):\n%s", diff)
	}
	bare := make([]string, len(all))
	for i, line := range all {
		bare[i] = line[:strings.LastIndexByte(line, ' ')]
	}
	if diff := cmp.Diff(bare, read(cluster.ReadOptions{Metadata: true})); diff != "" {
		t.Errorf("metadata of composites (-want +got):\n%s", diff)
	}
}

// TestUnserved reads the composites of a definition that is not established.
func TestUnserved(t *testing.T) {
	s := upstream(t)
	post(t, s, "/apis/apiextensions.crossplane.io/v2/compositeresourcedefinitions", definition(crossplaneV2, "zetas.four.example.org", ""))
	c := admin(t, "here", s, cluster.Options{})
	set, err := c.Read(t.Context(), cluster.ReadOptions{Names: []string{"zetas.four.example.org"}, Composites: func(*xrd.Definition) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Findings) != 1 || set.Findings[0].Rule != xrd.RuleUnserved || set.Findings[0].Severity != finding.Warning || set.Findings[0].Where() != "here/xrd/zetas.four.example.org" {
		t.Errorf("findings of a definition that is not established: %+v", set.Findings)
	}
	if u := set.Definitions[0].Unserved(); len(u) != 1 || u[0].Cluster != "here" || u[0].Type != xrd.ConditionEstablished || u[0].Reason != xrd.ReasonNotServed {
		t.Errorf("definition without conditions whose kind is not served: %+v", u)
	}
}

// post creates an object without the additions of Apply.
func post(t testing.TB, s *apiserver.Server, path, yaml string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(strings.TrimPrefix(yaml, "---\n")))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/yaml")
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		body, _ := io.ReadAll(resp.Body)
		t.Fatalf("cannot create: %s\n%s", resp.Status, body)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
}

// fill creates n definitions.
func fill(t testing.TB, s *apiserver.Server, n int) {
	t.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				post(t, s, "/apis/apiextensions.crossplane.io/v1/compositeresourcedefinitions", string(sample.Definition(i)))
			}
		})
	}
	wg.Wait()
}

// TestMany reads a thousand definitions in pages, kills the server in the
// middle of the list, and continues when it is back.
func TestMany(t *testing.T) {
	t.Parallel()
	s := apiserver.Start(t, apiserver.Options{})
	const n = 1000
	fill(t, s, n)
	want := make([]string, n)
	for i := range want {
		want[i] = fmt.Sprintf("xsamples%d.platform.example.org", i)
	}
	slices.Sort(want)
	calls := &counter{}
	c := admin(t, "many", s, cluster.Options{PageSize: 150, Log: slog.New(calls)})
	set, err := c.Read(t.Context(), cluster.ReadOptions{NoCompositions: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, names(set)); diff != "" {
		t.Errorf("want every definition once (-want +got):\n%s", diff)
	}
	if calls.lists.Load() != 7 {
		t.Errorf("a thousand definitions in pages of 150 took %d calls", calls.lists.Load())
	}
	if set.Definitions[0].Node.Get("metadata", "managedFields") != nil {
		t.Error("managed fields were not removed")
	}

	killer := &counter{}
	var back sync.WaitGroup
	killer.after = func(lists int64) {
		if lists == 3 {
			s.Kill()
			back.Go(func() { s.Restart(t) })
		}
	}
	c = admin(t, "many", s, cluster.Options{PageSize: 150, Patience: time.Minute, Log: slog.New(killer)})
	set, err = c.Read(t.Context(), cluster.ReadOptions{NoCompositions: true})
	back.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, names(set)); diff != "" {
		t.Errorf("definitions after a restart of the server (-want +got):\n%s", diff)
	}
}

// counter counts the responses to lists of definitions in the log of a cluster.
type counter struct {
	lists atomic.Int64
	after func(lists int64)
}

// Enabled accepts every level.
func (*counter) Enabled(context.Context, slog.Level) bool { return true }

// Handle counts a record.
func (c *counter) Handle(_ context.Context, r slog.Record) error {
	list, answered := false, false
	r.Attrs(func(a slog.Attr) bool {
		list = list || a.Key == "path" && strings.HasSuffix(a.Value.String(), "/compositeresourcedefinitions")
		answered = answered || a.Key == "status" && a.Value.Int64() == http.StatusOK
		return true
	})
	if list && answered {
		n := c.lists.Add(1)
		if c.after != nil {
			c.after(n)
		}
	}
	return nil
}

// WithAttrs changes nothing.
func (c *counter) WithAttrs([]slog.Attr) slog.Handler { return c }

// WithGroup changes nothing.
func (c *counter) WithGroup(string) slog.Handler { return c }
