// Package process runs programs for tests: one that is started here ends at the
// latest with the process that runs the test, however that ends, and what it
// says is kept.
package process

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// Process is a program that was started. A nil Process has ended. Its methods
// are for any number of goroutines.
type Process struct {
	cmd *exec.Cmd
	// ended is closed when err is set.
	ended chan struct{}
	err   error
}

// Start starts a program. If cmd does not say which signal it gets when whoever
// started it is gone, it is killed.
func Start(cmd *exec.Cmd) (*Process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	if cmd.SysProcAttr.Pdeathsig == 0 {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
	p := &Process{cmd: cmd, ended: make(chan struct{})}
	begun := make(chan error)
	go func() {
		// It is the end of the thread that began it which ends the program.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.ended)
		err := cmd.Start()
		begun <- err
		if err == nil {
			p.err = cmd.Wait()
		}
	}()
	if err := <-begun; err != nil {
		return nil, err
	}
	return p, nil
}

// Ended is closed when the program has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Err waits until the program has ended and says how; nil is well.
func (p *Process) Err() error {
	<-p.ended
	return p.err
}

// PID is the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal tells the program something, if it runs.
func (p *Process) Signal(s os.Signal) {
	if p != nil {
		_ = p.cmd.Process.Signal(s)
	}
}

// Kill ends the program at once, as kill -9 does.
func (p *Process) Kill() {
	if p != nil {
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// Stop asks the program to end with signals, if it runs, and waits for that. An
// error means that it had to be killed.
func (p *Process) Stop(within time.Duration, signals ...os.Signal) error {
	if p == nil {
		return nil
	}
	for _, s := range signals {
		p.Signal(s)
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(within):
		p.Kill()
		return fmt.Errorf("it still ran after %v", within)
	}
}

// Await waits until a program has said that it is ready. One that does not get
// there is killed, and the error has the end of what it said.
func (p *Process) Await(log *Log, ready string, within time.Duration) error {
	var err error
	select {
	case <-log.Said(ready):
		return nil
	case <-p.ended:
		if err = p.err; err == nil {
			err = errors.New("it ended by itself")
		}
	case <-time.After(within):
		p.Kill()
		err = fmt.Errorf("it was not ready after %v", within)
	}
	return fmt.Errorf("%w\nthe end of its log:\n%s", err, log.Tail())
}

// FreePort returns a port nobody listens on. Somebody else may take it before a
// program does.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// abandoned is after how long a folder that nobody has is removed.
const abandoned = 24 * time.Hour

// RemoveAbandoned removes temporary folders of tests that were killed, whose
// names begin in the same way. A file in them, if one is named, is written to
// while they are in use. It is a favour: what cannot be removed stays.
func RemoveAbandoned(prefix, used string) {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, dir := range dirs {
		info, err := os.Stat(filepath.Join(dir, used))
		if err != nil {
			info, err = os.Stat(dir)
		}
		if err == nil && time.Since(info.ModTime()) > abandoned {
			_ = os.RemoveAll(dir)
		}
	}
}
