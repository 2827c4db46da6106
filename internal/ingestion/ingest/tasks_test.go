package ingest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/jobs"
)

func TestScanJobs(t *testing.T) {
	t.Parallel()
	b := newHarness(t, []string{"files"}, func(o *Options) {
		o.Processing.RetryAttempts, o.Processing.RetryDelay = 23, 24*time.Millisecond
	})
	cases := map[string]struct {
		reason, trigger string
		hurry           bool
	}{
		"Scheduled": {"A scheduled scan waits for its turn.", TriggerSchedule, false},
		"Watch":     {"A scan that a watch requests does not shorten the delay between two attempts.", TriggerWatch, false},
		"Manual":    {"A user waits for a scan that they request.", TriggerManual, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := jobs.How{Trigger: tc.trigger, Hurry: tc.hurry, Timeout: time.Minute, Attempts: 24, RetryDelay: 24 * time.Millisecond}
			if diff := cmp.Diff(want, b.how(b.targets[0], tc.trigger)); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}
