package crossplane_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/plan"
	"example.dev/ingestor/internal/plan/render"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/source/cluster/live"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/crossplane"
	"example.dev/ingestor/xrd/composed"
)

// planned is a cluster with Crossplane, and a planner for it.
type planned struct {
	core    *crossplane.Core
	on      *cluster.Cluster
	kinds   *live.Kinds
	planner *plan.Planner
	// authorize decides what functions may get; nil means everything.
	authorize func(context.Context, composed.Ref) error
	// compared counts the objects that were compared with those of the cluster.
	compared int
}

// newPlanned returns a planner that uses the functions of the cluster.
func newPlanned(t *testing.T, s *apiserver.Server, core *crossplane.Core, opts render.Options, functions ...plan.Endpoint) *planned {
	t.Helper()
	var err error
	if opts.Program == "" {
		if opts.Program, err = core.Program(); err != nil {
			t.Fatal(err)
		}
	}
	on, err := cluster.Connect(source.Cluster{Name: "test", Kubeconfig: s.Kubeconfig}, cluster.Options{Wrap: func(_ string, next http.RoundTripper) http.RoundTripper {
		return reading{t, next}
	}})
	if err != nil {
		t.Fatal(err)
	}
	return &planned{core: core, on: on, kinds: live.NewKinds(time.Now), planner: plan.New(plan.Options{Render: render.New(opts), Functions: functions})}
}

// reading is a transport that fails a test that writes. It has all requests of plans: the
// renderer gets neither an address nor a credential of the cluster.
type reading struct {
	t    *testing.T
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (r reading) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet {
		r.t.Errorf("a plan made the request %s %s, which may write", req.Method, req.URL.Path)
	}
	return r.next.RoundTrip(req)
}

// objects returns the objects of the cluster.
func (p *planned) objects() *live.Objects { return live.NewObjects(p.on, p.kinds) }

// plan makes a plan of a manifest.
func (p *planned) plan(ctx context.Context, manifest string) (*plan.Plan, error) {
	docs, errs := parser.DecodeBytes([]byte(manifest))
	if len(errs) > 0 {
		return nil, errs[0]
	}
	return p.planner.Plan(ctx, plan.Request{
		Cluster: "test", Manifest: docs[0], Source: live.NewObjects(p.on, p.kinds),
		Machine: plan.ClusterMachine(p.on, p.kinds, nil, plan.DefaultSecret), Authorize: p.authorize,
	})
}

// summary returns a plan in short: its counts, and a line for each object.
func summary(p *plan.Plan) []string {
	lines := []string{p.Counts.String()}
	for _, o := range p.Objects {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", o.Action.Sign(), strings.Join(append(slices.Clone(o.Within), o.Resource), "/"), o.Title(), strings.Join(o.Diff(), " "))))
	}
	return lines
}

