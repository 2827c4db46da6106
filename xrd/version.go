package xrd

import (
	"cmp"
	"strconv"
	"strings"
)

// CompareVersions orders API versions as Kubernetes does: GA above beta above alpha,
// then by number; names that are not versions come last, in reverse alphabetical order.
// It is negative if a is lower than b.
func CompareVersions(a, b string) int {
	if a == b {
		return 0
	}
	pa, okA := parseVersion(a)
	pb, okB := parseVersion(b)
	switch {
	case okA && !okB:
		return 1
	case okB && !okA:
		return -1
	case !okA:
		return strings.Compare(b, a)
	}
	return cmp.Or(
		cmp.Compare(pa.stage, pb.stage),
		cmp.Compare(pa.major, pb.major),
		cmp.Compare(pa.minor, pb.minor),
	)
}

type version struct{ stage, major, minor int }

// The stages of a version, in order.
const (
	alpha = iota
	beta
	ga
)

// parseVersion parses v1, v1beta2, v2alpha1.
func parseVersion(s string) (version, bool) {
	rest, ok := strings.CutPrefix(s, "v")
	if !ok {
		return version{}, false
	}
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	major, err := strconv.Atoi(rest[:digits])
	if err != nil || rest[0] == '0' {
		return version{}, false
	}
	v := version{stage: ga, major: major}
	rest = rest[digits:]
	if rest == "" {
		return v, true
	}
	if n, ok := strings.CutPrefix(rest, "alpha"); ok {
		v.stage, rest = alpha, n
	} else if n, ok := strings.CutPrefix(rest, "beta"); ok {
		v.stage, rest = beta, n
	} else {
		return version{}, false
	}
	v.minor, err = strconv.Atoi(rest)
	if err != nil || rest[0] < '1' || rest[0] > '9' {
		return version{}, false
	}
	return v, true
}
