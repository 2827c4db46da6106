package composer

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/composer/status"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/xrd/composed"
)

const shopObjects = `---
{apiVersion: v1, kind: Namespace, metadata: {name: team-a}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: invoices-config, namespace: team-a}}
---
apiVersion: rds.example.org/v1
kind: Instance
metadata: {name: invoices-x7k, annotations: {crossplane.io/external-name: db-7}}
status: {conditions: [{type: Ready, status: "False", reason: Creating}, {type: Synced, status: "False", reason: ReconcileError, message: "cannot create: DBSubnetGroup not found"}]}
---
apiVersion: platform.example.org/v1
kind: Shop
metadata: {name: invoices, namespace: team-a}
spec:
  crossplane:
    resourceRefs:
      - {apiVersion: rds.example.org/v1, kind: Instance, name: invoices-x7k}
      - {apiVersion: v1, kind: ConfigMap, name: invoices-config}
status: {conditions: [{type: Ready, status: "False", reason: Creating, message: "Unready resources: db"}, {type: Synced, status: "True"}]}
`

func TestStatus(t *testing.T) {
	s := apiserver.Start(t, apiserver.Options{CRDs: "none"})
	s.Apply(t, apiserver.CRD("platform.example.org", "Shop", "shops", "Namespaced"), apiserver.CRD("rds.example.org", "Instance", "instances", "Cluster"))
	s.Apply(t, shopObjects)
	ages := regexp.MustCompile(` \d+s`)
	spaces := regexp.MustCompile(` +`)
	tests := map[string]struct {
		reason string
		args   []string
		code   int
		want   string
	}{
		"NotReady": {
			reason: "The first line says why, and the tree shows where.",
			args:   []string{"shop/invoices", "-n", "team-a"}, code: app.ExitInvalid,
			want: `not ready: Instance invoices-x7k: cannot create: DBSubnetGroup not found

OBJECT READY SYNCED AGE EXTERNAL NAME STATUS
Shop invoices False True 0s Creating: Unready resources: db
├─ ConfigMap invoices-config - - 0s
└─ Instance invoices-x7k False False 0s db-7 ReconcileError: cannot create: DBSubnetGroup not found
`,
		},
		"Missing": {
			reason: "An object that does not exist is named with its place.",
			args:   []string{"shops.platform.example.org/other", "-n", "team-a"}, code: app.ExitNothing,
			want: "composer-ingestor: cannot find Shop other in namespace team-a of cluster ",
		},
		"Kind": {
			reason: "A kind that the cluster does not serve is an error.",
			args:   []string{"shopp/invoices"}, code: app.ExitNothing,
			want: "find kind shopp: the cluster does not serve it",
		},
		"Arguments": {
			reason: "Kind and name are needed.",
			args:   []string{"invoices"}, code: app.ExitUsage,
			want: `cannot read the object "invoices"`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out, notes, code := run(t, append([]string{"status", "--kubeconfig", s.Kubeconfig, "--quiet"}, tc.args...)...)
			// Ages differ, and with them the width of columns.
			got := spaces.ReplaceAllString(ages.ReplaceAllString(out, " 0s"), " ")
			if code != tc.code || tc.code != app.ExitInvalid && !strings.Contains(notes, tc.want) {
				t.Errorf("%s Exit code is %d, want %d:\n%s%s", tc.reason, code, tc.code, out, notes)
			}
			if diff := cmp.Diff(tc.want, got); tc.code == app.ExitInvalid && diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	t.Run("JSON", func(t *testing.T) {
		out, _, _ := run(t, "status", "--kubeconfig", s.Kubeconfig, "--quiet", "shop/invoices", "-n", "team-a", "-o", "json")
		var got struct{ Clusters []status.Result }
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatal(err)
		}
		if r := got.Clusters[0]; r.Ready || r.Reason.Object.Name != "invoices-x7k" || len(r.Tree.Children) != 2 || r.Tree.Readiness != composed.NotReady {
			t.Errorf("got %s", out)
		}
	})
	t.Run("Watch", func(t *testing.T) {
		// It becomes ready as soon as the first result is shown.
		out := &after{do: func() {
			s.Apply(t, strings.NewReplacer(`status: "False"`, `status: "True"`, ", message: \"Unready resources: db\"", "").Replace(shopObjects))
		}}
		env := &app.Env{
			Args:   []string{"status", "--kubeconfig", s.Kubeconfig, "--quiet", "shop/invoices", "-n", "team-a", "-w", "--interval", "100ms"},
			Stdout: out, Stderr: out, Now: time.Now, Getenv: func(string) string { return "" },
		}
		if code := app.Run(t.Context(), Name, env, Run); code != 0 || !strings.HasPrefix(out.String(), "not ready: ") || !strings.Contains(out.String(), "\nready\n") {
			t.Errorf("exit code is %d:\n%s", code, out)
		}
	})
}

// after is a buffer that does something after the first write.
type after struct {
	bytes.Buffer
	do func()
}

func (a *after) Write(p []byte) (int, error) {
	if a.do != nil {
		a.do()
		a.do = nil
	}
	return a.Buffer.Write(p)
}