// TestPlan plans composites that do not exist and composites that do, compares the plan
// with what Crossplane then does, and checks that plans write nothing.
func TestPlan(t *testing.T) {
	s := apiserver.Start(t, apiserver.Options{CRDs: "none"})
	core := crossplane.Start(t, s)
	core.Define(t, crossplane.Definitions, legacy, fewer, lean, vault)
	// Crossplane would select one of two Compositions at random.
	for _, name := range []string{"websites.shops.example.org", "shops.shops.example.org"} {
		if err := core.Patch("/apis/apiextensions.crossplane.io/v1/compositeresourcedefinitions/"+name,
			map[string]any{"spec": map[string]any{"defaultCompositionRef": map[string]any{"name": name}}}); err != nil {
			t.Fatal(err)
		}
	}
	s.Apply(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: shops}\n")
	p := newPlanned(t, s, core, render.Options{})
	const created = "(generated)"
	cases := []struct {
		name, reason string
		// manifest is planned and, with apply, then applied.
		manifest string
		apply    bool
		want     []string
	}{
		{
			name: "New", reason: "A new composite creates everything, also what nested composites compose.", apply: true,
			manifest: shop("{title: Books, pods: 5}"),
			want: []string{
				"5 to create, 0 to change, 0 to delete", "+ quota Quota shops/books-" + created, "+ quota/limit ResourceQuota shops/books-" + created,
				"+ website Website shops/books-" + created, "+ website/pages ConfigMap shops/books-" + created, "+ website/routes ConfigMap shops/books-" + created,
			},
		},
		{
			name: "Same", reason: "What was applied is not planned again.", manifest: shop("{title: Books, pods: 5}"),
			want: []string{
				"0 to create, 0 to change, 0 to delete", "= quota Quota shops/books-*", "= quota/limit ResourceQuota shops/books-*",
				"= website Website shops/books-*", "= website/pages ConfigMap shops/books-*", "= website/routes ConfigMap shops/books-*",
			},
		},
		{
			name: "Changed", reason: "A change reaches the objects of the nested composite.", manifest: shop("{title: Books, pods: 7}"), apply: true,
			want: []string{
				"0 to create, 2 to change, 0 to delete", "~ quota Quota shops/books-* - spec.pods: 5 + spec.pods: 7",
				`~ quota/limit ResourceQuota shops/books-* - spec.hard.pods: "5" + spec.hard.pods: "7"`,
				"= website Website shops/books-*", "= website/pages ConfigMap shops/books-*", "= website/routes ConfigMap shops/books-*",
			},
		},
		{
			name: "Default", reason: "The schema's default is applied.", manifest: "apiVersion: shops.example.org/v1\nkind: Quota\nmetadata: {name: small, namespace: shops}\nspec: {}\n",
			want: []string{"1 to create, 0 to change, 0 to delete", "+ limit ResourceQuota shops/small-" + created},
		},
		{
			name: "Claim", reason: "A claim becomes a composite with a generated name.", apply: true,
			manifest: "apiVersion: legacy.example.org/v1\nkind: Store\nmetadata: {name: music, namespace: shops}\nspec: {size: 3}\n",
			want:     []string{"1 to create, 0 to change, 0 to delete", "+ map ConfigMap shops/music-(generated)-" + created},
		},
		{
			name: "Bound", reason: "A claim that is bound changes its composite.",
			manifest: "apiVersion: legacy.example.org/v1\nkind: Store\nmetadata: {name: music, namespace: shops}\nspec: {size: 4}\n",
			want:     []string{"0 to create, 1 to change, 0 to delete", `~ map ConfigMap shops/music-* - data.size: "3" + data.size: "4"`},
		},
		{
			name: "Vault", reason: "What the API server stores in another form is not planned again: Secrets, quantities, empty lists, merged lists.", apply: true, manifest: safe(""),
			want: []string{"2 to create, 0 to change, 0 to delete", "+ key Secret shops/safe-" + created, "+ server Deployment shops/safe-" + created},
		},
		{
			name: "VaultAgain", reason: "An object whose data is not read is unchanged.", manifest: safe(""),
			want: []string{"0 to create, 0 to change, 0 to delete", "= key Secret shops/safe-*", "= server Deployment shops/safe-*"},
		},
		{
			name: "VaultImage", reason: "A field of an item of a merged list changes.", manifest: safe("image: b"),
			want: []string{"0 to create, 1 to change, 0 to delete", "= key Secret shops/safe-*", `~ server Deployment shops/safe-* - spec.template.spec.containers[0].image: "a" + spec.template.spec.containers[0].image: "b"`},
		},
		{
			name: "Lean", reason: "What the Composition sets no more is removed from a nested composite, and reaches its objects.", manifest: shop("{title: Books, pods: 7, crossplane: {compositionRef: {name: lean}}}"), apply: true,
			want: []string{
				"0 to create, 2 to change, 3 to delete", "~ quota Quota shops/books-* - spec.pods: 7", `~ quota/limit ResourceQuota shops/books-* - spec.hard.pods: "7" + spec.hard.pods: "10"`,
				"- website Website shops/books-*", "- website/pages ConfigMap shops/books-*", "- website/routes ConfigMap shops/books-*",
			},
		},
		{
			name: "First", reason: "A composite may select its Composition.", manifest: site("websites.shops.example.org"), apply: true,
			want: []string{"2 to create, 0 to change, 0 to delete", "+ pages ConfigMap shops/docs-" + created, "+ routes ConfigMap shops/docs-" + created},
		},
		{
			name: "Switched", reason: "Another Composition deletes what it does not have, and removes fields that it does not set.", manifest: site("fewer"), apply: true,
			want: []string{
				"0 to create, 1 to change, 1 to delete", `~ routes ConfigMap shops/docs-* - data.first: "/index" + data.second: "/second"`, "- pages ConfigMap shops/docs-*",
			},
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got, err := p.plan(t.Context(), tc.manifest)
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, anonymous(summary(got))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			again, err := p.plan(t.Context(), tc.manifest)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(text(t, got), text(t, again)); diff != "" {
				t.Errorf("two plans differ:\n%s", diff)
			}
			if !tc.apply {
				return
			}
			s.Apply(t, tc.manifest)
			core.Await(t, "a plan without changes", func() error {
				after, err := p.plan(t.Context(), tc.manifest)
				if err == nil && (after.Counts.Create+after.Counts.Change+after.Counts.Delete > 0 || len(after.Objects) != len(got.Objects)-got.Counts.Delete) {
					err = fmt.Errorf("still to do: %v", summary(after))
				}
				return err
			})
		})
	}

	t.Run("Composite", func(t *testing.T) {
		got, err := p.plan(t.Context(), shop("{title: Books, crossplane: {compositionRef: {name: lean}}}"))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"- spec.pods: 7", "+ spec.pods: 10"}
		if diff := cmp.Diff(want, got.Composite.Diff()); diff != "" || got.Composite.Action != plan.Change {
			t.Errorf("a field that the manifest leaves out: %s (-want +got):\n%s", got.Composite.Action, diff)
		}
		if got, err = p.plan(t.Context(), safe("")); err != nil || got.Composite.Action != plan.Unchanged {
			t.Errorf("a composite that stays is %v: %v", got.Composite, err)
		}
		if unknown := fmt.Sprint(got.Unknown); !strings.Contains(unknown, "its data is neither compared nor passed to functions") {
			t.Errorf("unknown is %s, want the data of the Secret", unknown)
		}
		if got, err = p.plan(t.Context(), safe("image: null")); err != nil || len(got.Composite.Fields) != 0 {
			t.Errorf("a field with a default is %v: %v", got.Composite.Fields, err)
		}
	})

	t.Run("Paused", func(t *testing.T) {
		got, err := p.plan(t.Context(), strings.Replace(shop("{title: Books, pods: 9}"), "name: books", `name: books, annotations: {crossplane.io/paused: "true"}`, 1))
		if err != nil || len(got.Objects) > 0 || len(got.Results) != 1 || !strings.Contains(got.Results[0].Message, "is paused") {
			t.Errorf("plan of a paused composite is %+v, want a warning: %v", got, err)
		}
	})
}

