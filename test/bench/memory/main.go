// Command memory measures the peak memory of the programs: ingestor-cli and
// portal-backend over a folder of definitions in JSON, one per file, with 3,000
// files and with ten times as many; portal-backend over 20 clusters of 500
// definitions each, at its first start and at the next one; with one push of
// 200,000 entities; and with a cluster that serves 10,000 kinds of composites.
//
//	go run ./test/bench/memory
//	go run ./test/bench/memory -only push -program /path/to/another/portal-backend
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/test/sample"
)

// Memory limits in MB, for any number of files.
const (
	wantedCommand = 500
	wantedService = 250
)

var (
	few  = flag.Int("few", 3000, "how many files at first")
	many = flag.Int("many", 30_000, "how many files then")

	only    = flag.String("only", "", "one of folders, clusters, push and kinds")
	program = flag.String("program", "", "another portal-backend to measure, instead of this revision's")
)

func main() {
	flag.Parse()
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(w io.Writer) error {
	tmp, err := os.MkdirTemp("", "memory-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if out, err := exec.Command("go", "build", "-trimpath", "-o", tmp+string(filepath.Separator), "./cmd/ingestor-cli", "./cmd/portal-backend").CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build the programs: %w\n%s", err, out)
	}
	if *program == "" {
		*program = filepath.Join(tmp, "portal-backend")
	}
	for _, part := range []struct {
		name    string
		measure func(w io.Writer, tmp string) error
	}{{"folders", folders}, {"clusters", clusters}, {"push", push}, {"kinds", kinds}} {
		if *only != "" && *only != part.name {
			continue
		}
		if err := part.measure(w, tmp); err != nil {
			return fmt.Errorf("cannot measure %s: %w", part.name, err)
		}
	}
	return nil
}

// folders measures both programs over folders.
func folders(w io.Writer, tmp string) error {
	for _, p := range []struct {
		name   string
		peak   func(tmp, in string, n int) (int, error)
		wanted int
	}{{"ingestor-cli", command, wantedCommand}, {"portal-backend", service, wantedService}} {
		var peaks []int
		for _, n := range []int{*few, *many} {
			in, err := folder(tmp, n)
			if err != nil {
				return err
			}
			peak, err := p.peak(tmp, in, n)
			if err != nil {
				return fmt.Errorf("cannot measure %s: %w", p.name, err)
			}
			peaks = append(peaks, peak)
		}
		fmt.Fprintf(w, "%s: %d MB at most with %d files, %d MB with %d, which is %.2f times as much (wanted: at most %d MB)\n",
			p.name, peaks[0], *few, peaks[1], *many, float64(peaks[1])/float64(peaks[0]), p.wanted)
	}
	return nil
}

// folder creates a folder of n definitions.
func folder(tmp string, n int) (string, error) {
	at := filepath.Join(tmp, fmt.Sprint(n))
	if _, err := os.Stat(at); err == nil {
		return at, nil
	}
	if err := os.Mkdir(at, 0o755); err != nil {
		return "", err
	}
	for i := range n {
		docs, errs := parser.DecodeBytes(sample.Definition(i))
		if len(docs) != 1 || len(errs) > 0 {
			return "", fmt.Errorf("cannot read the sample: %v", errs)
		}
		text := tree.AppendJSON(nil, docs[0], " ")
		if err := os.WriteFile(filepath.Join(at, fmt.Sprintf("d%05d.json", i)), text, 0o600); err != nil {
			return "", err
		}
	}
	return at, nil
}

// command runs ingestor-cli and returns its peak memory in MB.
func command(tmp, in string, n int) (int, error) {
	to := filepath.Join(tmp, "entities")
	defer func() { _ = os.RemoveAll(to) }()
	cmd := exec.Command(filepath.Join(tmp, "ingestor-cli"), in, "--output", to)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), fmt.Sprintf("%d entities", 3*n)) {
		return 0, fmt.Errorf("%w: %s", errors.Join(err, errors.New("not all entities were made")), out)
	}
	used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, errors.New("peak memory is not available on this system")
	}
	return int(used.Maxrss * 1024 / 1e6), nil
}

// service starts portal-backend, waits until all entities are made, and returns
// its peak memory in MB.
func service(tmp, in string, n int) (int, error) {
	p, err := prepare(tmp, fmt.Sprintf("  sources: [{ name: files, type: file, path: %s }]", in))
	if err != nil {
		return 0, err
	}
	return p.run(func() (bool, error) { return generated(p.address) == 3*n, nil })
}

// generated returns the number of entities a service has made; -1 before it is
// ready.
func generated(address string) int {
	health := struct {
		EntitiesGenerated int `json:"entitiesGenerated"`
	}{-1}
	if err := ask(address, "health", &health); err != nil {
		return -1
	}
	return health.EntitiesGenerated
}
