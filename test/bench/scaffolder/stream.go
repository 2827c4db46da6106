package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/server"
)

// serveConfig is the environment variable that makes this program run as a
// portal with the talker action, with a configuration.
const serveConfig = "BENCH_SERVE_CONFIG"

const (
	talk = "bench:talk"
	// mark precedes the time at which a line was logged.
	mark = "said at "
	// longestPause is the longest pause between two lines.
	longestPause = 50 * time.Millisecond
)

// talker logs lines at random times, each with its time.
var talker = action.Action{ID: talk, Run: func(ctx context.Context, c *action.Call) error {
	n, err := strconv.Atoi(c.Input.Get("lines").Scalar())
	if err != nil {
		return err
	}
	for range n {
		select {
		case <-time.After(rand.N(longestPause)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		c.Logf("%s%d", mark, time.Now().UnixMicro())
	}
	return nil
}}

// serve runs a portal with the talker until it is told to end.
func serve(path string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	debug.SetGCPercent(200) // This is the setting of portal-backend.
	c, found := config.Load([]string{path}, config.Options{Sections: config.PortalSections})
	for _, f := range found {
		if f.Severity == finding.Error {
			return fmt.Errorf("configuration is invalid: %s", f.Message)
		}
	}
	log := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: c.Backend.LogLevel}))
	p, err := server.New(ctx, server.Options{Config: c, Now: time.Now, Log: log, Actions: []action.Action{talker}})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", net.JoinHostPort(c.Backend.Listen.Host, strconv.Itoa(c.Backend.Listen.Port)))
	if err != nil {
		return errors.Join(err, p.Close())
	}
	return errors.Join(p.Run(ctx, l), p.Close())
}

// follow measures the delay of a line from the action to clients that follow
// the task, which use the replicas in turn.
func (b *bench) follow(engine, database string, replicas int) error {
	var all []*service
	for range replicas {
		s, err := b.begin(b.talking, database, *streams)
		if err != nil {
			return err
		}
		defer b.end(s)
		all = append(all, s)
	}
	text := fmt.Sprintf(`{"apiVersion":"scaffolder.portal.io/v1beta3","kind":"Template","metadata":{"name":"talk"},"spec":{"type":"x",`+
		`"steps":[{"id":"talk","name":"talk","action":%q,"input":{"lines":%d}}]}}`+"\n", talk, *lines)
	if err := all[0].ask(http.MethodPut, "/api/catalog/providers/bench/entities", text, nil); err != nil {
		return err
	}
	took, errs := make([][]time.Duration, *streams), make([]error, *streams)
	var wg sync.WaitGroup
	for i := range *streams {
		wg.Go(func() {
			s := all[i%replicas]
			id, err := s.make("talk", "{}")
			if err == nil {
				took[i], err = s.listen(id)
			}
			if err == nil && len(took[i]) != *lines {
				err = fmt.Errorf("of %d lines %d were received", *lines, len(took[i]))
			}
			errs[i] = err
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	var lines []time.Duration
	for _, t := range took {
		lines = append(lines, t...)
	}
	fmt.Fprintf(b.w, "%s: %d streams, %d lines, from the action to who follows: %s (wanted p99 %v)\n",
		engine, *streams, len(lines), told(lines), wantedLatency)
	return nil
}

// listen follows a task until it ends, and returns the delay of each line.
func (s *service) listen(id string) (took []time.Duration, err error) {
	resp, err := s.Request(http.MethodGet, "/api/scaffolder/v2/tasks/"+id+"/eventstream", "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	for in := bufio.NewReader(resp.Body); ; {
		line, err := in.ReadString('\n')
		now := time.Now()
		if errors.Is(err, io.EOF) {
			return took, errors.New("stream ended before the task did")
		}
		if err != nil {
			return took, err
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type string
			Body struct{ Message string }
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return took, err
		}
		if e.Type == "completion" {
			return took, nil
		}
		if at, ok := strings.CutPrefix(e.Body.Message, mark); ok {
			micro, err := strconv.ParseInt(at, 10, 64)
			if err != nil {
				return took, err
			}
			took = append(took, now.Sub(time.UnixMicro(micro)))
		}
	}
}
