package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// soakProviders share the entities of a soak, so that a sync replaces a tenth of them.
	soakProviders = 10
	// soakClients is how many clients send the mixed load.
	soakClients = 16
	// inFlight is how many requests may be in flight. Those beyond it are errors.
	inFlight = 1000
	// firstRate is how many requests are sent per second at first, and controlEvery is after
	// which time the rate is adapted.
	firstRate    = 50
	controlEvery = 3 * time.Second
	// soakTimeout is how long a request of a soak may take.
	soakTimeout = time.Minute
	// changeEvery and followEvery are the pauses between deltas, and between reads of the feed.
	changeEvery, followEvery = time.Second / 2, time.Second
	// shownErrors is how many different errors are shown.
	shownErrors = 10
)

// kindSync replaces the entities of one provider after the other. All are unchanged, except
// for those that deltas have changed: they are changed back.
const kindSync = "sync of a tenth of the entities"

// soak keeps a server under load.
type soak struct {
	*harness
	all []request
	// pause is the time between two requests of a client.
	pause  atomic.Int64
	places chan struct{}
	wg     sync.WaitGroup

	mu sync.Mutex
	// times is zero until the rate has settled. Requests that were due before are not counted.
	times    timetable
	now      histogram // of this interval
	windows  [2]window
	errors   int
	messages []string
}

// runSoak fills a catalog of n entities and keeps it under load. It returns an error if a
// promise is not kept.
func runSoak(w io.Writer, tmp string, e engine, n int) error {
	// The log is kept in memory, so it may not have a line for each request.
	h, size, err := start(w, tmp, e, fmt.Sprintf("soak-%d", n), n, soakProviders, "  logger: { level: warn }\n")
	if err != nil {
		return err
	}
	defer h.b.Stop()
	fmt.Fprintf(w, "%s, %d entities:\n", e.name, n)
	if err := h.fill(filepath.Join(tmp, "push.ndjson")); err != nil {
		return err
	}
	// Memory while serving is that of a process that has filled nothing.
	h.b.Stop()
	if err := h.b.Start(); err != nil {
		return err
	}
	// A kept catalog has the changes of earlier soaks.
	h.changes.Store(time.Now().Unix())
	s := &soak{harness: h, places: make(chan struct{}, inFlight)}
	s.setKinds(tmp)
	if _, err := h.follow(); err != nil {
		return err
	}
	h.client.Timeout = soakTimeout
	before := fixedWork()
	err = s.run(size)
	after := fixedWork()
	h.b.Stop()
	if err == nil {
		fmt.Fprintf(w, "  fixed CPU work: %v before, %v after\n", before, after)
		err = s.report()
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, tail(h.b.Log.String()))
	}
	return nil
}

// setKinds sets the kinds of requests: those of the battery, and a sync.
func (s *soak) setKinds(tmp string) {
	var syncs atomic.Int64
	s.all = append(s.kinds(), request{name: kindSync, do: func(*rand.Rand) error {
		i := int(syncs.Add(1)) % soakProviders
		_, _, err := s.push(filepath.Join(tmp, fmt.Sprintf("part-%d.ndjson", i)), i, 0)
		return err
	}})
	s.all[s.kind(kindFeed)].do = func(*rand.Rand) error {
		mode, err := s.follow()
		if err == nil && mode != "delta" {
			err = fmt.Errorf("response has mode %q instead of delta", mode)
		}
		return err
	}
	for i := range s.windows {
		s.windows[i].kinds = make([]histogram, len(s.all))
	}
}

// kind returns the index of a kind.
func (s *soak) kind(name string) int {
	return slices.IndexFunc(s.all, func(q request) bool { return q.name == name })
}

// run keeps the server under load.
func (s *soak) run(size func() (space, error)) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer s.wg.Wait()
	defer cancel()
	every := func(begin time.Time, pause time.Duration, name string) {
		i := s.kind(name)
		s.wg.Go(func() {
			s.send(ctx, soakClients, begin, func() time.Duration { return pause }, func(*rand.Rand) int { return i })
		})
	}
	s.setRate(firstRate)
	for i := range soakClients {
		pause := func() time.Duration { return time.Duration(s.pause.Load()) }
		s.wg.Go(func() { s.send(ctx, uint64(i), time.Now().Add(rand.N(pause())), pause, s.mixed) })
	}
	every(time.Now(), changeEvery, kindChange)
	every(time.Now(), followEvery, kindFeed)
	failed := make(chan error, 1)
	go func() { failed <- s.control(ctx) }()
	times := newTimetable(time.Now().Add(min(time.Minute, *lasting/4)), *lasting)
	select {
	case err := <-failed:
		return err
	case <-time.After(time.Until(times.begin)):
	}
	s.mu.Lock()
	s.times = times
	s.mu.Unlock()
	// Each interval has one sync, so that those that are compared have as many.
	every(times.begin.Add(times.interval/2), times.interval, kindSync)
	err := s.watch(times, size)
	cancel()
	return errors.Join(err, <-failed)
}

