// Package process runs programs for tests. A program ends at the latest with
// the test process, however that ends, and its output is kept.
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

// Process is a started program. A nil Process has ended. Its methods can be
// called concurrently.
type Process struct {
	cmd *exec.Cmd
	// ended is closed when err is set.
	ended chan struct{}
	err   error
}

// Start starts a program. Unless cmd sets another signal for it, the program is
// killed when its parent process ends.
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
		// The program is signalled when the thread that started it ends, so the
		// thread must live as long as the program.
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

// Err waits until the program has ended, and returns its error, nil on success.
func (p *Process) Err() error {
	<-p.ended
	return p.err
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends a signal to the program, if it runs.
func (p *Process) Signal(s os.Signal) {
	if p != nil {
		_ = p.cmd.Process.Signal(s)
	}
}

// Kill kills the program, like kill -9, and waits for its end.
func (p *Process) Kill() {
	if p != nil {
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// Stop sends signals to the program, if it runs, and waits for its end. An
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
		return fmt.Errorf("program still ran after %v", within)
	}
}

// Await waits until the output of a program contains a text. A program that
// ends before, or does not become ready in time, is killed, and the error
// includes the end of its output.
func (p *Process) Await(log *Log, ready string, within time.Duration) error {
	var err error
	select {
	case <-log.Said(ready):
		return nil
	case <-p.ended:
		if err = p.err; err == nil {
			err = errors.New("program ended by itself")
		}
	case <-time.After(within):
		p.Kill()
		err = fmt.Errorf("program was not ready after %v", within)
	}
	return fmt.Errorf("%w\nthe end of its log:\n%s", err, log.Tail())
}

// FreePort returns a port without a listener. Another process may take it
// before a program does.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// abandoned is the age at which an unused folder is removed.
const abandoned = 24 * time.Hour

// RemoveAbandoned removes temporary folders of killed tests whose names have a
// prefix. If used is not empty, it names a file in them that is written to
// while they are in use. Folders that cannot be removed are ignored.
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
