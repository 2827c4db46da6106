package cache

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// TestCalls checks that one computation serves all waiting callers, that
// cancelled callers do not affect the others, and that nothing is computed
// without a caller.
func TestCalls(t *testing.T) {
	key := callKey{revision: 1}
	synctest.Test(t, func(t *testing.T) {
		var k calls
		begun, release := 0, make(chan struct{})
		compute := func(ctx context.Context) (any, error) {
			begun++
			select {
			case <-release:
				return begun, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		type answer struct {
			v   any
			err error
		}
		ask := func(ctx context.Context, key callKey) chan answer {
			out := make(chan answer, 1)
			go func() {
				v, err := k.do(ctx, key, compute)
				out <- answer{v, err}
			}()
			synctest.Wait()
			return out
		}
		ctx, giveUp := context.WithCancel(t.Context())
		first, second := ask(ctx, key), ask(t.Context(), key)
		giveUp()
		if a := <-first; !errors.Is(a.err, context.Canceled) {
			t.Errorf("cancelled caller got %v", a)
		}
		synctest.Wait()
		close(release)
		if a := <-second; a.v != 1 || a.err != nil {
			t.Errorf("waiting caller got %v", a)
		}
		release = make(chan struct{})
		ctx, giveUp = context.WithCancel(t.Context())
		alone := ask(ctx, key)
		giveUp()
		<-alone
		synctest.Wait()
		other := ask(t.Context(), callKey{revision: 2})
		again := ask(t.Context(), key)
		if begun != 4 || len(k.running) != 2 {
			t.Errorf("%d computations were started and %d are running, want 4 and 2", begun, len(k.running))
		}
		close(release)
		<-other
		<-again
		synctest.Wait()
		if len(k.running) != 0 {
			t.Errorf("%d computations are still running", len(k.running))
		}
	})
}