// site returns the manifest of a Website with a Composition.
func site(composition string) string {
	return "apiVersion: shops.example.org/v1\nkind: Website\nmetadata: {name: docs, namespace: shops}\nspec: {title: Handbook, crossplane: {compositionRef: {name: " + composition + "}}}\n"
}

// safe returns the manifest of a Vault.
func safe(spec string) string {
	return "apiVersion: shops.example.org/v1\nkind: Vault\nmetadata: {name: safe, namespace: shops}\nspec: {" + spec + "}\n"
}

// vault is an XRD whose Composition composes objects that the API server stores in another
// form than they are applied.
const vault = `---
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: vaults.shops.example.org}
spec:
  group: shops.example.org
  scope: Namespaced
  names: {kind: Vault, plural: vaults}
  versions:
    - name: v1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          type: object
          properties: {spec: {type: object, properties: {image: {type: string, default: a}}}}
---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: vaults}
spec:
  compositeTypeRef: {apiVersion: shops.example.org/v1, kind: Vault}
  mode: Pipeline
  pipeline:
    - step: compose
      functionRef: {name: function-patch-and-transform}
      input:
        apiVersion: pt.fn.crossplane.io/v1beta1
        kind: Resources
        resources:
          - name: key
            base: {apiVersion: v1, kind: Secret, type: Opaque, stringData: {key: hunter}}
            readinessChecks: [{type: None}]
          - name: server
            base:
              apiVersion: apps/v1
              kind: Deployment
              spec:
                replicas: 0
                selector: {matchLabels: {app: vault}}
                template:
                  metadata: {labels: {app: vault}}
                  spec:
                    tolerations: []
                    containers:
                      - name: main
                        env: [{name: A, value: one}, {name: B, value: two}]
                        ports: [{containerPort: 80}, {containerPort: 81}]
                        resources: {limits: {cpu: 1000m, memory: 1024Mi}}
            patches:
              - {type: FromCompositeFieldPath, fromFieldPath: spec.image, toFieldPath: "spec.template.spec.containers[0].image"}
            readinessChecks: [{type: None}]
`

// lean is the Composition of shops without a website, and with the default quota.
const lean = `---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: lean}
spec:
  compositeTypeRef: {apiVersion: shops.example.org/v1, kind: Shop}
  mode: Pipeline
  pipeline:
    - step: compose
      functionRef: {name: function-patch-and-transform}
      input:
        apiVersion: pt.fn.crossplane.io/v1beta1
        kind: Resources
        resources:
          - name: quota
            base: {apiVersion: shops.example.org/v1, kind: Quota, spec: {}}
            readinessChecks: [{type: None}]
`

// fewer is the Composition of websites without pages, and with another field.
const fewer = `---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: fewer}
spec:
  compositeTypeRef: {apiVersion: shops.example.org/v1, kind: Website}
  mode: Pipeline
  pipeline:
    - step: compose
      functionRef: {name: function-patch-and-transform}
      input:
        apiVersion: pt.fn.crossplane.io/v1beta1
        kind: Resources
        resources:
          - name: routes
            base: {apiVersion: v1, kind: ConfigMap, data: {second: /second}}
            readinessChecks: [{type: None}]
`

