package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// promisedEntities is the size of the catalog that targets are for.
const promisedEntities = 750_000

// mostGrowth is how many times what a request takes with few entities it may take with many.
var mostGrowth = map[string]float64{
	kindByName: 1.5, kindPage: 1.5, kindDeepPage: 1.5, kindCount: 3, kindCountByLabel: 3,
}

// promisesOf returns what the figures of one engine show. Targets are for SQLite: those of
// searches for the 99th percentile, others for the median.
func promisesOf(engine string, columns []*column) []promise {
	first, last := columns[0], columns[len(columns)-1]
	var all []promise
	for _, f := range last.figures {
		value, of := f.p50, "in the median"
		if strings.Contains(f.name, "search") {
			value, of = f.p99, "at the 99th percentile"
		}
		target, err := strconv.ParseFloat(f.target, 64)
		if err == nil && last.entities >= promisedEntities && engine == "SQLite" {
			if f.unit != "ms" {
				of = "in all"
			}
			all = append(all, promise{fmt.Sprintf("%s: %.2f %s %s (at most %s)", f.name, value, f.unit, of, f.target), value <= target})
		}
		i := slices.IndexFunc(first.figures, func(o figure) bool { return o.name == f.name })
		if most := mostGrowth[f.name]; most > 0 && i >= 0 && first.entities < last.entities {
			growth := f.p50 / first.figures[i].p50
			all = append(all, promise{fmt.Sprintf("%s: with %d entities %.2f times as long as with %d (at most %.1f)", f.name, last.entities, growth, first.entities, most), growth <= most})
		}
	}
	return all
}

// writePromises writes which promises are kept, and returns how many are not.
func writePromises(w io.Writer, all []promise) (broken int) {
	for _, p := range all {
		verdict := "kept"
		if !p.kept {
			verdict = "NOT KEPT"
			broken++
		}
		fmt.Fprintf(w, "  %s: %s\n", verdict, p.text)
	}
	return broken
}
