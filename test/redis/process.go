package redis

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	// startWithin is generous: several servers may start at once on a machine
	// with two processors.
	startWithin = time.Minute
	stopWithin  = 30 * time.Second
)

// folder begins the name of a server's folder, and abandoned is after how long
// one that nobody has is removed: that of a test that was killed.
const (
	folder    = "ingestor-redis-"
	abandoned = 24 * time.Hour
)

// ready is what a server says when it is.
const ready = "Ready to accept connections"

// process is a running server. A nil process has ended.
type process struct {
	cmd *exec.Cmd
	// begun is closed when it is ready, ended when err is set.
	begun, ended chan struct{}
	err          error
	// killed tells that it was not given the chance to end well.
	killed bool
}

// start starts the program and waits until it is ready. What it wrote to its
// log is shown if it does not get there.
func start(bin, settings, log string) (*process, error) {
	p := &process{cmd: exec.Command(bin, settings), begun: make(chan struct{}), ended: make(chan struct{})}
	p.cmd.Dir = filepath.Dir(log)
	// If this process dies, the server ends at once.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot start Redis: %w", err)
	}
	go p.run(out)
	select {
	case <-p.begun:
		return p, nil
	case <-p.ended:
		err = p.err
	case <-time.After(startWithin):
		err = fmt.Errorf("it was not ready after %v", startWithin)
		p.kill()
	}
	return nil, fmt.Errorf("cannot start Redis: %w%s", err, tail(log))
}

// run runs the server until it ends. It keeps to one thread of the system,
// because it is the end of the thread that began it which ends the server.
func (p *process) run(log io.WriteCloser) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.ended)
	defer func() { _ = log.Close() }()
	p.cmd.Stderr = log
	stdout, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		p.err = err
		return
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		fmt.Fprintln(log, lines.Text())
		if strings.Contains(lines.Text(), ready) {
			close(p.begun)
			break
		}
	}
	_, _ = io.Copy(log, stdout)
	p.err = p.cmd.Wait()
	if p.err == nil {
		p.err = io.EOF
	}
}

// signal tells the server something, if it runs.
func (p *process) signal(s os.Signal) {
	if p != nil {
		_ = p.cmd.Process.Signal(s)
	}
}

// stop ends the server in its own way, if it runs. An error means that it had
// to be killed.
func (p *process) stop() error {
	if p == nil || p.killed {
		return nil
	}
	// One that stands still would not hear.
	p.signal(syscall.SIGCONT)
	p.signal(syscall.SIGTERM)
	select {
	case <-p.ended:
		return nil
	case <-time.After(stopWithin):
		p.kill()
		return fmt.Errorf("cannot stop Redis: it still ran after %v", stopWithin)
	}
}

// kill ends the server at once.
func (p *process) kill() {
	p.killed = true
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// tail returns the last lines of a log.
func tail(log string) string {
	text, err := os.ReadFile(log)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return "\nthe end of its log:\n" + strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// removeAbandoned removes folders of servers whose test was killed. It is a
// favour: what cannot be removed stays.
func removeAbandoned() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), folder+"*"))
	for _, dir := range dirs {
		// No test runs for that long.
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > abandoned {
			_ = os.RemoveAll(dir)
		}
	}
}
