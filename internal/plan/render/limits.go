package render

import "strconv"

// limits returns the environment of a process: how much memory its runtime may use, below
// the hard limit, and that it need not use more than two CPUs.
func limits(memory int64) []string {
	return []string{"GOMEMLIMIT=" + strconv.FormatInt(memory/4*3, 10), "GOMAXPROCS=2", "GOTRACEBACK=none"}
}