// legacy is an XRD with claims, and its Composition.
const legacy = `---
apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: xstores.legacy.example.org}
spec:
  group: legacy.example.org
  names: {kind: XStore, plural: xstores}
  claimNames: {kind: Store, plural: stores}
  versions:
    - name: v1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          type: object
          properties: {spec: {type: object, properties: {size: {type: integer}}}}
---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: stores}
spec:
  compositeTypeRef: {apiVersion: legacy.example.org/v1, kind: XStore}
  mode: Pipeline
  pipeline:
    - step: compose
      functionRef: {name: function-patch-and-transform}
      input:
        apiVersion: pt.fn.crossplane.io/v1beta1
        kind: Resources
        resources:
          - name: map
            base: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: shops}}
            patches:
              - type: FromCompositeFieldPath
                fromFieldPath: spec.size
                toFieldPath: data.size
                transforms: [{type: convert, convert: {toType: string}}]
            readinessChecks: [{type: None}]
`

// shop returns the manifest of a Shop with a spec.
func shop(spec string) string {
	return "apiVersion: shops.example.org/v1\nkind: Shop\nmetadata: {name: books, namespace: shops}\nspec: " + spec + "\n"
}

// anonymous replaces the ends of generated names.
func anonymous(lines []string) []string {
	for i := range lines {
		lines[i] = suffixes.ReplaceAllString(lines[i], "$1-*")
	}
	return lines
}

var suffixes = regexp.MustCompile(`(books|music|docs|safe)(-[a-z0-9]{5})?-[0-9a-f]{12}`)

func text(t *testing.T, p *plan.Plan) string {
	t.Helper()
	data, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestPlanCommand runs composer-ingestor plan in all formats.
func TestPlanCommand(t *testing.T) {
	s := apiserver.Start(t, apiserver.Options{CRDs: "none"})
	core := crossplane.Start(t, s)
	core.Define(t, crossplane.Definitions)
	s.Apply(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: shops}\n")
	program, err := core.Program()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, core: core, kubeconfig: s.Kubeconfig}
	manifest := filepath.Join(t.TempDir(), "shop.yaml")
	if err := os.WriteFile(manifest, []byte(shop("{title: Books, pods: 5}")), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Apply(t, strings.Replace(shop("{title: Music, pods: 1}"), "name: books", "name: music", 1))
	cases := map[string]struct {
		reason string
		args   []string
		code   int
		says   []string
	}{
		"Live":     {"An object that exists is planned as it is.", []string{"shop/music", "-n", "shops"}, 0, []string{"Shop shops/music (unchanged)\n"}},
		"Text":     {"Each object has a line, and the counts are last.", []string{manifest}, 0, []string{"Shop shops/books (create)\n", "+ Quota shops/books-(generated) quota\n      spec:\n        pods: 5\n", "  + ResourceQuota", "\n5 to create, 0 to change, 0 to delete\n"}},
		"JSON":     {"JSON has the plan.", []string{manifest, "-o", "json"}, 0, []string{`"create": 5`}},
		"YAML":     {"So has YAML.", []string{manifest, "-o", "yaml"}, 0, []string{"create: 5\n"}},
		"Markdown": {"Markdown is for change requests.", []string{manifest, "-o", "markdown"}, 0, []string{"**Plan: 5 to create, 0 to change, 0 to delete**"}},
		"Missing":  {"An object that does not exist is not found.", []string{"shop/none", "-n", "shops"}, app.ExitNothing, []string{"cannot find Shop none"}},
		"Function": {"A function that cannot be reached is named.", []string{manifest, "--function", crossplane.Function + "=127.0.0.1:1"}, app.ExitFailed, []string{"cannot connect to function " + crossplane.Function, "or pass --function NAME=HOST:PORT"}},
		"Program":  {"A program that does not exist has a hint.", []string{manifest, "--crossplane", "/none/crossplane"}, app.ExitUsage, []string{"cannot start /none/crossplane", "--crossplane"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"plan"}, tc.args...)
			if !slices.Contains(args, "--crossplane") {
				args = append(args, "--crossplane", program)
			}
			out, code := w.run(t, args...)
			if code != tc.code {
				t.Errorf("%s: exit code is %d, want %d:\n%s", tc.reason, code, tc.code, out)
			}
			for _, want := range tc.says {
				if !strings.Contains(out, want) {
					t.Errorf("%s: output lacks %q:\n%s", tc.reason, want, out)
				}
			}
		})
	}
}
