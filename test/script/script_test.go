// Package script holds every promise ingestor-cli makes on its command line as
// scripts in testdata. Run the tests with -update to rewrite what a script
// compares with cmp, after reading the difference.
package script

import (
	"flag"
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/ingestor"
)

var update = flag.Bool("update", false, "rewrite what the scripts compare with cmp")

// asUser, in a script's environment, is a user id the command changes to
// before it runs: root may read and write everything, so nothing is refused.
const asUser = "AS_USER"

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		ingestor.Name: func() {
			if id, err := strconv.Atoi(os.Getenv(asUser)); err == nil {
				if err := syscall.Setuid(id); err != nil {
					panic(err)
				}
			}
			app.Main(ingestor.Name, ingestor.Run)
		},
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition: func(cond string) (bool, error) {
			return cond == "root" && os.Getuid() == 0, nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":   exits,
			"define":  define,
			"example": example,
			"bytes":   write,
			"repeat":  repeat,
			"files":   files,
			"parse":   parse,
		},
	})
}
