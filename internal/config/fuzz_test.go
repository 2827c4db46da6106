package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/secret"
)

// hush is a secret that no message may contain.
const hush = "hUsH-s3cr3t"

// fuzzSeeds returns configurations, valid and invalid, that use all keys.
func fuzzSeeds(f *testing.F) []string {
	f.Helper()
	example, err := os.ReadFile(filepath.Join("..", "..", "examples", "config", "app-config.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	seeds := []string{portal, portalURL, everything, upstream(everything), string(example), "", "[]", "{", "a: &a [*a]", "$env: X", "words: ${X}"}
	// Every key gets a secret where it does not belong.
	for _, k := range Keys() {
		parts := strings.Split(k.Path, ".")
		for _, v := range []string{"${X}", "{ $env: X }", "{ $file: x }", "{ $file: '${X}' }", "[ '${X}' ]", "{ a: '${X}' }", "'https://me:${X}@host/?x=${X}#${X}'", "*" + hush, "'${X' "} {
			seeds = append(seeds, nested(parts, v))
		}
	}
	return seeds
}

// nested returns a value under a path of keys.
func nested(path []string, value string) string {
	if len(path) == 0 {
		return value
	}
	if key, isList := strings.CutSuffix(path[0], "[]"); isList {
		return fmt.Sprintf("{ %s: [ %s ] }", key, nested(path[1:], value))
	}
	return fmt.Sprintf("{ %s: %s }", path[0], nested(path[1:], value))
}

// FuzzLoad loads any text without a panic. Every finding has a rule and a
// position, and contains no value of variables and files. A valid configuration
// is also valid for the schema.
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
				t.Errorf("finding is incomplete: %+v", x)
			}
			if !strings.Contains(strings.ReplaceAll(text, "*"+hush, ""), hush) && strings.Contains(fmt.Sprintf("%+v", x), hush) {
				t.Errorf("finding contains a secret: %+v", x)
			}
		}
		if finding.Count(fs, finding.Error) > 0 {
			return
		}
		for _, cluster := range c.Clusters() {
			if cluster.Name == "" || cluster.Kubeconfig == "" && cluster.URL == "" {
				t.Errorf("valid configuration has the cluster %+v", cluster)
			}
			if s := fmt.Sprintf("%+v", cluster); cluster.Token != "" && strings.Contains(s, "Token:"+hush) {
				t.Errorf("cluster contains its token: %s", s)
			}
		}
		if docs, _ := parser.DecodeBytes([]byte(text)); len(docs) == 1 {
			if err := judge(t, schema, docs[0]); err != nil {
				t.Errorf("schema refuses a valid configuration: %v\n%s", err, text)
			}
		}
		for _, e := range c.Backend.ExternalAccess {
			if e.Subject == "" || secret.Weakness(e.Token.Reveal()) != "" {
				t.Errorf("valid configuration has the service %+v with a token of %d characters", e, len(e.Token))
			}
		}
		if d := c.Backend.Database; (d.Path == "") == (d.URL == "") {
			t.Errorf("valid configuration has the database %+v", d)
		}
		// The printed configuration can be loaded again.
		printed := tree.AppendYAML(nil, c.Effective())
		if docs, errs := parser.DecodeBytes(printed); len(errs) > 0 || len(docs) != 1 {
			t.Errorf("printed configuration is invalid: %v\n%s", errs, printed)
		}
	})
}
