// Command bench measures ingestor-cli as a whole program. Each result is
// compared with a reference from the same run, as machines differ and are
// shared.
//
//	go run ./test/bench
//
// With INGESTOR_CORPUS set it also measures the memory of a run over the
// definitions of that folder.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"go.yaml.in/yaml/v3"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/test/bench/rate"
	"example.dev/ingestor/test/sample"
	"example.dev/ingestor/xrd"
)

const (
	files  = 1000
	rounds = 5
)

func main() {
	if len(os.Args) == 4 && os.Args[1] == "baseline" {
		if err := baseline(os.Args[2], os.Args[3]); err != nil {
			fail(err)
		}
		return
	}
	if err := run(os.Stdout); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}

func run(w io.Writer) error {
	if err := transforms(w); err != nil {
		return err
	}
	if err := texts(w); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "ingestor-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	cli := filepath.Join(tmp, "ingestor-cli")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", cli, "./cmd/ingestor-cli").CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build ingestor-cli: %w\n%s", err, out)
	}
	in := filepath.Join(tmp, "in")
	if err := os.Mkdir(in, 0o755); err != nil {
		return err
	}
	for i := range files {
		if err := os.WriteFile(filepath.Join(in, fmt.Sprintf("%04d.yaml", i)), sample.Definition(i), 0o644); err != nil {
			return err
		}
	}
	if err := whole(w, tmp, cli, in); err != nil {
		return err
	}
	if err := start(w, cli, filepath.Join(in, "0000.yaml")); err != nil {
		return err
	}
	if err := memory(w, tmp, cli); err != nil {
		return err
	}
	return clusters(w, tmp)
}

// transforms measures the engine on one core, from a definition to Template,
// API and Resource, in comparison with parsing the same definition's YAML.
// Rounds alternate, and the best of each counts, as other load only ever adds
// time.
func transforms(w io.Writer) error {
	data := sample.Definition(0)
	var set xrd.Set
	if err := set.Read(bytes.NewReader(data), xrd.Origin{File: "sample.yaml"}); err != nil {
		return err
	}
	e := engine.New(engine.CLI, engine.Options{}, engine.Hooks{})
	ours, parsing, err := rate.BesideYAML(40, 300, func() error {
		res, err := e.Transform(engine.Input{Definition: set.Definitions[0]})
		if err == nil && len(res.Entities) != 3 {
			err = fmt.Errorf("sample resulted in %d entities, want 3", len(res.Entities))
		}
		return err
	}, data)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "definition of %d leaf fields (%d bytes) to Template, API and Resource: %.0f a second of one core at best, %.0f in the median (wanted: at least 7000)\n",
		sample.Leaves, len(data), ours.Best, ours.Median)
	fmt.Fprintf(w, "parsing its YAML alone: %.0f a second at best, so that making the entities takes %.2f of the time of parsing\n", parsing.Best, parsing.Best/ours.Best)
	return nil
}

// texts measures the same from the YAML text of the definition to the entities.
func texts(w io.Writer) error {
	data := sample.Definition(0)
	e := engine.New(engine.CLI, engine.Options{}, engine.Hooks{})
	ours, parsing, err := rate.BesideYAML(40, 200, func() error {
		var set xrd.Set
		if err := set.Read(bytes.NewReader(data), xrd.Origin{File: "sample.yaml"}); err != nil {
			return err
		}
		if len(set.Definitions) != 1 {
			return fmt.Errorf("sample has %d definitions, want 1", len(set.Definitions))
		}
		res, err := e.Transform(engine.Input{Definition: set.Definitions[0]})
		if err == nil && len(res.Entities) != 3 {
			err = fmt.Errorf("sample resulted in %d entities, want 3", len(res.Entities))
		}
		return err
	}, data)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "YAML text of that definition to its entities: %.0f a second of one core at best, %.0f in the median (wanted: at least 3000)\n", ours.Best, ours.Median)
	fmt.Fprintf(w, "parsing its YAML with yaml.v3 in the same rounds: %.0f a second at best, so that all of it takes %.2f of that time\n", parsing.Best, parsing.Best/ours.Best)
	return nil
}

// usage is the resources that one process used.
type usage struct {
	wall, cpu time.Duration
	peakMB    float64
}

