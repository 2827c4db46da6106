package service_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestTwoProcessesOneFile checks that a second process does not start on the
// same SQLite database, under any name of the file, and that one starts after
// the first was killed.
func TestTwoProcessesOneFile(t *testing.T) {
	t.Parallel()
	s := setup{}
	first := launch(t, s.onFile(t)).ready()
	second := launch(t, s)
	select {
	case <-second.Ended():
	case <-time.After(patience):
		t.Fatal("second process still runs, want it to end")
	}
	path := s.file()
	want := fmt.Sprintf("portal-backend: cannot open the database %s: in use by process %d on host ", path, first.PID())
	exit, ok := errors.AsType[*exec.ExitError](second.Err())
	if log := second.log.String(); !ok || exit.ExitCode() != 1 || !strings.Contains(log, want) || !strings.Contains(log, "\n  stop that process, or set backend.database.connection") {
		t.Errorf("second process ended with %v and logged\n%s\nwant %q", second.Err(), log, want)
	}
	first.answers()
	first.stop()
	third := launch(t, s).ready()
	if _, err := third.ask(http.MethodGet, "/api/catalog/entities", nil, nil); err != nil {
		t.Error(err)
	}
}

// onFile makes all processes of the setup use one SQLite database.
func (s *setup) onFile(t *testing.T) setup {
	t.Helper()
	s.database = sections{"client": "sqlite", "connection": sections{"filename": filepath.Join(t.TempDir(), "portal.sqlite")}}
	return *s
}

// file returns the path of that database.
func (s *setup) file() string {
	return s.database.(sections)["connection"].(sections)["filename"].(string)
}

// TestStopResetsNobody checks that a stopping process resets no connection.
// Clients send requests over keep-alive connections while the process is told
// to stop; each is told that its connection closes, and no request fails.
func TestStopResetsNobody(t *testing.T) {
	t.Parallel()
	p := launch(t, setup{}).ready()
	at := strings.TrimPrefix(p.base, "http://")
	const clients = 16
	var asked, told atomic.Int64
	var wg sync.WaitGroup
	for n := range clients {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			defer conn.Close() //nolint:errcheck // it is over
			answers := bufio.NewReader(conn)
			for {
				if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
					t.Error(err)
					return
				}
				// Some clients pause between requests.
				time.Sleep(time.Duration(n) * 10 * time.Millisecond)
				asked.Add(1)
				_, err := fmt.Fprintf(conn, "GET /api/catalog/entities?filter=kind=none HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", at, theToken)
				if err != nil {
					t.Errorf("client %d: cannot send a request: %v", n, err)
					return
				}
				res, err := http.ReadResponse(answers, nil)
				if err != nil {
					t.Errorf("client %d: cannot read a response: %v", n, err)
					return
				}
				if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
					t.Errorf("client %d: response was %s, %v", n, res.Status, err)
					return
				}
				if res.Close {
					told.Add(1)
					return
				}
			}
		})
	}
	for asked.Load() < 20*clients {
		time.Sleep(time.Millisecond)
	}
	p.Signal(syscall.SIGTERM)
	wg.Wait()
	if told.Load() != clients {
		t.Errorf("%d of %d clients were told that their connection closes", told.Load(), clients)
	}
	if err := p.Err(); err != nil {
		t.Errorf("process ended with %v, want no error", err)
	}
	t.Logf("clients sent %d requests", asked.Load())
}
