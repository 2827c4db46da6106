package listing

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/ingestion/marks"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/once"
	"example.dev/ingestor/internal/ingestion/scan"
	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/internal/ingestion/variant"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/test/database"
)

func TestMain(m *testing.M) { database.Main(m) }

// TestDiff checks which changes of an object have it read, by method.
func TestDiff(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	before := cluster.Item{Name: "a.example.org", Version: 7, UID: "u", Generation: 1, Labels: map[string]string{"team": "red"}, Changed: noon}
	with := func(change func(*cluster.Item)) cluster.Item {
		i := before
		change(&i)
		return i
	}
	refuse := func(i cluster.Item) string {
		if i.Labels["team"] != "red" {
			return "it is not red"
		}
		return ""
	}
	const nothing, look, refused = "nothing", "look", "refused"
	cases := map[string]struct {
		reason string
		now    cluster.Item
		known  map[string]int64
		// unmarked reports whether change detection has no mark.
		unmarked bool
		// want is the result for the methods version, timestamp, hash, and disabled.
		want [4]string
	}{
		"Same": {
			"An unchanged object is skipped; metadata has no hash.",
			before, map[string]int64{"a.example.org": 7}, false, [4]string{nothing, nothing, look, look},
		},
		"Status": {
			"A new version is read, even if neither spec nor time changed.",
			with(func(i *cluster.Item) { i.Version = 8 }), map[string]int64{"a.example.org": 7}, false, [4]string{look, look, look, look},
		},
		"SeenByOthers": {
			"With timestamps, a version that another replica stored is skipped.",
			with(func(i *cluster.Item) { i.Version = 8 }), map[string]int64{"a.example.org": 8}, false, [4]string{look, nothing, look, look},
		},
		"Later": {
			"A later time is read.",
			with(func(i *cluster.Item) { i.Version, i.Changed = 8, noon.Add(time.Second) }), map[string]int64{"a.example.org": 8}, false, [4]string{look, look, look, look},
		},
		"LabelGone": {
			"Labels are compared, as servers set no time when a label is removed.",
			with(func(i *cluster.Item) { i.Version, i.Labels = 8, map[string]string{"team": "red", "tier": "x"} }),
			map[string]int64{"a.example.org": 8}, false, [4]string{look, look, look, look},
		},
		"Another": {
			"An object that was deleted and created again has another uid.",
			with(func(i *cluster.Item) { i.UID = "other" }), map[string]int64{"a.example.org": 7}, false, [4]string{look, nothing, look, look},
		},
		"Unknown": {
			"A mark of an object that the mirror does not have is ignored.",
			before, nil, false, [4]string{look, look, look, look},
		},
		"Unmarked": {
			"Without a mark everything is read.",
			before, map[string]int64{"a.example.org": 7}, true, [4]string{look, look, look, look},
		},
		"Refused": {
			"An object that is refused by its metadata is not read.",
			with(func(i *cluster.Item) { i.Version, i.Labels = 8, nil }), map[string]int64{"a.example.org": 7}, false, [4]string{refused, refused, refused, refused},
		},
	}
	services := &scan.Services{Mirror: mirror.New(database.Open(t, database.SQLite(t))), Once: &once.Log{}, Now: time.Now}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got [4]string
			for n, d := range []variant.Detection{{Enabled: true, Method: variant.ByVersion}, {Enabled: true, Method: variant.ByTimestamp}, {Enabled: true, Method: variant.ByHash}, {Method: variant.ByVersion}} {
				d.Marks = marks.NewMemory()
				target := scan.NewTarget(services, variant.New(&variant.Options{Detection: d}, ""), status.Target{Name: "p"}, time.Hour)
				l := List{Name: "definitions x", Refuse: refuse}
				update := func(do func(*Reader)) {
					if err := target.Update(t.Context(), func(s *scan.Scan) error {
						do(&Reader{Scan: s})
						return nil
					}); err != nil {
						t.Fatal(err)
					}
				}
				update(func(r *Reader) {
					if mark := r.mark(before); mark != "" && !tc.unmarked {
						r.Remember(l.Name, map[string]string{"a.example.org": mark}, nil)
					}
				})
				var out *listDiff
				update(func(r *Reader) { out = r.diffList(l, []cluster.Item{tc.now}, tc.known) })
				switch {
				case len(out.want) == 1 && len(out.put) == 0:
					got[n] = look
				case len(out.put) == 1 && len(out.want) == 0 && len(out.put[0].Body) == 0:
					got[n] = refused
				case len(out.put)+len(out.want) == 0:
					got[n] = nothing
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}
