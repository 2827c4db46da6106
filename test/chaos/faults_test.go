package chaos_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// faults makes components fail, one or two at a time, until ctx ends. At least
// one replica stays unaffected.
func (c *run) faults(ctx context.Context, random *rand.Rand) {
	var ends sync.WaitGroup
	defer ends.Wait()
	// after calls do after a random number of milliseconds, or when the test
	// ends.
	after := func(least, most int, do func()) {
		wait := time.Duration(least+random.IntN(most-least)) * time.Millisecond
		ends.Go(func() {
			select {
			case <-ctx.Done():
			case <-time.After(wait):
			}
			do()
		})
	}
	busy := make(chan int, replicas)
	for i := range replicas {
		busy <- i
	}
	for ctx.Err() == nil {
		for _, r := range c.replicas {
			r.restartIfEnded()
		}
		// Replicas in the channel are unaffected; the last one stays so.
		if len(busy) < 2 {
			rest(ctx, random, 200, 500)
			continue
		}
		r := c.replicas[<-busy]
		well := func(mend func()) func() {
			return func() {
				mend()
				busy <- r.number
			}
		}
		switch fault := random.IntN(10); fault {
		case 0, 1:
			c.t.Logf("%s replica %d was killed", clock(), r.number)
			r.kill()
			after(500, 3000, well(r.begin))
		case 2, 7:
			// Data that the replica has read is outdated after the pause.
			reading := r.awaitReading(2 * time.Second)
			c.t.Logf("%s replica %d was paused while reading the folder: %v", clock(), r.number, reading)
			r.pause(true)
			after(15_000, 30_000, well(func() { r.pause(false) }))
		case 3:
			c.t.Logf("%s replica %d gets no responses from the database", clock(), r.number)
			r.wire.Hang()
			after(1000, 15_000, well(r.wire.Pass))
		case 4:
			c.t.Logf("%s replica %d loses its connections", clock(), r.number)
			r.wire.Refuse()
			after(500, 5000, well(r.wire.Pass))
		case 5:
			c.t.Logf("%s database was restarted", clock())
			busy <- r.number
			c.database.Kill()
			c.database.Restart(c.t)
		case 6:
			c.t.Logf("%s disk of the database is slow", clock())
			busy <- r.number
			c.slowDisk(ctx, random)
		default:
			mode := cuts + random.IntN(3)
			c.t.Logf("%s cluster %s", clock(), map[int]string{cuts: "is cut off", hangs: "hangs", lies: "lies"}[mode])
			busy <- r.number
			c.gate.to(mode)
			rest(ctx, random, 2000, 10_000)
			c.gate.to(passes)
		}
		rest(ctx, random, 1000, 4000)
	}
}

// slowDisk pauses the database repeatedly for some seconds.
func (c *run) slowDisk(ctx context.Context, random *rand.Rand) {
	for range 5 + random.IntN(15) {
		for _, still := range []bool{true, false} {
			if err := c.database.Stall(still); err != nil {
				c.t.Error(err)
			}
			rest(ctx, random, 50, 800)
		}
	}
}

func clock() string { return time.Now().Format("15:04:05.000") }
