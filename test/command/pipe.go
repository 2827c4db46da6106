package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// Pipe runs programs in a pipe like a shell, each as a process, and checks the
// exit codes of all of them, of which a shell returns only the last. The code *
// allows any, for a program that may end before it notices that its output is
// closed. The command line is a single pipeline for the shell, with the
// script's variables:
//
//	pipe '0 0 0' 'xrd-extract --path xrds | xrd-transform | portal-provide --api-url $PORTAL_URL'
func Pipe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: pipe 'code...' 'program | program...'")
	}
	dir, err := os.MkdirTemp(ts.Getenv("WORK"), ".pipe-*")
	ts.Check(err)
	codes := filepath.Join(dir, "codes")
	ts.Check(ts.Exec("bash", "-c", args[1]+"\necho \"${PIPESTATUS[*]}\" >'"+codes+"'"))
	got, want := strings.Fields(ts.ReadFile(codes)), strings.Fields(args[0])
	same := func(got, want string) bool { return want == "*" || got == want }
	if !slices.EqualFunc(got, want, same) {
		ts.Fatalf("exit codes %s, want %s", got, want)
	}
	if strings.Contains(ts.ReadFile("stderr"), "internal error") {
		ts.Fatalf("program printed an internal error")
	}
	for _, stream := range []string{"stdout", "stderr"} {
		if token := ts.Getenv(portalToken); token != "" && strings.Contains(ts.ReadFile(stream), token) {
			ts.Fatalf("%s contains the portal's token", stream)
		}
	}
}
