package ingestor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/test/sample"
	"example.dev/ingestor/test/size"
)

// memoryArgs is set in the child process of TestFolderMemory to its arguments.
const memoryArgs = "INGESTOR_TEST_MEMORY_ARGS"

// TestFolderMemory runs the command over a folder of JSON definitions, one per
// file, and checks the peak memory of its process: at most 500 MB for 30,000
// files, and for the usual 800 less than with all of them in memory.
func TestFolderMemory(t *testing.T) {
	if args := os.Getenv(memoryArgs); args != "" {
		env := &app.Env{Args: strings.Split(args, "\n"), Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}
		if code := app.Run(t.Context(), Name, env, Run); code != app.ExitOK {
			t.Fatalf("exit code is %d", code)
		}
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("peak memory has other units on this system")
	}
	n, most := size.Of(800, 30_000), size.Of(160_000, 500_000)
	in, out := t.TempDir(), t.TempDir()
	for i := range n {
		docs, errs := parser.DecodeBytes(sample.Definition(i))
		if len(docs) != 1 || len(errs) > 0 {
			t.Fatal(errs)
		}
		text := tree.AppendJSON(nil, docs[0], " ")
		if err := os.WriteFile(filepath.Join(in, fmt.Sprintf("d%05d.json", i)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFolderMemory$", "-test.timeout=0")
	cmd.Env = append(os.Environ(), memoryArgs+"="+in+"\n--output\n"+out)
	text, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(text), fmt.Sprintf("%d entities from %d definitions", 3*n, n)) {
		t.Fatalf("%v\n%s", err, text)
	}
	used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("system does not report the peak memory")
	}
	peak := int(used.Maxrss) * 1024 / 1000
	t.Logf("%d files took %d MB at most", n, peak/1000)
	if peak > most {
		t.Errorf("%d files took %d MB at most, want %d", n, peak/1000, most/1000)
	}
}
