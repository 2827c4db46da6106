package main

import (
	"fmt"
	"os"
	"slices"

	"example.dev/ingestor/test/bench/backend"
)

// versus compares the first scan of this program with that of another one. They
// alternate, so that other load on the machine affects both.
func (b *bench) versus(e engine) error {
	old := *compare
	if _, err := os.Stat(old); err != nil {
		if old, err = backend.Build(b.tmp, *compare); err != nil {
			return err
		}
	}
	var took, cpu []float64
	for range *rounds {
		var costs [2]scanned
		for i, program := range []string{old, b.program} {
			s, err := b.start(program, e)
			if err != nil {
				return err
			}
			costs[i], err = first(b.w, s, e.name)
			s.Stop()
			if err != nil {
				return fmt.Errorf("%w\n%s", err, s.Log.String())
			}
			settle()
		}
		took = append(took, costs[1].took.Seconds()/costs[0].took.Seconds())
		cpu = append(cpu, costs[1].cpu/costs[0].cpu)
		fmt.Fprintf(b.w, "  compared with %s: %.2f times as long, %.2f times the processor time\n", *compare, took[len(took)-1], cpu[len(cpu)-1])
	}
	slices.Sort(took)
	slices.Sort(cpu)
	fmt.Fprintf(b.w, "%s, compared with %s in %d turns: %.2f times as long in the median, %.2f times the processor time\n",
		e.name, *compare, *rounds, took[len(took)/2], cpu[len(cpu)/2])
	return nil
}
