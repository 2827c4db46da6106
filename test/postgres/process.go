package postgres

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
	startWithin = 2 * time.Minute
	stopWithin  = 30 * time.Second
)

// folder begins the name of a server's folder, and abandoned is after how long
// one that nobody has is removed: that of a test that was killed.
const (
	folder    = "ingestor-postgres-"
	abandoned = 24 * time.Hour
)

// ready is what a server says when it is.
const ready = "database system is ready to accept connections"

// process is a running server. A nil process has ended.
type process struct {
	cmd *exec.Cmd
	// begun has the outcome of starting it, ended is closed when err is set.
	begun, ended chan error
	err          error
	// killed tells that it was not given the chance to end well.
	killed bool
}

// start starts the program and waits until it is ready. What it wrote to its
// log is shown if it does not get there.
func start(bin string, args []string, o *owner, log string) (*process, error) {
	p := &process{cmd: exec.Command(bin, args...), begun: make(chan error, 1), ended: make(chan error)}
	p.cmd.Dir = filepath.Dir(log)
	p.cmd.Env = append(environ(), "LC_ALL=C.UTF-8")
	o.run(p.cmd)
	// If this process dies, the server ends at once.
	p.cmd.SysProcAttr.Pdeathsig = syscall.SIGQUIT
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot start PostgreSQL: %w", err)
	}
	go p.run(out)
	select {
	case err = <-p.begun:
		if err == nil {
			return p, nil
		}
	case <-p.ended:
		err = p.err
	case <-time.After(startWithin):
		err = fmt.Errorf("it was not ready after %v", startWithin)
		p.kill()
	}
	return nil, fmt.Errorf("cannot start PostgreSQL: %w%s", err, tail(log))
}

// run runs the server until it ends. It keeps to one thread of the system,
// because it is the end of the thread that began it which ends the server.
func (p *process) run(log io.WriteCloser) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.ended)
	defer func() { _ = log.Close() }()
	stderr, err := p.cmd.StderrPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		p.err = err
		return
	}
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fmt.Fprintln(log, lines.Text())
		if strings.Contains(lines.Text(), ready) {
			p.begun <- nil
			break
		}
	}
	_, _ = io.Copy(log, stderr)
	p.err = p.cmd.Wait()
	if p.err == nil {
		p.err = io.EOF
	}
}

// stop ends the server in its own way, if it runs. An error means that it had
// to be killed.
func (p *process) stop() error {
	if p == nil || p.killed {
		return nil
	}
	// The quick way: connections are closed by the server.
	_ = p.cmd.Process.Signal(syscall.SIGINT)
	select {
	case <-p.ended:
		return nil
	case <-time.After(stopWithin):
		p.kill()
		return fmt.Errorf("cannot stop PostgreSQL: it still ran after %v", stopWithin)
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
		// A server that runs writes to it now and then.
		info, err := os.Stat(filepath.Join(dir, "data", "postmaster.pid"))
		if err != nil {
			info, err = os.Stat(dir)
		}
		if err == nil && time.Since(info.ModTime()) > abandoned {
			_ = os.RemoveAll(dir)
		}
	}
}
