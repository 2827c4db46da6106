package server

import (
	"flag"
	"fmt"
	"os"

	"k8s.io/klog/v2"
)

// logFile is where everything is written that the API server, etcd and the
// controllers have to say, seen from the folder of the cluster. It begins anew
// with each start.
const logFile = "devcluster.log"

// logToFile turns everything these libraries write into the log. Some of them
// took hold of os.Stderr before main began, so what it points to is replaced.
// A panic still reaches the real standard error.
func (s *Server) logToFile() error {
	f, err := os.OpenFile(logFile, os.O_CREATE|os.O_TRUNC|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("cannot write the log: %w", err)
	}
	stderr := *os.Stderr
	*os.Stderr = *f
	klog.OsExit = func(int) {
		if s.stopping.Load() {
			// A part that is stopped while it starts takes that for the end of
			// the world. Stop ends the process.
			select {}
		}
		fmt.Fprintf(&stderr, "devcluster: cannot go on; see the end of %s in its folder\n", logFile)
		os.Exit(1)
	}
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "true", "one_output": "true"} {
		if err := flags.Set(name, value); err != nil {
			return fmt.Errorf("cannot set up the log: %w", err)
		}
	}
	return nil
}
