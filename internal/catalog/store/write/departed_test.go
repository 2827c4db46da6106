package write

import (
	"testing"
	"time"
)

// TestUIDRetention removes entities and adds them again.
func TestUIDRetention(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Writer) {
		s := open()
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		s.db.Now, s.uidRetention = func() time.Time { return now }, time.Hour
		const a, b = "component:default/a", "component:default/b"
		uid := func(ref string) string {
			t.Helper()
			uids, err := s.db.Texts(t.Context(), "SELECT uid FROM entities WHERE ref = $1", ref)
			if err != nil || len(uids) != 1 {
				t.Fatalf("%s has uids %v (%v)", ref, uids, err)
			}
			return uids[0]
		}
		both := []Document{component(t, "a"), component(t, "b")}
		push(t, s, Change{Provider: "p", Full: true, Put: both})
		first, other := uid(a), uid(b)
		push(t, s, Change{Provider: "p", Full: true, Put: both[1:]})
		now = now.Add(59 * time.Minute)
		push(t, s, Change{Provider: "q", Full: true, Put: []Document{component(t, "a", `"type":"other"`)}})
		if got := uid(a); got != first {
			t.Errorf("entity that returns within the retention has uid %s, had %s", got, first)
		}
		if err := s.DeleteByUID(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		push(t, s, Change{Provider: "p", Full: true, Put: both})
		if got := uid(a); got != first || uid(b) != other {
			t.Errorf("entity that a user deleted has uid %s, had %s", got, first)
		}
		push(t, s, Change{Provider: "p", Full: true})
		now = now.Add(61 * time.Minute)
		push(t, s, Change{Provider: "p", Full: true, Put: both})
		if got := uid(a); got == first {
			t.Error("entity that returns after the retention has its old uid")
		}
		push(t, s, Change{Provider: "p", Remove: []string{b}})
		var left int
		if err := s.db.Read.QueryRowContext(t.Context(), "SELECT count(*) FROM departed").Scan(&left); err != nil || left != 1 {
			t.Errorf("%d uids are retained, want 1 (%v)", left, err)
		}
	})
}
