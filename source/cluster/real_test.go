package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/finding"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/sample"
	"example.dev/ingestor/tree"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// The clusters the tests share, one under each vocabulary. Tests that change
// what is in one, or stop it, start their own.
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

// admin returns a cluster in which everything is allowed.
func admin(t *testing.T, name string, s *apiserver.Server, opts cluster.Options) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Connect(source.Cluster{Name: name, Kubeconfig: s.Kubeconfig}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// as returns a cluster as a service account sees it.
func as(t *testing.T, name string, s *apiserver.Server, token string) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Connect(source.Cluster{Name: name, URL: s.URL, CAData: s.CA, Token: source.Secret(token)}, cluster.Options{})
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

// TestTwoClusters reads two real clusters at once, one under each vocabulary,
// beside one that does not exist.
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
	selector, err := xrd.ParseSelector("example.dev/ingest=true,team in (xalphas,betas,gammas)")
	if err != nil {
		t.Fatal(err)
	}
	src := cluster.New([]*cluster.Cluster{admin(t, "up", up, cluster.Options{}), gone, admin(t, "own", own, cluster.Options{})},
		cluster.ReadOptions{Labels: selector}, func(s cluster.Status) { status[s.Cluster] = s })
	set, err := src.Read(t.Context())
	failed, ok := errors.AsType[*cluster.Error](err)
	if !ok || failed.Cluster != "gone" || failed.Reason != cluster.Unreachable || failed.Hint == "" {
		t.Errorf("one cluster is broken, and its error says so: %v", err)
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
		t.Errorf("each definition once, in the version it was written for (-want +got):\n%s", diff)
	}
	if s := status["own"]; s.Err != nil || s.Definitions != 2 || s.Compositions != 1 || s.Lists == 0 || s.URL != own.URL {
		t.Errorf("status of a cluster that was read: %+v", s)
	}
	if s := status["gone"]; s.Err == nil || s.Lists != 0 {
		t.Errorf("status of a cluster that was not: %+v", s)
	}
}

// TestComposites reads composites and claims: of all namespaces, of some, and
// their metadata alone.
func TestComposites(t *testing.T) {
	s := upstream(t)
	s.Apply(t, definition(crossplaneV1, "xdeltas.three.example.org", "  claimNames: {kind: Delta, plural: deltas}\n")+
		definition(crossplaneV2, "epsilons.three.example.org", ""))
	for _, ns := range []string{"red", "blue"} {
		s.Apply(t, fmt.Sprintf("apiVersion: three.example.org/v1\nkind: Delta\nmetadata: {name: d, namespace: %[1]s}\nspec: {size: l}\n---\napiVersion: three.example.org/v1\nkind: Epsilons\nmetadata: {name: e, namespace: %[1]s}\nspec: {size: s}\n", ns))
	}
	s.Apply(t, "apiVersion: three.example.org/v1\nkind: Xdeltas\nmetadata: {name: x}\nspec: {size: m}\n")
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
		"here/xdeltas/x three.example.org/v1 Xdeltas m",
	}
	if diff := cmp.Diff(all, read(cluster.ReadOptions{})); diff != "" {
		t.Errorf("all of them (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{all[1], all[3], all[4]}, read(cluster.ReadOptions{Namespaces: []string{"red"}})); diff != "" {
		t.Errorf("those of a namespace, and those of none (-want +got):\n%s", diff)
	}
	bare := make([]string, len(all))
	for i, line := range all {
		bare[i] = line[:strings.LastIndexByte(line, ' ')]
	}
	if diff := cmp.Diff(bare, read(cluster.ReadOptions{Metadata: true})); diff != "" {
		t.Errorf("metadata alone (-want +got):\n%s", diff)
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
		t.Errorf("a definition that is not established is worth a warning: %+v", set.Findings)
	}
}

