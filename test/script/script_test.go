// Package script tests everything the programs promise on their command lines,
// with the scripts in testdata. Run the tests with -update to rewrite what a
// script compares with cmp, and review the difference.
package script

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/composer"
	"example.dev/ingestor/internal/cli/extract"
	"example.dev/ingestor/internal/cli/ingestor"
	"example.dev/ingestor/internal/cli/portal"
	"example.dev/ingestor/internal/cli/provide"
	"example.dev/ingestor/internal/cli/transform"
	"example.dev/ingestor/test/command"
)

var update = flag.Bool("update", false, "rewrite what the scripts compare with cmp")

// asUser, in a script's environment, is a user id that the command changes to
// before it runs, as root may read and write everything.
const asUser = "AS_USER"

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		ingestor.Name:  program(ingestor.Name, ingestor.Run),
		composer.Name:  program(composer.Name, composer.Run),
		extract.Name:   program(extract.Name, extract.Run),
		portal.Name:    program(portal.Name, portal.Run),
		provide.Name:   program(provide.Name, provide.Run),
		transform.Name: program(transform.Name, transform.Run),
	})
}

// program returns the main function of a program.
func program(name string, run app.Program) func() {
	return func() {
		if id, err := strconv.Atoi(os.Getenv(asUser)); err == nil {
			if err := syscall.Setuid(id); err != nil {
				panic(err)
			}
		}
		app.Main(name, run)
	}
}

// condition supports root, which is true for the root user, and yq, which is
// true for the yq that converts YAML for jq; there is another program of that
// name.
func condition(cond string) (bool, error) {
	switch cond {
	case "root":
		return os.Getuid() == 0, nil
	case "yq":
		cmd := exec.Command("yq", "-c", ".")
		cmd.Stdin = strings.NewReader("a: 1\n")
		out, err := cmd.Output()
		return err == nil && string(out) == "{\"a\":1}\n", nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition:           condition,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":     exits(ingestor.Name),
			"extract":   exits(extract.Name),
			"composer":  exits(composer.Name),
			"portal":    exits(portal.Name),
			"provide":   exits(provide.Name),
			"transform": exits(transform.Name),
			"backend":   command.Backend,
			"catalog":   command.Catalog,
			"answers":   command.Answers,
			"pipe":      command.Pipe,
			"define":    define,
			"example":   example,
			"bytes":     write,
			"repeat":    repeat,
			"files":     files,
			"parse":     parse,
		},
	})
}
