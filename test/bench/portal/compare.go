package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"example.dev/ingestor/test/bench/backend"
)

// rounds is the number of measurements of each program in a comparison. They
// alternate, so that other load affects both.
const rounds = 7

// versus compares this program with that of a revision, on SQLite.
func versus(w io.Writer, tmp, program, revision string) error {
	old, err := backend.Build(tmp, revision)
	if err != nil {
		return err
	}
	var body bytes.Buffer
	if _, err := catalog(&body, *small); err != nil {
		return err
	}
	servers := make([]*server, 2)
	for i, program := range []string{old, program} {
		dir := filepath.Join(tmp, fmt.Sprint("compare-", i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		if servers[i], err = start(dir, program, backend.SQLite(dir), ""); err != nil {
			return err
		}
		defer servers[i].Stop()
		if _, err := servers[i].push(body.Bytes()); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "SQLite, %d entities, compared with %s in %d turns:\n", *small, revision, rounds)
	for _, shape := range shapes {
		var ratios []float64
		for range rounds {
			var perCPU [2]float64
			for i, s := range servers {
				r, err := s.load(tmp, *small, shape.script)
				if err != nil {
					return fmt.Errorf("%s: %w", shape.name, err)
				}
				perCPU[i] = r.perCPU
			}
			ratios = append(ratios, perCPU[0]/perCPU[1])
		}
		slices.Sort(ratios)
		fmt.Fprintf(w, "  %s: %.3f times the processor time for a request, from %.3f to %.3f\n", shape.name, ratios[rounds/2], ratios[0], ratios[rounds-1])
	}
	return nil
}