// mixed picks a kind by its share.
func (s *soak) mixed(r *rand.Rand) int {
	n := r.IntN(100)
	return slices.IndexFunc(s.all, func(q request) bool { n -= q.share; return n < 0 })
}

func (s *soak) setRate(perSecond float64) {
	s.pause.Store(int64(soakClients * float64(time.Second) / perSecond))
}

// send starts requests until ctx ends, without waiting for earlier responses. Latency
// counts from when a request was due.
func (s *soak) send(ctx context.Context, seed uint64, due time.Time, pause func() time.Duration, pick func(*rand.Rand) int) {
	r := rand.New(rand.NewPCG(seed, 1))
	for ; ; due = due.Add(pause()) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(due)):
		}
		kind, due, of := pick(r), due, rand.New(rand.NewPCG(r.Uint64(), r.Uint64()))
		select {
		case s.places <- struct{}{}:
		default:
			s.record(kind, due, fmt.Errorf("more than %d requests were in flight", inFlight))
			continue
		}
		s.wg.Go(func() {
			err := s.all[kind].do(of)
			<-s.places
			s.record(kind, due, err)
		})
	}
}

// record counts a request that has ended.
func (s *soak) record(kind int, due time.Time, err error) {
	took := time.Since(due)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.times.begin.IsZero() || due.Before(s.times.begin) {
		return
	}
	if err != nil {
		s.errors++
		if text := s.all[kind].name + ": " + err.Error(); len(s.messages) < shownErrors && !slices.Contains(s.messages, text) {
			s.messages = append(s.messages, text)
		}
		return
	}
	s.now.add(took)
	if i := s.times.window(due); i >= 0 {
		s.windows[i].all.add(took)
		s.windows[i].kinds[kind].add(took)
	}
}

// control adapts the rate until ctx ends, so that as much of the machine's CPU as wanted is in
// use, with that of syncs: other programs make a shared machine faster or slower by a half.
func (s *soak) control(ctx context.Context) error {
	for rate := float64(firstRate); ctx.Err() == nil; s.setRate(rate) {
		u, _, err := observe(s.b, time.Now().Add(controlEvery))
		if err != nil {
			return err
		}
		rate = max(soakClients, rate*min(1.5, max(0.5, *load/u.busy())))
	}
	return nil
}

// watch prints a line for each interval.
func (s *soak) watch(times timetable, size func() (space, error)) error {
	fmt.Fprintf(s.w, "  %8s %8s %6s %7s %8s | %% of CPU: all server client steal | MB: RSS  heap  data   log | errors\n", "until", "requests", "/s", "p50 ms", "p99 ms")
	failed := 0
	for i := range times.intervals {
		begin := times.begin.Add(time.Duration(i) * times.interval)
		end := begin.Add(times.interval)
		u, rss, err := observe(s.b, end)
		if err != nil {
			return err
		}
		heap, err := s.heap()
		if err != nil {
			return err
		}
		disk, err := size()
		if err != nil {
			return err
		}
		s.mu.Lock()
		if k := times.window(begin); k >= 0 {
			s.windows[k].usage = s.windows[k].usage.add(1, u)
			s.windows[k].rss = max(s.windows[k].rss, rss)
		}
		now, sum := s.now, s.errors
		s.now = histogram{}
		s.mu.Unlock()
		fmt.Fprintf(s.w, "  %8v %8d %6.1f %7.2f %8.2f | %13.0f %6.0f %6.0f %5.1f | %7.0f %5.0f %5.0f %5.1f | %d\n",
			end.Sub(times.begin), now.n, float64(now.n)/times.interval.Seconds(), now.quantile(0.5), now.quantile(0.99),
			100*u.busy(), u.percent(u.server), u.percent(u.client), u.percent(u.steal),
			rss, heap, float64(disk.data)/1e6, float64(disk.log)/1e6, sum-failed)
		failed = sum
	}
	return nil
}

// heap returns the heap of the server in megabytes.
func (s *soak) heap() (float64, error) {
	res, err := s.b.Request(http.MethodGet, "/metrics", "")
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "\ngo_memstats_heap_inuse_bytes ")
	line, _, _ := strings.Cut(rest, "\n")
	value, err := strconv.ParseFloat(line, 64)
	return value / 1e6, err
}