// post creates an object as it is, without what Apply does beside.
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
// middle of the list, and reads on when it is back.
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
		t.Errorf("every definition once (-want +got):\n%s", diff)
	}
	if calls.lists.Load() != 7 {
		t.Errorf("a thousand in pages of 150 took %d calls", calls.lists.Load())
	}
	if set.Definitions[0].Node.Get("metadata", "managedFields") != nil {
		t.Error("what the server keeps for itself is passed over")
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
		t.Errorf("a server that is killed and comes back costs nothing (-want +got):\n%s", diff)
	}
}

// counter counts the answered lists of definitions in a cluster's log.
type counter struct {
	lists atomic.Int64
	after func(lists int64)
}

// Enabled takes everything.
func (*counter) Enabled(context.Context, slog.Level) bool { return true }

// Handle counts.
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

// log is the events of a watch, to be waited for.
type log struct {
	mu     sync.Mutex
	events []string
	// state is what there is, as somebody who listens would know it.
	state map[string]string
	moved chan struct{}
}

func (l *log) take(e cluster.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Type == cluster.Listed && e.Resource.Plural == "compositeresourcedefinitions" {
		l.state = map[string]string{}
		l.events = append(l.events, "listed")
	}
	for _, d := range e.Set.Definitions {
		if e.Type != cluster.Listed {
			l.events = append(l.events, e.Type.String()+" "+d.Name)
		}
		l.state[d.Name] = d.Labels["step"]
		if e.Type == cluster.Deleted {
			delete(l.state, d.Name)
		}
	}
	select {
	case l.moved <- struct{}{}:
	default:
	}
	return nil
}

// until waits until ok holds for what there is.
func (l *log) until(t *testing.T, what string, ok func(state map[string]string, events []string) bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		l.mu.Lock()
		done, state, events := ok(l.state, l.events), fmt.Sprint(l.state), fmt.Sprint(l.events)
		l.mu.Unlock()
		if done {
			return
		}
		select {
		case <-l.moved:
		case <-deadline:
			t.Fatalf("not seen: %s\nstate %s\nevents %s", what, state, events)
		}
	}
}

