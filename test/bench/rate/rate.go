// Package rate measures how often a function can run per second of one core, in
// comparison with a reference from the same run, as machines differ and are
// shared.
package rate

import (
	"runtime"
	"slices"
	"syscall"
	"time"

	"go.yaml.in/yaml/v3"
)

// Rate is the number of runs per second of CPU time.
type Rate struct{ Best, Median float64 }

// BesideYAML alternates n calls of f per round with the parsing of a YAML text,
// on one core.
func BesideYAML(rounds, n int, f func() error, text []byte) (ours, parsing Rate, err error) {
	runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(runtime.NumCPU())
	var a, b []float64
	for range rounds {
		one, err := perSecond(n, f)
		if err != nil {
			return ours, parsing, err
		}
		other, err := perSecond(60, func() error {
			var n yaml.Node
			return yaml.Unmarshal(text, &n)
		})
		if err != nil {
			return ours, parsing, err
		}
		a, b = append(a, one), append(b, other)
	}
	return rateOf(a), rateOf(b), nil
}

func rateOf(all []float64) Rate {
	slices.Sort(all)
	return Rate{Best: all[len(all)-1], Median: all[len(all)/2]}
}

// perSecond returns how often f runs per second of CPU time.
func perSecond(n int, f func() error) (float64, error) {
	runtime.GC()
	before, err := cpu()
	if err != nil {
		return 0, err
	}
	for range n {
		if err := f(); err != nil {
			return 0, err
		}
	}
	after, err := cpu()
	return float64(n) / (after - before).Seconds(), err
}

// cpu returns the CPU time of this process.
func cpu() (time.Duration, error) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}
