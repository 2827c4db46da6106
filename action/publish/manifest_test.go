package publish

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"example.dev/ingestor/document/parser"
)

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

func TestFile(t *testing.T) {
	long := strings.Repeat("n", 253)
	cases := map[string]struct {
		reason                string
		kind, namespace, name string
		want                  string
	}{
		"Namespaced": {"kind, namespace, name", "Database", "shop", "orders", "database/shop/orders.yaml"},
		"Cluster":    {"The path of a cluster-scoped object has no namespace folder.", "XCluster", "", "live.eu", "xcluster/live.eu.yaml"},
		"Colon":      {"Characters that file systems do not allow are escaped.", "ClusterRole", "", "system:node", "clusterrole/system%3Anode.yaml"},
		"Dots":       {"A path traversal is escaped.", "..", "..", "../../x", "%2E./%2E./%2E.%2F..%2Fx.yaml"},
		"Git":        {"Names that Git reserves are escaped.", ".git", "git~1", ".git", "%2Egit/git%7E1/%2Egit.yaml"},
		"Percent":    {"Escapes are unambiguous.", "A", "", "a%2Fb", "a/a%252Fb.yaml"},
		"Long":       {"A long name is shortened and gets a hash.", "A", "", long, "a/" + long[:180] + "-" + hashOf(long) + ".yaml"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := File(tc.kind, tc.namespace, tc.name)
			if got != tc.want || !filepath.IsLocal(got) || path.Clean(got) != got || len(path.Base(got)) > 255 {
				t.Errorf("%s\n%q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestDocuments(t *testing.T) {
	one := "{apiVersion: v1, kind: A, metadata: {name: NAME}}"
	named := func(name string) string { return strings.Replace(one, "NAME", name, 1) }
	cases := map[string]struct {
		reason string
		input  string
		want   string
		err    string
	}{
		"Object": {"one", named("a"), "a/a.yaml", ""},
		"List":   {"several", "[" + named("a") + "," + named("b") + "]", "a/a.yaml a/b.yaml", ""},
		"Kind":   {"A List object is split.", "{kind: List, items: [" + named("a") + "]}", "a/a.yaml", ""},
		"Text":   {"A manifest can be text with several documents.", `"` + named("a") + `\n---\n` + named("b") + `"`, "a/a.yaml a/b.yaml", ""},
		"Null":   {"none", "null", "", ""},
		"Words":  {"Plain text is refused.", "'hello'", "", "manifest is not an object"},
		"Broken": {"no YAML", "'{a: ['", "", "cannot read the manifest"},
		"Twice":  {"Two objects for the same file are refused.", "[" + named("a") + "," + named("a") + "]", "", `two resources for file "a/a.yaml"`},
		"NoName": {"An object without a name is refused.", "{apiVersion: v1, kind: A, metadata: {generateName: x}}", "", "manifest has no metadata.name"},
		"NoKind": {"An object without a kind is refused.", "{apiVersion: v1, metadata: {name: x}}", "", "manifest has no kind"},
		"Number": {"A numeric name is refused.", "{apiVersion: v1, kind: A, metadata: {name: 3}}", "", "manifest has no metadata.name"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in, errs := parser.DecodeBytes([]byte("- " + tc.input))
			if len(errs) > 0 {
				t.Fatal(errs[0])
			}
			all, err := documents(in[0].Items[0])
			var files []string
			for _, d := range all {
				files = append(files, d.file)
			}
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) || err == nil && strings.Join(files, " ") != tc.want {
				t.Errorf("%s\n%v, %v", tc.reason, files, err)
			}
		})
	}
}

// TestBranch checks that branch names are valid in Git.
func TestBranch(t *testing.T) {
	p := publisher{Options{Prefix: DefaultPrefix}}
	for title, want := range map[string]string{
		"Add Database orders": "portal/add-database-orders-", "..": "portal/", "Ünïcode/..//x.lock~^:?*[": "portal/n-code-x-lock-",
		strings.Repeat("long ", 50): "portal/long-long-long-long-long-long-long-long-long-long-",
	} {
		got := p.branch(&input{title: title}, "k")
		if !strings.HasPrefix(got, want) || len(got) != len(want)+10 {
			t.Errorf("%q: %q", title, got)
		}
	}
}

// TestActions checks the descriptions of the actions against their inputs.
func TestActions(t *testing.T) {
	for _, a := range Actions(Options{}) {
		for _, e := range a.Examples {
			docs, errs := parser.DecodeBytes([]byte(e.Example))
			if len(errs) > 0 {
				t.Fatal(errs[0])
			}
			step := docs[0].Get("steps").Items[0]
			if step.Get("action").Str() != a.ID {
				t.Errorf("%s: example uses action %s", a.ID, step.Get("action").Str())
			}
			for _, f := range step.Get("input").Fields {
				if !a.Input.Get("properties").Has(f.Key) {
					t.Errorf("%s: example has field %s, which the schema does not have", a.ID, f.Key)
				}
			}
		}
	}
}
