package service_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/test/apiserver"
)

// TestBreakingChangeVersions stops serving a version that is not the preferred one, and narrows
// it: only the resources that are written in it are affected, although the API server returns
// all of them in the preferred version.
func TestBreakingChangeVersions(t *testing.T) {
	t.Parallel()
	c := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: []string{twoVersions}})
	for _, o := range []struct{ version, manager, name string }{
		{"v1", "kubectl", "old"}, {"v2", "kubectl", "new"}, {"v1", "kubectl", "moved"}, {"v2", "kubectl", "moved"},
	} {
		applied(t, c, o.version, o.manager, o.name)
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	before := write("old.yaml", twoVersions)
	cases := map[string]struct {
		reason   string
		old, new string
		want     string
		names    []string
	}{
		"Unserved":  {"Its manifests are refused.", "    - name: v1\n      served: true", "    - name: v1\n      served: false", "v1: version no longer served: 1 of 3 resources in 1 cluster would no longer be served", []string{"old"}},
		"Preferred": {"Those of the other version are served.", "    - name: v2\n      served: true", "    - name: v2\n      served: false", "v2: version no longer served: 2 of 3 resources in 1 cluster would no longer be served", []string{"moved", "new"}},
		"Narrowed":  {"Its schema applies.", "size: {type: string}", "size: {type: string, maxLength: 3}", "v1: spec.size: maxLength changed from none to 3: 1 of 3 resources in 1 cluster would be refused", []string{"old"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(twoVersions, tc.old) {
				t.Fatalf("the definition lacks %q", tc.old)
			}
			after := write(name+".yaml", strings.Replace(twoVersions, tc.old, tc.new, 1))
			code, out, notes := diffed(t, "", before, after, "--kubeconfig", c.Kubeconfig)
			if code != app.ExitInvalid || !strings.Contains(out, tc.want) {
				t.Errorf("%s\nexit code %d, want %q in\n%s%s", tc.reason, code, tc.want, out, notes)
			}
			for _, resource := range []string{"old", "new", "moved"} {
				named := strings.Contains(out, "  Xalpha  default  "+resource)
				want := strings.Contains(" "+strings.Join(tc.names, " ")+" ", " "+resource+" ")
				if named != want {
					t.Errorf("%s\nresource %s is named: %t, want %t\n%s", tc.reason, resource, named, want, out)
				}
			}
		})
	}
}
