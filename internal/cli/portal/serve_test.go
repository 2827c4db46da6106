package portal

import (
	"bytes"
	"log/slog"
	"testing"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/output"
)

// TestLogLevel checks which level the server logs at.
func TestLogLevel(t *testing.T) {
	cases := map[string]struct {
		reason  string
		verbose bool
		flag    string
		debug   bool // whether debug lines are logged
		fails   bool
	}{
		"Configured": {reason: "Without flags the level of the configuration is used."},
		"Verbose":    {reason: "With --verbose debug lines are logged.", verbose: true, debug: true},
		"Debug":      {reason: "With --log-level debug debug lines are logged.", flag: "debug", debug: true},
		"Both":       {reason: "The two may say the same.", verbose: true, flag: "debug", debug: true},
		"Conflict":   {reason: "The two may not contradict each other.", verbose: true, flag: "warn", fails: true},
		"Unknown":    {reason: "An unknown level is refused.", flag: "loud", fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var notes bytes.Buffer
			s := &serving{level: tc.flag, format: "json", voice: &output.Output{Verbose: tc.verbose, Env: &app.Env{Stderr: &notes}}}
			err := s.check()
			if (err != nil) != tc.fails {
				t.Fatalf("%s: flags return %v", tc.reason, err)
			}
			if err != nil {
				return
			}
			log, err := s.logger(slog.LevelInfo)
			if err != nil {
				t.Fatal(err)
			}
			log.Debug("detail")
			if got := notes.Len() > 0; got != tc.debug {
				t.Errorf("%s: debug line logged: %v, want %v", tc.reason, got, tc.debug)
			}
		})
	}
}
