package write

import "testing"

// TestOneSnapshot commits another change between two reads of a plan: the plan
// sees the entity that it would move to another provider, but not the entities
// that this provider got at the same time.
func TestOneSnapshot(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Writer) {
		s, other := open(), open()
		x, y := component(t, "x"), component(t, "y")
		s.betweenReads = func() {
			s.betweenReads = nil
			changes := []Change{{Provider: "p", Put: []Document{y}}, {Provider: "q", Put: []Document{x}}}
			if _, err := other.SyncAll(t.Context(), changes); err != nil {
				t.Error(err)
			}
		}
		r := push(t, s, Change{Provider: "p", Full: true, Put: []Document{x}})
		if r.Removed != 1 || len(r.Refused) != 1 {
			t.Errorf("result %+v matches no serial order", r)
		}
		if refs, err := s.db.Texts(t.Context(), "SELECT ref FROM entities WHERE provider = 'p'"); len(refs) != 0 || err != nil {
			t.Errorf("provider has %v after an empty full change (%v), want none", refs, err)
		}
	})
}

// TestLargeBesideOthers removes an entity without a trace in the log, as an older program
// might, while a large change is planned: the whole plan is made again.
func TestLargeBesideOthers(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Writer) {
		s, other := open(), open()
		s.partDocuments = 1
		put := []Document{component(t, "x"), component(t, "y"), component(t, "z")}
		push(t, s, Change{Provider: "p", Full: true, Put: put})
		reads := 0
		s.betweenReads = func() {
			if reads++; reads != len(put) {
				return
			}
			for _, statement := range []string{"UPDATE revision SET n = n + 1", "DELETE FROM entities WHERE ref = 'component:default/x'"} {
				if _, err := other.db.Write.ExecContext(t.Context(), statement); err != nil {
					t.Error(err)
				}
			}
		}
		if r := push(t, s, Change{Provider: "p", Full: true, Put: put}); r.Added != 1 || r.Unchanged != 2 {
			t.Errorf("result %+v, want the removed entity added", r)
		}
	})
}