// measure runs a command to its end. Exit codes 0 and 2 are both accepted, as
// findings are not failures here.
func measure(name string, args ...string) (usage, error) {
	cmd := exec.Command(name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	begin := time.Now()
	err := cmd.Run()
	u := usage{wall: time.Since(begin)}
	if cmd.ProcessState == nil || err != nil && cmd.ProcessState.ExitCode() != 2 {
		return u, fmt.Errorf("cannot run %s: %w\n%s", filepath.Base(name), err, stderr.String())
	}
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.peakMB = float64(r.Maxrss) / 1024
	}
	return u, nil
}

// whole compares a run over many files with only parsing their YAML and writing
// the same output.
func whole(w io.Writer, tmp, cli, in string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var ours, theirs []usage
	for i := range rounds {
		out := filepath.Join(tmp, fmt.Sprint("out", i))
		u, err := measure(cli, in, "-o", out, "--quiet")
		if err != nil {
			return err
		}
		b, err := measure(self, "baseline", in, out)
		if err != nil {
			return err
		}
		ours, theirs = append(ours, u), append(theirs, b)
	}
	used := func(u usage) float64 { return u.cpu.Seconds() * 1000 }
	wall := func(u usage) float64 { return u.wall.Seconds() * 1000 }
	fmt.Fprintf(w, "ingestor-cli over %d files of %d bytes: %.0f ms CPU, %.0f ms wall, peak %.0f MB\n", files, len(sample.Definition(0)),
		median(ours, used), median(ours, wall), median(ours, func(u usage) float64 { return u.peakMB }))
	fmt.Fprintf(w, "only parsing that YAML and writing that output: %.0f ms CPU, %.0f ms wall\n", median(theirs, used), median(theirs, wall))
	fmt.Fprintf(w, "ratio: %.2f of CPU, %.2f of wall (wanted: at most 2)\n", median(ours, used)/median(theirs, used), median(ours, wall)/median(theirs, wall))
	return nil
}

// baseline parses every file in a directory and writes copies of the files in
// another.
func baseline(in, out string) error {
	paths, err := filepath.Glob(filepath.Join(in, "*.yaml"))
	if err != nil {
		return err
	}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		var n yaml.Node
		if err := yaml.Unmarshal(data, &n); err != nil {
			return err
		}
	}
	results, err := filepath.Glob(filepath.Join(out, "*.yaml"))
	if err != nil {
		return err
	}
	for _, p := range results {
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if err := os.WriteFile(p+".copy", data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// start measures the time until the first byte of output.
func start(w io.Writer, cli, file string) error {
	var all []usage
	for range 20 {
		cmd := exec.Command(cli, file, "--stdout", "--quiet")
		pipe, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		begin := time.Now()
		if err := cmd.Start(); err != nil {
			return err
		}
		if _, err := io.ReadFull(pipe, make([]byte, 1)); err != nil {
			return err
		}
		all = append(all, usage{wall: time.Since(begin)})
		if _, err := io.Copy(io.Discard, pipe); err != nil {
			return err
		}
		if err := cmd.Wait(); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "start to first byte of output: %.1f ms, median of %d (wanted: under 30)\n", median(all, func(u usage) float64 { return u.wall.Seconds() * 1000 }), len(all))
	return nil
}

// memory measures a run over real definitions.
func memory(w io.Writer, tmp, cli string) error {
	corpus := os.Getenv("INGESTOR_CORPUS")
	if corpus == "" {
		fmt.Fprintln(w, "memory over real definitions: not measured, INGESTOR_CORPUS is not set")
		return nil
	}
	var all []usage
	for i := range rounds {
		u, err := measure(cli, filepath.Join(corpus, "xrds"), "--recursive", "--quiet", "-o", filepath.Join(tmp, fmt.Sprint("corpus", i)))
		if err != nil {
			return err
		}
		all = append(all, u)
	}
	fmt.Fprintf(w, "%s real definitions: peak %.0f MB, %.0f ms wall (wanted: under 200 MB)\n", countFiles(filepath.Join(corpus, "xrds")),
		median(all, func(u usage) float64 { return u.peakMB }), median(all, func(u usage) float64 { return u.wall.Seconds() * 1000 }))
	return nil
}

func countFiles(dir string) string {
	n := 0
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".yaml") {
			n++
		}
		return nil
	})
	return fmt.Sprint(n)
}

func median(us []usage, of func(usage) float64) float64 {
	vs := make([]float64, len(us))
	for i, u := range us {
		vs[i] = of(u)
	}
	slices.Sort(vs)
	return vs[len(vs)/2]
}