// TestWatch applies, changes and deletes a definition while a watch runs, kills
// the server and brings it back, and at last lets the watch miss so much that
// the server cannot tell it any more.
func TestWatch(t *testing.T) {
	t.Parallel()
	s := apiserver.Start(t, apiserver.Options{})
	door := newDoor(t, strings.TrimPrefix(s.URL, "https://"))
	cfg := source.Cluster{Name: "watched", URL: "https://" + door.address, CAData: s.CA, Token: source.Secret(s.Token(t, "default", "watcher"))}
	s.Apply(t, `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: watcher}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: watcher, namespace: default}]
`)
	c, err := cluster.Connect(cfg, cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	l := &log{state: map[string]string{}, moved: make(chan struct{}, 1)}
	ended := make(chan error, 1)
	var troubles atomic.Int64
	go func() {
		ended <- c.Watch(ctx, cluster.WatchOptions{Trouble: func(e *cluster.Error) {
			troubles.Add(1)
			if e.Cluster != "watched" || e.Hint == "" {
				t.Errorf("trouble names the cluster and the way out: %+v", e)
			}
		}}, l.take)
	}()
	l.until(t, "the first list", func(_ map[string]string, events []string) bool { return slices.Contains(events, "listed") })

	step := func(name, value string) string {
		return strings.Replace(definition(crossplaneV2, name, ""), "labels: {", "labels: {step: "+value+", ", 1)
	}
	has := func(name, value string) func(map[string]string, []string) bool {
		return func(state map[string]string, _ []string) bool { return state[name] == value }
	}
	s.Apply(t, step("etas.five.example.org", "one"))
	l.until(t, "a new definition", has("etas.five.example.org", "one"))
	s.Apply(t, step("etas.five.example.org", "two"))
	l.until(t, "a changed definition", has("etas.five.example.org", "two"))
	s.Apply(t, step("thetas.five.example.org", "one"))
	s.Delete(t, step("etas.five.example.org", "two"))
	l.until(t, "a deleted definition", func(state map[string]string, _ []string) bool {
		_, there := state["etas.five.example.org"]
		return !there && state["thetas.five.example.org"] == "one"
	})

	s.Kill()
	s.Restart(t)
	s.Apply(t, step("thetas.five.example.org", "two"))
	l.until(t, "a change after a crash", has("thetas.five.example.org", "two"))

	// What happens while the way is blocked is forgotten by a restart.
	door.close()
	s.Delete(t, step("thetas.five.example.org", "two"))
	s.Apply(t, step("iotas.five.example.org", "one"))
	s.Restart(t)
	lists := 0
	l.until(t, "nothing new", func(_ map[string]string, events []string) bool {
		lists = strings.Count(strings.Join(events, " "), "listed")
		return true
	})
	door.open(t)
	l.until(t, "what changed meanwhile", func(state map[string]string, events []string) bool {
		_, there := state["thetas.five.example.org"]
		return !there && state["iotas.five.example.org"] == "one" && strings.Count(strings.Join(events, " "), "listed") > lists
	})
	if troubles.Load() == 0 {
		t.Error("a lost connection is told as trouble")
	}

	enough := errors.New("enough")
	stop(enough)
	if err := <-ended; !errors.Is(err, enough) {
		t.Errorf("Watch ends with its context: %v", err)
	}
}

// TestWatchEnds ends a watch by its listener's error.
func TestWatchEnds(t *testing.T) {
	c := admin(t, "here", upstream(t), cluster.Options{})
	enough := errors.New("enough")
	if err := c.Watch(t.Context(), cluster.WatchOptions{}, func(cluster.Event) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("Watch returns what its listener returned: %v", err)
	}
}

// door is a way to a server that can be blocked.
type door struct {
	address, to string
	mu          sync.Mutex
	listener    net.Listener
	conns       []net.Conn
}

func newDoor(t *testing.T, to string) *door {
	d := &door{to: to, address: "127.0.0.1:0"}
	d.open(t)
	t.Cleanup(d.close)
	return d
}

func (d *door) open(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", d.address)
	if err != nil {
		t.Fatal(err)
	}
	d.mu.Lock()
	d.listener, d.address = l, l.Addr().String()
	d.mu.Unlock()
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", d.to)
			if err != nil {
				_ = in.Close()
				continue
			}
			d.mu.Lock()
			d.conns = append(d.conns, in, out)
			d.mu.Unlock()
			pipe := func(to, from net.Conn) {
				_, _ = io.Copy(to, from)
				_ = to.Close()
			}
			go pipe(in, out)
			go pipe(out, in)
		}
	}()
}

// close blocks the way and cuts what is on it.
func (d *door) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.listener.Close()
	for _, c := range d.conns {
		_ = c.Close()
	}
	d.conns = nil
}

// role reads deploy/rbac.yaml and returns it with one of its rules left out,
// or whole if without is negative, under names of its own.
func role(t *testing.T, account string, without int) (manifest string, rules int) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "deploy", "rbac.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	docs, bad := tree.DecodeBytes(data)
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	var out strings.Builder
	for _, d := range docs {
		if d.Get("kind").Str() == "ClusterRole" {
			all := d.Get("rules")
			rules = len(all.Items)
			if without >= 0 {
				all.Items = slices.Delete(slices.Clone(all.Items), without, without+1)
			}
		}
		out.WriteString("---\n")
		out.Write(tree.AppendYAML(nil, d))
	}
	return strings.ReplaceAll(out.String(), "name: composer-ingestor", "name: "+account), rules
}

