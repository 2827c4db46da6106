package marks_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/ingestion/marks"
)

// onAll runs a test on each kind of marks. open returns the marks of the test,
// which are empty at first; another call opens them as another replica.
func onAll(t *testing.T, test func(t *testing.T, open func() marks.Marks)) {
	t.Helper()
	t.Run("Memory", func(t *testing.T) {
		one := marks.NewMemory()
		test(t, func() marks.Marks { return one })
	})
	t.Run("SQLite", func(t *testing.T) { test(t, openSQLite(t)) })
	t.Run("PostgreSQL", func(t *testing.T) { test(t, openPostgres(t)) })
	t.Run("Redis", func(t *testing.T) { test(t, openMarks(t)) })
}

// load returns the marks of a source.
func load(t *testing.T, m marks.Marks, source string) map[string]string {
	t.Helper()
	got, err := m.Load(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// save saves marks of a source.
func save(t *testing.T, m marks.Marks, source string, set map[string]string, drop ...string) {
	t.Helper()
	if err := m.Save(t.Context(), source, set, drop); err != nil {
		t.Fatal(err)
	}
}

// forget drops the marks of all sources except some.
func forget(t *testing.T, m marks.Marks, keep ...string) {
	t.Helper()
	if err := m.Forget(t.Context(), keep); err != nil {
		t.Fatal(err)
	}
}

// marksByKey are the marks of a source.
type marksByKey = map[string]string

// many returns n marks.
func many(n int) marksByKey {
	out := make(marksByKey, n)
	for i := range n {
		out[fmt.Sprintf("definitions/things%05d.platform.io", i)] = fmt.Sprintf("%064x", i)
	}
	return out
}

func TestMarks(t *testing.T) {
	type change struct {
		source string
		set    marksByKey
		drop   []string
		// keep, if not nil, forgets the other sources instead.
		keep []string
	}
	cases := map[string]struct {
		reason  string
		changes []change
		want    map[string]marksByKey
	}{
		"Nothing": {
			reason: "A source without saved marks has none.",
			want:   map[string]marksByKey{"a": {}},
		},
		"Set": {
			reason:  "Marks that are set belong to their source only.",
			changes: []change{{source: "a", set: marksByKey{"x": "1", "y": "2"}}},
			want:    map[string]marksByKey{"a": {"x": "1", "y": "2"}, "b": {}},
		},
		"SetAgain": {
			reason:  "A new mark replaces the old one and leaves the others.",
			changes: []change{{source: "a", set: marksByKey{"x": "1", "y": "2"}}, {source: "a", set: marksByKey{"x": "3"}}},
			want:    map[string]marksByKey{"a": {"x": "3", "y": "2"}},
		},
		"Drop": {
			reason:  "A dropped mark is removed from this source only.",
			changes: []change{{source: "a", set: marksByKey{"x": "1", "y": "2"}}, {source: "b", set: marksByKey{"x": "1"}}, {source: "a", drop: []string{"x"}}},
			want:    map[string]marksByKey{"a": {"y": "2"}, "b": {"x": "1"}},
		},
		"DropUnknown": {
			reason:  "A missing mark can be dropped.",
			changes: []change{{source: "a", drop: []string{"x"}}},
			want:    map[string]marksByKey{"a": {}},
		},
		"SetAndDrop": {
			reason:  "Marks can be set and dropped in one call.",
			changes: []change{{source: "a", set: marksByKey{"x": "1", "y": "2"}}, {source: "a", set: marksByKey{"z": "3"}, drop: []string{"x", "none"}}},
			want:    map[string]marksByKey{"a": {"y": "2", "z": "3"}},
		},
		"Neither": {
			reason:  "A call without changes succeeds.",
			changes: []change{{source: "a", set: marksByKey{"x": "1"}}, {source: "a"}},
			want:    map[string]marksByKey{"a": {"x": "1"}},
		},
		"Forget": {
			reason: "Only the sources that are kept have their marks afterwards.",
			changes: []change{
				{source: "a", set: marksByKey{"x": "1"}}, {source: "b", set: marksByKey{"x": "2"}}, {source: "a/b", set: marksByKey{"x": "3"}},
				{keep: []string{"b", "unknown"}},
			},
			want: map[string]marksByKey{"a": {}, "b": {"x": "2"}, "a/b": {}},
		},
		"ForgetAll": {
			reason:  "Keeping no source drops all marks.",
			changes: []change{{source: "a", set: marksByKey{"x": "1"}}, {source: "b", set: marksByKey{"x": "2"}}, {keep: []string{}}},
			want:    map[string]marksByKey{"a": {}, "b": {}},
		},
		"AfterForget": {
			reason:  "A source that returns starts without marks.",
			changes: []change{{source: "a", set: marksByKey{"x": "1"}}, {keep: []string{}}, {source: "a", set: marksByKey{"y": "2"}}},
			want:    map[string]marksByKey{"a": {"y": "2"}},
		},
		"AnyText": {
			reason: "Names and marks are text, not patterns or commands.",
			changes: []change{
				{source: "a*", set: marksByKey{"*": "?", "ü \"x\"\r\n": "'; %s \\"}},
				{source: "ab", set: marksByKey{"y": "1"}}, {source: "[ab]", set: marksByKey{"z": "1"}},
				{source: "a*", set: marksByKey{"b": "2"}, drop: []string{"?"}},
				{keep: []string{"a*", "ab"}},
			},
			want: map[string]marksByKey{"a*": {"*": "?", "ü \"x\"\r\n": "'; %s \\", "b": "2"}, "ab": {"y": "1"}, "[ab]": {}},
		},
	}
	onAll(t, func(t *testing.T, open func() marks.Marks) {
		m := open()
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				// A database for each case would be slow.
				forget(t, m)
				for _, c := range tc.changes {
					if c.keep == nil {
						save(t, m, c.source, c.set, c.drop...)
						continue
					}
					forget(t, m, c.keep...)
				}
				for source, want := range tc.want {
					if diff := cmp.Diff(want, load(t, m, source)); diff != "" {
						t.Errorf("%s\nmarks of %q: -want +got\n%s", tc.reason, source, diff)
					}
				}
			})
		}
	})
}

