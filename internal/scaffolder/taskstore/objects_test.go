package taskstore

import (
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestObjectChanges records changes of objects, and checks that they go with their tasks.
func TestObjectChanges(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		ctx := t.Context()
		shop := Object{Cluster: "dev", Group: "platform.example.org", Kind: "Shop", Namespace: "team-a", Name: "invoices"}
		other := shop
		other.Cluster = "prod"
		addTask(t, s, "one")
		addTask(t, s, "two")
		for _, c := range []struct {
			of Object
			ObjectChange
		}{
			{shop, ObjectChange{Task: "one", Operation: "create"}},
			{shop, ObjectChange{Task: "two", Operation: "update", Fields: []string{"spec.size"}}},
			{other, ObjectChange{Task: "two", Operation: "delete"}},
			{shop, ObjectChange{Task: "unknown", Operation: "delete"}},
		} {
			if err := s.AddObjectChange(ctx, c.of, c.ObjectChange); err != nil {
				t.Fatal(err)
			}
			// The order of changes within a millisecond is that of the tasks.
			time.Sleep(2 * time.Millisecond)
		}
		of := func(o Object, most int) []ObjectChange {
			t.Helper()
			all, err := s.ObjectChanges(ctx, o, most)
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		by := ObjectChange{Template: "template:default/db", CreatedBy: "user:default/ann"}
		first, second := by, by
		first.Task, first.Operation = "one", "create"
		second.Task, second.Operation, second.Fields = "two", "update", []string{"spec.size"}
		moments := cmpopts.IgnoreFields(ObjectChange{}, "At")
		if diff := gocmp.Diff([]ObjectChange{second, first}, of(shop, 10), moments); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
		if diff := gocmp.Diff([]ObjectChange{second}, of(shop, 1), moments); diff != "" {
			t.Errorf("last change (-want +got):\n%s", diff)
		}
		if got := of(other, 10); len(got) != 1 || time.Since(got[0].At).Abs() > time.Minute {
			t.Errorf("changes in another cluster are %v", got)
		}
		if _, _, err := s.CancelTask(ctx, "one"); err != nil {
			t.Fatal(err)
		}
		if n, err := s.DropTasks(ctx, time.Now().Add(time.Hour)); err != nil || n != 1 {
			t.Fatalf("removed %d tasks, %v", n, err)
		}
		var left int
		if err := s.Read.QueryRowContext(ctx, "SELECT count(*) FROM task_objects WHERE task = 'one'").Scan(&left); err != nil || left != 0 {
			t.Errorf("%d changes of a removed task are left, %v", left, err)
		}
	})
}
