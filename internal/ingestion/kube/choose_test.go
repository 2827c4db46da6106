package kube

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFirstOf checks the selection if there are more kinds than can be watched.
func TestFirstOf(t *testing.T) {
	for name, c := range map[string]struct {
		inhabited []string
		followed  map[string]bool
		want      []string
	}{
		"By name, if nothing is known of them.":          {nil, nil, []string{"a", "b"}},
		"Those with composites come first.":              {[]string{"d", "z"}, nil, []string{"d", "a"}},
		"Those that are followed stay, if none has any.": {nil, map[string]bool{"c": true, "d": true}, []string{"c", "d"}},
		"They make room for one that has.":               {[]string{"a"}, map[string]bool{"c": true, "d": true}, []string{"a", "c"}},
		"They stay if they have some too.":               {[]string{"a", "c", "d"}, map[string]bool{"c": true, "d": true}, []string{"c", "d"}},
	} {
		got := firstOf([]string{"d", "b", "a", "c"}, 2, c.inhabited, c.followed)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// TestWatchedOf checks that the number of watches is limited over all clusters.
func TestWatchedOf(t *testing.T) {
	for clusters, want := range map[int]int{0: 500, 1: 500, 10: 500, 11: 454, 100: 50, 5000: 1, 100_000: 1} {
		if got := watchedOf(clusters); got != want {
			t.Errorf("of each of %d clusters %d kinds are watched, want %d", clusters, got, want)
		}
	}
}