// TestMarksAreShared checks that two replicas share marks.
func TestMarksAreShared(t *testing.T) {
	onAll(t, func(t *testing.T, open func() marks.Marks) {
		one, two := open(), open()
		save(t, one, "a", marksByKey{"x": "1", "y": "2"})
		save(t, two, "a", marksByKey{"y": "3"}, "x")
		if diff := cmp.Diff(marksByKey{"y": "3"}, load(t, one, "a")); diff != "" {
			t.Error(diff)
		}
		forget(t, two)
		if diff := cmp.Diff(marksByKey{}, load(t, one, "a")); diff != "" {
			t.Error(diff)
		}
	})
}

// TestMarksAreCopies checks that a caller may change the map after saving.
func TestMarksAreCopies(t *testing.T) {
	onAll(t, func(t *testing.T, open func() marks.Marks) {
		m, set := open(), marksByKey{"x": "1"}
		save(t, m, "a", set)
		set["x"] = "2"
		load(t, m, "a")["y"] = "3"
		if diff := cmp.Diff(marksByKey{"x": "1"}, load(t, m, "a")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestManyMarks(t *testing.T) {
	onAll(t, func(t *testing.T, open func() marks.Marks) {
		m, want := open(), many(10_000)
		save(t, m, "a", want)
		if diff := cmp.Diff(want, load(t, m, "a")); diff != "" {
			t.Fatal(diff)
		}
		keys := slices.Sorted(maps.Keys(want))
		save(t, m, "a", nil, keys[1:]...)
		if diff := cmp.Diff(marksByKey{keys[0]: want[keys[0]]}, load(t, m, "a")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestMarksAtOnce(t *testing.T) {
	onAll(t, func(t *testing.T, open func() marks.Marks) {
		replicas := []marks.Marks{open(), open()}
		const workers, rounds = 8, 10
		var all sync.WaitGroup
		for w := range workers {
			all.Go(func() {
				m := replicas[w%len(replicas)]
				for i := range rounds {
					key := fmt.Sprintf("%d/%d", w, i)
					// One source is shared by all goroutines, the other is added and removed.
					if err := m.Save(t.Context(), "a", marksByKey{key: "1", key + "x": "1"}, nil); err != nil {
						t.Error(err)
					}
					if err := m.Save(t.Context(), "a", nil, []string{key + "x"}); err != nil {
						t.Error(err)
					}
					if err := m.Save(t.Context(), "b", marksByKey{key: "1"}, nil); err != nil {
						t.Error(err)
					}
					if err := m.Forget(t.Context(), []string{"a"}); err != nil {
						t.Error(err)
					}
					if got, err := m.Load(t.Context(), "a"); err != nil || got[key] != "1" {
						t.Errorf("mark %q is %q, want 1: %v", key, got[key], err)
					}
				}
			})
		}
		all.Wait()
		want := marksByKey{}
		for w := range workers {
			for i := range rounds {
				want[fmt.Sprintf("%d/%d", w, i)] = "1"
			}
		}
		if diff := cmp.Diff(want, load(t, replicas[0], "a")); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(marksByKey{}, load(t, replicas[0], "b")); diff != "" {
			t.Error(diff)
		}
	})
}
