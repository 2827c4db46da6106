package kube

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

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

// TestShare checks that the number of watches is limited over all clusters, and how many
// lists are processed at once.
func TestShare(t *testing.T) {
	for clusters, want := range map[int]int{0: 500, 1: 500, 10: 500, 11: 454, 100: 50, 5000: 1, 100_000: 1} {
		if got := NewShare(clusters).mostWatched; got != want {
			t.Errorf("of each of %d clusters %d kinds are watched, want %d", clusters, got, want)
		}
	}
	s := NewShare(100)
	leave, err := s.enter(t.Context())
	for range mostTaken - 1 {
		if _, e := s.enter(t.Context()); e != nil {
			err = e
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.enter(ended); err == nil {
		t.Error("one list more than allowed is processed")
	}
	leave()
	if _, err := s.enter(t.Context()); err != nil {
		t.Errorf("no list is processed after another one has ended: %v", err)
	}
}

// TestShareOfSlowClusters checks that lists do not wait for long for those of others.
func TestShareOfSlowClusters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewShare(100)
		for range mostTaken {
			if _, err := s.enter(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		begin := time.Now()
		leave, err := s.enter(t.Context())
		if took := time.Since(begin); err != nil || took != mostWaited {
			t.Errorf("a list waits %v (%v), want %v", took, err, mostWaited)
		}
		leave()
		if len(s.taking) != mostTaken {
			t.Errorf("%d lists are processed besides, want %d", len(s.taking), mostTaken)
		}
	})
}
