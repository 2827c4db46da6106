package server

import (
	"flag"
	"fmt"
	"os"

	"k8s.io/klog/v2"
)

// logFile has the logs of the API server, etcd and the controllers, relative to
// the folder of the cluster. It is truncated at each start.
const logFile = "devcluster.log"

// logToFile redirects the output of these libraries to the log. Some of them
// use os.Stderr before main begins, so the file behind it is replaced. A panic
// still reaches the real standard error.
func (s *Server) logToFile() error {
	f, err := os.OpenFile(logFile, os.O_CREATE|os.O_TRUNC|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("cannot write the log: %w", err)
	}
	stderr := *os.Stderr
	*os.Stderr = *f
	klog.OsExit = func(int) {
		if s.stopping.Load() {
			// A component that is stopped during its start treats that as
			// fatal. Stop ends the process.
			select {}
		}
		fmt.Fprintf(&stderr, "devcluster: fatal error; see the end of %s in its folder\n", logFile)
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