// TestRole holds deploy/rbac.yaml against what the service does: with it
// everything works, and without any one of its rules something fails with a
// message that names the rule.
func TestRole(t *testing.T) {
	up, own := upstream(t), portal(t)
	platform := definition(crossplaneV2, "kappas.platform.example.org", "")
	up.Apply(t, platform, composition(crossplaneV1, "kappa-one", "platform.example.org", "Kappas"))
	own.Apply(t, strings.ReplaceAll(platform, "crossplane", "composer"), composition(composerV1, "kappa-one", "platform.example.org", "Kappas"))
	ours := func(d *xrd.Definition) bool { return d.Name == "kappas.platform.example.org" }

	// try does all the service does with the account's permissions.
	try := func(account string) (errs []*cluster.Error, checks []cluster.Check) {
		for name, s := range map[string]*apiserver.Server{"up": up, "own": own} {
			c := as(t, name, s, s.Token(t, "composer-ingestor", account))
			_, err := c.Read(t.Context(), cluster.ReadOptions{Composites: ours})
			if joined, ok := err.(interface{ Unwrap() []error }); ok {
				for _, e := range joined.Unwrap() {
					one, ok := errors.AsType[*cluster.Error](e)
					if !ok {
						t.Fatalf("an error of another kind: %v", e)
					}
					errs = append(errs, one)
				}
			} else if err != nil {
				t.Fatalf("an error of another kind: %v", err)
			}
			errs = append(errs, watchOnce(t, c)...)
			c.Check(t.Context(), cluster.CheckOptions{Composites: ours, Watch: true}, func(k cluster.Check) {
				if k.Result == cluster.Failed {
					checks = append(checks, k)
				}
			})
		}
		return errs, checks
	}

	whole, rules := role(t, "whole", -1)
	whole = strings.ReplaceAll(whole, "namespace: whole", "namespace: composer-ingestor")
	up.Apply(t, whole)
	own.Apply(t, whole)
	if errs, checks := try("whole"); len(errs)+len(checks) > 0 {
		t.Errorf("the role is enough, but: %v %+v", errs, checks)
	}
	for i := range rules {
		t.Run(fmt.Sprint("Without", i), func(t *testing.T) {
			account := fmt.Sprint("without", i)
			less, _ := role(t, account, i)
			less = strings.ReplaceAll(less, "namespace: "+account, "namespace: composer-ingestor")
			up.Apply(t, less)
			own.Apply(t, less)
			errs, checks := try(account)
			if len(errs) == 0 || len(checks) == 0 {
				t.Fatalf("nothing breaks without the rule: errors %v, checks %+v", errs, checks)
			}
			for _, e := range errs {
				if e.Reason != cluster.Forbidden || !strings.Contains(e.Hint, "add this rule") || !strings.Contains(e.Hint, e.Missing.YAML()) {
					t.Errorf("the message names the rule to add: %v\n%s", e, e.Hint)
				}
			}
			var missing []cluster.Rule
			for _, k := range checks {
				missing = append(missing, k.Missing)
			}
			// What the checks say is missing, added to the role, is enough again.
			var more strings.Builder
			for _, r := range cluster.Merge(missing) {
				more.WriteString("\n" + r.YAML())
			}
			added := fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: more-%[1]s}\nrules:%[2]s\n---\n"+
				"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: more-%[1]s}\n"+
				"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: more-%[1]s}\n"+
				"subjects: [{kind: ServiceAccount, name: %[1]s, namespace: composer-ingestor}]\n", account, more.String())
			up.Apply(t, added)
			own.Apply(t, added)
			if errs, checks := try(account); len(errs)+len(checks) > 0 {
				t.Errorf("the rules that were named are enough, but: %v %+v\n%s", errs, checks, added)
			}
		})
	}
}

// watchOnce watches until every kind was listed or refused.
func watchOnce(t *testing.T, c *cluster.Cluster) []*cluster.Error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	done := errors.New("done")
	var mu sync.Mutex
	var errs []*cluster.Error
	kinds := map[string]bool{}
	seen := func(kind string) bool {
		mu.Lock()
		defer mu.Unlock()
		kinds[kind] = true
		return len(kinds) == 2
	}
	err := c.Watch(ctx, cluster.WatchOptions{Trouble: func(e *cluster.Error) {
		mu.Lock()
		if strings.Contains(e.Doing, "watch") {
			errs = append(errs, e)
		}
		mu.Unlock()
		if seen(e.Doing[strings.IndexByte(e.Doing, ' ')+1:]) {
			cancel()
		}
	}}, func(e cluster.Event) error {
		if seen(e.Resource.String()) {
			return done
		}
		return nil
	})
	if !errors.Is(err, done) && !errors.Is(err, context.Canceled) {
		t.Fatalf("the watch ended otherwise: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	return errs
}
