package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/action"
	actions "example.dev/ingestor/action/cluster"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/test/apiserver"
)

// shared is the cluster that all tests share; each test has its own namespace.
var shared = sync.OnceValues(func() (*apiserver.Server, error) {
	s, err := apiserver.Run(apiserver.Options{CRDs: "both", XRCRDs: true, Apply: []string{
		"../../examples/database.yaml", "../../examples/network.yaml", "../../examples/cache.yaml", "../../examples/tenant.yaml", definitions,
	}})
	if err == nil {
		started = s
	}
	return s, err
})

var started *apiserver.Server

func TestMain(m *testing.M) {
	code := m.Run()
	if started != nil {
		if err := started.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func server(t *testing.T) *apiserver.Server {
	t.Helper()
	s, err := shared()
	if errors.Is(err, apiserver.ErrOff) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// definitions are those that the tests need in addition to the examples.
const definitions = `
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: things.test.example.org}
spec:
  scope: Namespaced
  group: test.example.org
  names: {kind: Thing, plural: things}
  versions:
    - name: v1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [size, tier]
              properties:
                size: {type: string, title: Size of it, enum: [small, large]}
                tier: {type: string, default: bronze}
                count: {type: integer, minimum: 1, maximum: 10}
                port: {x-kubernetes-int-or-string: true}
                host: {type: string, pattern: '^[a-z]+$', maxLength: 5}
                note: {type: string, nullable: true}
                tags: {type: array, maxItems: 2, items: {type: string}}
                rules: {type: array, items: {type: object, required: [name], properties: {name: {type: string}, weight: {type: number, minimum: 0, exclusiveMinimum: true}}}}
                labels: {type: object, additionalProperties: {type: string}}
                free: {type: object, x-kubernetes-preserve-unknown-fields: true}
                fixed:
                  type: string
                  title: What stays
                  x-kubernetes-validations: [{rule: self == oldSelf, message: it stays as it is}]
`

// thing returns a manifest; spec is YAML in flow style.
func thing(namespace, name, spec string) string {
	return fmt.Sprintf("apiVersion: test.example.org/v1\nkind: Thing\nmetadata: {name: %s, namespace: %s}\nspec: %s\n", name, namespace, spec)
}

// fleet returns the shared cluster with administrator access.
func fleet(t *testing.T) actions.Clusters {
	t.Helper()
	return actions.NewFleet([]source.Cluster{{Name: "real", Kubeconfig: server(t).Kubeconfig}}, cluster.Options{})
}

// account returns the cluster with the access of a service account with the
// given rules.
func account(t *testing.T, name, rules string) actions.Clusters {
	t.Helper()
	s := server(t)
	token := s.Token(t, "accounts", name)
	if rules != "" {
		s.Apply(t, fmt.Sprintf(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: %[1]s}
rules: %[2]s
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[1]s}
subjects: [{kind: ServiceAccount, name: %[1]s, namespace: accounts}]
`, name, rules))
	}
	return actions.NewFleet([]source.Cluster{{Name: "real", URL: s.URL, CAData: s.CA, Token: source.Secret(token)}}, cluster.Options{})
}

// namespace creates a namespace for a test.
func namespace(t *testing.T) string {
	t.Helper()
	name := "t-" + strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	server(t).Apply(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+name+"}\n")
	return name
}

// result is the result of a run of an action.
type result struct {
	mu      sync.Mutex
	log     []string
	outputs map[string]*tree.Node
	changes []action.Change
	// audit are the records of the audit log.
	audit []string
	err   error
}

func (r *result) lines() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.log, "\n")
}

// message returns the error and its hint.
func (r *result) message() string {
	if r.err == nil {
		return ""
	}
	out := r.err.Error()
	if e, ok := errors.AsType[*action.Error](r.err); ok {
		out += "\n" + e.Hint
	}
	return out
}

// do runs an action; input is YAML.
func do(ctx context.Context, t testing.TB, a action.Action, input string) *result {
	t.Helper()
	r := &result{outputs: map[string]*tree.Node{}}
	begin(ctx, t, a, input, r)
	return r
}

func begin(ctx context.Context, t testing.TB, a action.Action, input string, r *result) {
	t.Helper()
	docs, errs := parser.DecodeBytes([]byte(input))
	if len(errs) > 0 {
		t.Fatalf("%v in\n%s", errs[0], input)
	}
	r.err = a.Run(ctx, &action.Call{
		Input: docs[0], Key: t.Name(), Task: "task", Step: "step",
		Logf: func(format string, args ...any) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.log = append(r.log, fmt.Sprintf(format, args...))
		},
		Change: func(c action.Change) { r.changes = append(r.changes, c) },
		Output: func(name string, value *tree.Node) { r.outputs[name] = value },
		Audit: func(event string, target map[string]string, err error) {
			r.audit = append(r.audit, fmt.Sprintf("%s %v %v", event, target, err))
		},
	})
}

// with returns the input of cluster:apply: a manifest as text, and more fields.
func with(manifest, more string) string {
	return string(tree.AppendYAML(nil, tree.Obj(tree.F("manifest", tree.Str(manifest))))) + more
}

// find returns an object of the shared cluster, or nil if it does not exist.
func find(t *testing.T, path string) *tree.Node {
	t.Helper()
	c, err := fleet(t).Cluster("real")
	if err != nil {
		t.Fatal(err)
	}
	n, err := c.Do(t.Context(), cluster.Call{Doing: "look", Path: path})
	if r, ok := cluster.RefusalOf(err); ok && r.Code == 404 {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// set writes to an object of the shared cluster as another field manager.
func set(t *testing.T, path, manager, patch string) {
	t.Helper()
	c, err := fleet(t).Cluster("real")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(t.Context(), cluster.Call{
		Doing: "change", Method: "PATCH", Path: path + "?fieldManager=" + manager, Type: "application/merge-patch+json", Body: []byte(patch),
	}); err != nil {
		t.Fatal(err)
	}
}

// eventually waits for a condition to become true.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("condition not met after 30 s: %s", what)
}

const things = "/apis/test.example.org/v1/namespaces/%s/things/%s"
