package portal_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/process"
)

// TestFiveMinutes follows docs/five-minutes.md in an empty folder, against a cluster whose XRDs
// have no label: it runs every command of the page, and checks that the portals that the
// page starts serve the forms. Only the port differs, because 7007 may be in use.
func TestFiveMinutes(t *testing.T) {
	s := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: withoutLabels(t)})
	r := newReader(t, s.Kubeconfig)
	const bucket = "buckets.storage.example.org"
	var all []string
	served := []func(caller){
		func(c caller) {
			c.until("the forms of all XRDs are served", func() bool { all = c.forms(); return len(all) >= 5 })
			if !slices.Contains(all, bucket) {
				t.Errorf("forms of the demo are %v, want %s among them", all, bucket)
			}
			c.want(call{
				method: "POST", path: scaffolding + "/tasks", token: c.guest(),
				body: `{"templateRef": "template:default/` + bucket + `", "values": {"name": "mine", "namespace": "default", "region": "eu-west-1"}}`,
			}, http.StatusForbidden, nil)
		},
		func(c caller) {
			c.until("only the labelled XRD has a form", func() bool { return cmp.Equal(c.forms(), []string{bucket}) })
			var form struct {
				Steps []struct {
					Schema struct{ Properties map[string]any }
				}
			}
			c.want(call{path: scaffolding + "/templates/default/template/" + bucket + "/parameter-schema", token: c.guest()}, http.StatusOK, &form)
			if len(form.Steps) < 2 || form.Steps[1].Schema.Properties["region"] == nil {
				t.Errorf("form is %+v, want a field for the region", form)
			}
		},
	}
	for _, line := range commands(t, "five-minutes.md") {
		switch {
		case strings.HasPrefix(line, "export "):
			r.exports += line + "\n"
		case line == "portal-backend" || strings.HasPrefix(line, "portal-backend demo"):
			if len(served) == 0 {
				t.Fatalf("page starts a portal that this test does not know: %s", line)
			}
			r.serve(line, served[0])
			served = served[1:]
		default:
			r.run(line)
		}
	}
	if len(served) > 0 {
		t.Errorf("page starts %d portals fewer than this test expects", len(served))
	}
}

// commands returns the commands in the sh blocks of a page.
func commands(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(shipped("docs/" + page))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		whole := strings.ReplaceAll(block[1], "\\\n", "")
		lines = append(lines, strings.Split(strings.TrimSpace(whole), "\n")...)
	}
	if len(lines) == 0 {
		t.Fatalf("%s has no commands", page)
	}
	return lines
}

// withoutLabels returns the examples with the vocabulary of Crossplane, without the labels
// that select XRDs.
func withoutLabels(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(shipped("examples/*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	label := regexp.MustCompile(`(?m)^ +(openportal\.dev/ingest|terasky\.backstage\.io/generate-form): .*\n`)
	var out []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "apiextensions.composer.io") {
			out = append(out, label.ReplaceAllString(string(text), ""))
		}
	}
	return out
}

// reader is a user at a terminal.
type reader struct {
	t   *testing.T
	dir string
	env []string
	// exports are the export commands so far.
	exports string
	port    int
}

// newReader returns a reader in a folder with nothing in it but the archive of a release. Of
// the programs, only kubectl is in PATH.
func newReader(t *testing.T, kubeconfig string) *reader {
	t.Helper()
	program, err := build()
	if err != nil {
		t.Fatal(err)
	}
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		if kubectl, err = apiserver.Kubectl(); err != nil {
			t.Fatal(err)
		}
	}
	tools := t.TempDir()
	if err := os.Symlink(kubectl, filepath.Join(tools, "kubectl")); err != nil {
		t.Fatal(err)
	}
	port, err := process.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, dir: t.TempDir(), port: port}
	r.env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "HOME="+t.TempDir(), "PATH="+tools+":"+os.Getenv("PATH"))
	// tools/release tests that the archive of a release has the programs in such a folder.
	const archive = "ingestor_1.2.3_linux_amd64"
	pack := exec.Command("tar", "-czf", filepath.Join(r.dir, archive+".tar.gz"), "--transform", "s,^,"+archive+"/,",
		"-C", filepath.Dir(program), "portal-backend", "composer-ingestor")
	if out, err := pack.CombinedOutput(); err != nil {
		t.Fatalf("cannot pack the programs: %v\n%s", err, out)
	}
	return r
}

func (r *reader) command(line string) *exec.Cmd {
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", r.exports+line)
	cmd.Dir, cmd.Env = r.dir, r.env
	return cmd
}

// run runs a command that must succeed.
func (r *reader) run(line string) {
	r.t.Helper()
	out, err := r.command(line).CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	r.t.Logf("$ %s\n%s", line, out)
}

// serve starts a portal, checks it, and stops it as Ctrl-C does.
func (r *reader) serve(line string, check func(caller)) {
	r.t.Helper()
	if strings.Contains(line, " demo") {
		line += fmt.Sprintf(" --listen localhost:%d", r.port)
	}
	var log process.Log
	cmd := r.command("exec " + line)
	cmd.Stdout, cmd.Stderr = &log, &log
	p, err := process.Start(cmd)
	if err != nil {
		r.t.Fatal(err)
	}
	defer p.Kill()
	defer func() {
		if r.t.Failed() {
			r.t.Logf("$ %s\n%s", line, log.Tail())
		}
	}()
	c := newCaller(r.t, fmt.Sprintf("http://localhost:%d", r.port))
	c.ready()
	check(c)
	if err := p.Stop(patience, syscall.SIGINT); err != nil {
		r.t.Errorf("%s ended with %v after Ctrl-C", line, err)
	}
}

// forms returns the names of the Templates whose form a guest gets.
func (c caller) forms() []string {
	c.t.Helper()
	guest := c.guest()
	var found []struct {
		Metadata struct{ Name string }
	}
	c.want(call{path: "/api/catalog/entities?filter=kind=template", token: guest}, http.StatusOK, &found)
	var names []string
	for _, e := range found {
		form := scaffolding + "/templates/default/template/" + e.Metadata.Name + "/parameter-schema"
		if c.send(call{path: form, token: guest}).status == http.StatusOK {
			names = append(names, e.Metadata.Name)
		}
	}
	return names
}
