package apiserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	// startWithin is long, as several servers may start at once on a machine
	// with two CPUs.
	startWithin = 2 * time.Minute
	stopWithin  = 30 * time.Second
)

// process is a running devcluster. A nil process has ended.
type process struct {
	cmd *exec.Cmd
	// stdin is open as long as this process lives; the server watches it.
	stdin  io.Closer
	stderr bytes.Buffer
	// ended is closed when err is set.
	ended chan struct{}
	err   error
	// killed means that the process did not shut down gracefully.
	killed bool
}

// start starts the program and waits until it is ready. If it does not become
// ready, the error includes the end of its log.
func start(bin string, args []string, log string) (*process, error) {
	p := &process{cmd: exec.Command(bin, args...), ended: make(chan struct{})}
	p.cmd.Stderr = &p.stderr
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("cannot start a cluster: %w", err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("cannot start a cluster: %w", err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start a cluster: %w", err)
	}
	ready := make(chan struct{})
	go p.follow(stdout, ready)
	select {
	case <-ready:
		return p, nil
	case <-p.ended:
		err = p.failure()
	case <-time.After(startWithin):
		err = fmt.Errorf("cluster was not ready after %v", startWithin)
		p.kill()
	}
	return nil, fmt.Errorf("cannot start a cluster: %w%s", err, tail(log))
}

// follow reads the output of the program until it ends. The first line means
// that it is ready.
func (p *process) follow(stdout io.Reader, ready chan<- struct{}) {
	lines := bufio.NewScanner(stdout)
	if lines.Scan() {
		close(ready)
	}
	_, _ = io.Copy(io.Discard, stdout)
	p.err = p.cmd.Wait()
	close(p.ended)
}

// stop shuts the process down, if it runs. An error means that it had failed,
// or that it had to be killed.
func (p *process) stop() error {
	if p == nil || p.killed {
		return nil
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(stopWithin):
		p.kill()
		return fmt.Errorf("cannot stop the cluster: it still ran after %v", stopWithin)
	}
	_ = p.stdin.Close()
	if p.err != nil {
		return fmt.Errorf("cannot stop the cluster: %w", p.failure())
	}
	return nil
}

// kill kills the process.
func (p *process) kill() {
	p.killed = true
	_ = p.cmd.Process.Kill()
	<-p.ended
	_ = p.stdin.Close()
}

// failure returns how the process ended. It is called after that.
func (p *process) failure() error {
	if said := strings.TrimSpace(p.stderr.String()); said != "" {
		return errors.New(said)
	}
	if p.err == nil {
		return errors.New("process stopped by itself")
	}
	return p.err
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
