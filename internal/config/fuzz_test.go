package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/secret"
)

// hush is what no message may show.
const hush = "hUsH-s3cr3t"

// fuzzSeeds are configurations, good and bad, that use everything.
func fuzzSeeds(f *testing.F) []string {
	f.Helper()
	example, err := os.ReadFile(filepath.Join("..", "..", "examples", "config", "app-config.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	seeds := []string{portal, portalURL, everything, upstream(everything), string(example), "", "[]", "{", "a: &a [*a]", "$env: X", "words: ${X}"}
	// Every key with a secret where it does not belong.
	for _, k := range Keys() {
		parts := strings.Split(k.Path, ".")
		for _, v := range []string{"${X}", "{ $env: X }", "{ $file: x }", "{ $file: '${X}' }", "[ '${X}' ]", "{ a: '${X}' }", "'https://me:${X}@host/?x=${X}#${X}'", "*" + hush, "'${X' "} {
			seeds = append(seeds, nested(parts, v))
		}
	}
	return seeds
}

// nested writes a value under a path of keys.
func nested(path []string, value string) string {
	if len(path) == 0 {
		return value
	}
	if key, isList := strings.CutSuffix(path[0], "[]"); isList {
		return fmt.Sprintf("{ %s: [ %s ] }", key, nested(path[1:], value))
	}
	return fmt.Sprintf("{ %s: %s }", path[0], nested(path[1:], value))
}

// FuzzLoad reads anything without a panic, gives every finding a rule and a
// place, and shows nothing of what variables and files hold. What is right is
// right for the schema too.
func FuzzLoad(f *testing.F) {
	for _, s := range fuzzSeeds(f) {
		f.Add(s)
	}
	schema := compiled(f)
	f.Fuzz(func(t *testing.T, text string) {
		lookup := func(name string) (string, bool) { return hush, len(name)%2 == 1 }
		read := func(path string) ([]byte, error) {
			if path == "a.yaml" {
				return []byte(text), nil
			}
			if strings.Contains(path, hush) || len(path)%2 == 0 {
				return nil, &os.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
			}
			return []byte(hush + "\n"), nil
		}
		c, fs := Load([]string{"a.yaml"}, Options{Lookup: lookup, ReadFile: read})
		for _, x := range fs {
			if x.Rule == "" || x.Message == "" || x.File == "" && x.Object == "" {
				t.Errorf("a finding says too little: %+v", x)
			}
			if !strings.Contains(strings.ReplaceAll(text, "*"+hush, ""), hush) && strings.Contains(fmt.Sprintf("%+v", x), hush) {
				t.Errorf("a finding shows a secret: %+v", x)
			}
		}
		if finding.Count(fs, finding.Error) > 0 {
			return
		}
		for _, cluster := range c.Clusters() {
			if cluster.Name == "" || cluster.Kubeconfig == "" && cluster.URL == "" {
				t.Errorf("no mistake, but a cluster is %+v", cluster)
			}
			if s := fmt.Sprintf("%+v", cluster); cluster.Token != "" && strings.Contains(s, "Token:"+hush) {
				t.Errorf("a cluster shows its token: %s", s)
			}
		}
		if docs, _ := tree.DecodeBytes([]byte(text)); len(docs) == 1 {
			if err := judge(t, schema, docs[0]); err != nil {
				t.Errorf("no mistake, but the schema refuses it: %v\n%s", err, text)
			}
		}
		for _, e := range c.Backend.ExternalAccess {
			if e.Subject == "" || secret.Weakness(e.Token.Reveal()) != "" {
				t.Errorf("no mistake, but a service is %+v with a token of %d", e, len(e.Token))
			}
		}
		if d := c.Backend.Database; (d.Path == "") == (d.URL == "") {
			t.Errorf("no mistake, but a database is %+v", d)
		}
		// What is printed can be read again.
		printed := tree.AppendYAML(nil, c.Effective())
		if docs, errs := tree.DecodeBytes(printed); len(errs) > 0 || len(docs) != 1 {
			t.Errorf("the effective configuration is no document: %v\n%s", errs, printed)
		}
	})
}
