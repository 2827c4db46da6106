// Command tools measures the three small tools: the number of definitions that
// the built-in templates render per second of one core, and xrd-extract |
// xrd-transform | portal-provide as whole programs over many records, with the
// memory of each.
//
//	go run ./test/bench/tools
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/engine/folder"
	"example.dev/ingestor/template/builtin"
	"example.dev/ingestor/test/bench/rate"
	"example.dev/ingestor/test/sample"
	"example.dev/ingestor/xrd"
)

// Targets: renders per second of CPU time, and the memory of each program in
// megabytes.
const (
	wantedRenders = 1000
	wantedMemory  = 100
)

var (
	records = flag.Int("records", 10_000, "how many definitions of 61 leaf fields go through the pipe; 0 for none")
	small   = flag.Int("small", 100_000, "how many small definitions go through it; 0 for none")
	rounds  = flag.Int("rounds", 40, "how many rounds of renders")
)

func main() {
	flag.Parse()
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(w io.Writer) error {
	if err := renders(w); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "tools-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	args := []string{"build", "-trimpath", "-o", tmp + string(filepath.Separator)}
	for _, name := range append(slices.Clone(programs), "portal-backend") {
		args = append(args, "./cmd/"+name)
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build the programs: %w\n%s", err, out)
	}
	if err := large(w, tmp); err != nil {
		return err
	}
	return many(w, tmp)
}

// renders measures the built-in templates on one core, in comparison with
// parsing the same definition's YAML. Rounds alternate, and the best of each
// counts, as other load only ever adds time.
func renders(w io.Writer) error {
	data := sample.Definition(0)
	var set xrd.Set
	if err := set.Read(bytes.NewReader(data), xrd.Origin{File: "sample.yaml"}); err != nil {
		return err
	}
	f, err := folder.Open(builtin.Files())
	if err != nil {
		return err
	}
	tr := engine.New(engine.Concept, engine.Options{}, engine.Hooks{}).Templated(f, engine.TemplateOptions{})
	ours, parsing, err := rate.BesideYAML(*rounds, 100, func() error {
		res, err := tr.Transform(engine.Input{Definition: set.Definitions[0]})
		if err == nil && (len(res.Entities) != 3 || len(res.Findings) > 0) {
			err = fmt.Errorf("sample resulted in %d entities and %d findings", len(res.Entities), len(res.Findings))
		}
		return err
	}, data)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "definition of %d leaf fields through the built-in templates, rendered, read and checked: %.0f a second of one core at best, %.0f in the median (wanted: at least %d)\n",
		sample.Leaves, ours.Best, ours.Median, wantedRenders)
	fmt.Fprintf(w, "parsing its YAML alone: %.0f a second at best, %.0f in the median, so that rendering takes %.2f of the time of parsing\n",
		parsing.Best, parsing.Median, parsing.Best/ours.Best)
	return nil
}
