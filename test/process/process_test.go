package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sh starts a shell with a script.
func sh(t *testing.T, script string) (*Process, *Log) {
	t.Helper()
	log := &Log{}
	cmd := exec.Command("sh", "-c", script)
	cmd.Stdout, cmd.Stderr = log, log
	// Programs that a shell has started may outlive it.
	cmd.WaitDelay = time.Second
	p, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p, log
}

func TestStop(t *testing.T) {
	cases := map[string]struct {
		reason, script string
		within         time.Duration
		want           string
	}{
		"Hears": {
			reason: "A program that ends on the signal stops without an error.",
			script: `trap 'exit 0' TERM; echo up; while :; do sleep 0.01; done`, within: time.Minute,
		},
		"Deaf": {
			reason: "A program that ignores the signal is killed, which is an error.",
			script: `trap '' TERM; echo up; while :; do sleep 0.01; done`, within: 50 * time.Millisecond, want: "program still ran after 50ms",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, log := sh(t, tc.script)
			if err := p.Await(log, "up", time.Minute); err != nil {
				t.Fatal(err)
			}
			got := ""
			if err := p.Stop(tc.within, syscall.SIGTERM); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("%s\ngot %q, want %q", tc.reason, got, tc.want)
			}
			select {
			case <-p.Ended():
			default:
				t.Error("process still runs after it was stopped")
			}
		})
	}
}

func TestAwaitSaysWhy(t *testing.T) {
	cases := map[string]struct {
		reason, script string
		within         time.Duration
		want           []string
	}{
		"Fails": {
			reason: "The error has the exit status and the output.",
			script: "echo no such setting; exit 3", within: time.Minute, want: []string{"exit status 3", "no such setting"},
		},
		"EndsWell": {
			reason: "A server that ends without an error before it is ready is an error.",
			script: "echo bye", within: time.Minute, want: []string{"ended by itself", "bye"},
		},
		"Late": {
			reason: "A program that does not become ready in time is killed.",
			script: "echo slow; exec sleep 60", within: 300 * time.Millisecond, want: []string{"not ready after 300ms"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, log := sh(t, tc.script)
			err := p.Await(log, "ready", tc.within)
			for _, want := range tc.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s\ngot %v, want %q", tc.reason, err, want)
				}
			}
			<-p.Ended()
		})
	}
}

func TestStartSaysWhy(t *testing.T) {
	if _, err := Start(exec.Command(filepath.Join(t.TempDir(), "nosuch"))); err == nil {
		t.Error("program that does not exist was started")
	}
}

func TestLog(t *testing.T) {
	log := &Log{}
	said := log.Said("ready to serve")
	write := func(text string) {
		if _, err := log.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	write("not yet rea")
	select {
	case <-said:
		t.Error("channel was closed before the text was written")
	default:
	}
	write("dy to serve\n")
	for _, c := range []<-chan struct{}{said, log.Said("not yet")} {
		select {
		case <-c:
		default:
			t.Error("channel was not closed for a text written in parts or before the call")
		}
	}
	write(strings.Repeat("a line\n", 2000))
	if got := log.Tail(); !strings.HasPrefix(got, "a line\n") || len(got) > 6000 {
		t.Errorf("end of the log has %d bytes and begins with %.10q", len(got), got)
	}
}

func TestRemoveAbandoned(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	old := time.Now().Add(-2 * abandoned)
	for name, file := range map[string]string{"mine-used": "now", "mine-gone": "", "theirs": ""} {
		dir := filepath.Join(os.TempDir(), name)
		if err := os.Mkdir(dir, 0o750); err != nil {
			t.Fatal(err)
		}
		if file != "" {
			if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	RemoveAbandoned("mine-", "now")
	for name, want := range map[string]bool{"mine-used": true, "mine-gone": false, "theirs": true} {
		if _, err := os.Stat(filepath.Join(os.TempDir(), name)); (err == nil) != want {
			t.Errorf("folder %s: %v", name, err)
		}
	}
}
