package render

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// limit limits the memory of a process. Beyond it, allocations fail, and the Go runtime
// of the process ends it.
func limit(pid int, memory int64) error {
	most := unix.Rlimit{Cur: uint64(memory), Max: uint64(memory)} //nolint:gosec // A configured size is positive.
	return unix.Prlimit(pid, unix.RLIMIT_DATA, &most, nil)
}

// killed reports whether a process was killed, as the kernel does if memory is exhausted.
func killed(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == unix.SIGKILL
}
