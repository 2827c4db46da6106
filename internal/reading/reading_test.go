package reading

import (
	"context"
	"testing"
	"time"
)

// TestReadings checks that callers with other identities do not share readings, that one
// is made again after a second, and that the weight of kept readings is limited.
func TestReadings(t *testing.T) {
	const most = 10
	now := time.Now()
	r := New(func() time.Time { return now }, most, func(size int) int { return size })
	made := 0
	for _, step := range []struct {
		reason, identity string
		size             int
		wait             time.Duration
		want             int
	}{
		{"The first is made.", "a", 1, 0, 1},
		{"The same is kept.", "a", 1, KeepFor - 1, 1},
		{"That of another caller is not.", "b", 1, 0, 2},
		{"After a second it is made again.", "a", 1, 1, 3},
		{"One that is too large is returned.", "c", most, 0, 4},
		{"But it is not kept.", "c", most, 0, 5},
	} {
		now = now.Add(step.wait)
		got, err := r.Get(t.Context(), Key{Identity: step.identity}, func(context.Context) (int, error) {
			made++
			return step.size, nil
		})
		if err != nil || got != step.size || made != step.want {
			t.Errorf("%s Got %d, %v after %d readings, want %d", step.reason, got, err, made, step.want)
		}
	}
	now = now.Add(KeepFor)
	r.recent(Key{})
	if r.weight+len(r.kept) != 0 {
		t.Errorf("%d readings of weight %d are kept although they are too old", len(r.kept), r.weight)
	}
}

// TestLimit checks that few readings of a cluster are made at once, and that another
// cluster is not delayed.
func TestLimit(t *testing.T) {
	r := New(time.Now, 1, func(int) int { return 1 })
	for range AtOnce {
		if _, err := r.Enter(t.Context(), "slow"); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	read := func(context.Context) (int, error) { return 7, nil }
	if _, err := r.Read(ctx, Key{Cluster: "slow"}, read); err == nil {
		t.Error("one more reading was made")
	}
	if got, err := r.Read(t.Context(), Key{Cluster: "other"}, read); got != 7 || err != nil {
		t.Errorf("the other cluster returned %d, %v", got, err)
	}
}
