package e2e

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/composer"
	"example.dev/ingestor/internal/cli/extract"
	"example.dev/ingestor/internal/cli/ingestor"
	"example.dev/ingestor/internal/cli/provide"
	"example.dev/ingestor/internal/cli/transform"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/command"
)

var update = flag.Bool("update", false, "rewrite what the scripts compare with cmp")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		ingestor.Name:  func() { app.Main(ingestor.Name, ingestor.Run) },
		composer.Name:  func() { app.Main(composer.Name, composer.Run) },
		extract.Name:   func() { app.Main(extract.Name, extract.Run) },
		provide.Name:   func() { app.Main(provide.Name, provide.Run) },
		transform.Name: func() { app.Main(transform.Name, transform.Run) },
	})
}

// TestScripts runs composer-ingestor, and xrd-extract alone and in a pipe,
// against two real clusters, one under each vocabulary, and one that is
// unreachable. Scripts find them in app-config.yaml as up, own and gone, and their
// kubeconfigs in UP and OWN. The account of the configuration has the
// permissions of deploy/rbac.yaml; that of POWERLESS has none.
func TestScripts(t *testing.T) {
	t.Parallel()
	examples := filepath.Join("..", "..", "examples")
	var upstream, own []string
	all, err := filepath.Glob(filepath.Join(examples, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		path = unlabelled(t, path, string(data))
		if strings.Contains(string(data), "apiextensions.composer.io") {
			own = append(own, path)
			continue
		}
		upstream = append(upstream, path)
	}
	role := filepath.Join("..", "..", "deploy", "rbac.yaml")
	env := map[string]string{"GONE_TOKEN": "token-of-a-stopped-cluster"}
	for name, opts := range map[string]apiserver.Options{
		"UP":  {CRDs: "crossplane", XRCRDs: true, Apply: append(upstream, role)},
		"OWN": {CRDs: "composer", XRCRDs: true, Apply: append(own, role)},
	} {
		s := apiserver.Start(t, opts)
		env[name], env[name+"_URL"], env[name+"_DIR"] = s.Kubeconfig, s.URL, s.Dir
		env[name+"_TOKEN"] = s.Token(t, "composer-ingestor", "composer-ingestor")
		env[name+"_POWERLESS"] = s.Token(t, "default", "powerless")
	}
	t.Run("Scripts", func(t *testing.T) {
		testscript.Run(t, testscript.Params{
			Dir:                 "testdata",
			UpdateScripts:       *update,
			RequireExplicitExec: true,
			RequireUniqueNames:  true,
			Setup:               func(e *testscript.Env) error { return setup(e, env) },
			Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
				"composer": exits(composer.Name),
				"extract":  exits(extract.Name),
				"pipe":     pipe,
				"backend":  command.Backend,
				"catalog":  command.Catalog,
				"secret":   secret,
			},
		})
	})
}

// taken are the examples that keep the selection label; the others test that
// unselected definitions are skipped.
var taken = []string{"cache.yaml", "database.yaml", "kubernetes.yaml"}

// unlabelled returns the path of an example, or of a copy without the label.
func unlabelled(t *testing.T, path, text string) string {
	t.Helper()
	name := filepath.Base(path)
	if slices.Contains(taken, name) {
		return path
	}
	const label = "    openportal.dev/ingest: \"true\"\n"
	text = strings.Replace(text, "  labels:\n"+label+"spec:", "spec:", 1)
	text = strings.Replace(text, "  labels:\n"+label+"  annotations:", "  annotations:", 1)
	text = strings.Replace(text, label, "", 1)
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// setup provides a script with the clusters.
func setup(e *testscript.Env, env map[string]string) error {
	config := ""
	for _, name := range []string{"UP", "OWN"} {
		e.Setenv(name, env[name])
		for _, more := range []string{"_URL", "_TOKEN", "_POWERLESS"} {
			e.Setenv(name+more, env[name+more])
		}
		e.Setenv(name+"_CA", filepath.Join(env[name+"_DIR"], "pki", "ca.crt"))
		lower := strings.ToLower(name)
		config += "    - name: " + lower + "\n      url: " + env[name+"_URL"] + "\n      authProvider: serviceAccount\n" +
			"      serviceAccountToken: ${" + name + "_TOKEN}\n      caFile: ${" + name + "_CA}\n"
	}
	e.Setenv("GONE_TOKEN", env["GONE_TOKEN"])
	config = "composerIngestor:\n  clusters:\n" + config +
		"    - name: gone\n      url: https://127.0.0.1:1\n      authProvider: token\n      token: ${GONE_TOKEN}\n"
	return os.WriteFile(filepath.Join(e.WorkDir, "app-config.yaml"), []byte(config), 0o600)
}

// exits returns a command that runs a program and checks its exit code:
//
//	composer 5 discover --config app-config.yaml --cluster gone
//	extract 5 --config app-config.yaml --cluster gone
//
// The output must not contain credentials.
func exits(program string) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 1 {
			ts.Fatalf("usage: composer|extract code [args...]")
		}
		want, err := strconv.Atoi(args[0])
		ts.Check(err)
		got := 0
		err = ts.Exec(program, args[1:]...)
		if e, ok := errors.AsType[*exec.ExitError](err); ok {
			got = e.ExitCode()
		} else {
			ts.Check(err)
		}
		if got != want {
			ts.Fatalf("exit code %d, want %d", got, want)
		}
		for _, stream := range []string{"stdout", "stderr"} {
			checkSecrets(ts, stream, ts.ReadFile(stream))
		}
		if strings.Contains(ts.ReadFile("stderr"), "internal error") {
			ts.Fatalf("command printed an internal error")
		}
	}
}

// pipe runs programs in a pipeline and checks their exit codes. The output must
// not contain credentials.
func pipe(ts *testscript.TestScript, neg bool, args []string) {
	command.Pipe(ts, neg, args)
	for _, stream := range []string{"stdout", "stderr"} {
		checkSecrets(ts, stream, ts.ReadFile(stream))
	}
}

// secret checks that files contain no credentials:
//
//	secret out/catalog-info.yaml
func secret(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: secret file...")
	}
	for _, name := range args {
		checkSecrets(ts, name, ts.ReadFile(name))
	}
}

func checkSecrets(ts *testscript.TestScript, where, text string) {
	for _, name := range []string{"UP_TOKEN", "OWN_TOKEN", "UP_POWERLESS", "OWN_POWERLESS", "GONE_TOKEN"} {
		token := ts.Getenv(name)
		// A token has three parts; none of them may leak.
		for part := range strings.SplitSeq(token, ".") {
			if len(part) > 12 && strings.Contains(text, part) {
				ts.Fatalf("%s contains %s", where, name)
			}
		}
	}
}
