package composer

import (
	"strings"
	"testing"

	"example.dev/ingestor/internal/app"
)

// TestFlagsWrong wants what is wrong with the flags of every command told
// before anything is done.
func TestFlagsWrong(t *testing.T) {
	config := write(t, "app-config.yaml", "composerIngestor:\n  cluster: []\n")
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"Unknown":    {"a flag that there is not", []string{"export", "--frob"}, "unknown flag: --frob\n  see composer-ingestor export --help"},
		"Timeout":    {"no call takes no time", []string{"discover", "--timeout", "0s"}, "cannot use timeout 0s"},
		"Words":      {"no other words", []string{"discover", "--words", "klingon"}, "cannot use words"},
		"Quiet":      {"either quiet or not", []string{"discover", "--quiet", "--debug"}, "cannot use --quiet and --debug together"},
		"Config":     {"a mistake in the configuration has its place", []string{"discover", "--config", config}, config + ":2:3: error: "},
		"ConfigGone": {"one that is not there too", []string{"validate", "--xrd", "x.yaml", "--config", config + "x"}, "cannot read the configuration file"},
		"Format":     {"export has one format", []string{"export", "--format", "json"}, `cannot use --format "json": want catalog`},
		"Selector":   {"a selector is one", []string{"discover", "--selector", "a in b"}, "cannot read selector"},
		"Pattern":    {"a pattern is one", []string{"discover", "--name-pattern", "("}, "cannot use name pattern"},
		"FileThere":  {"files are not in clusters", []string{"validate", "--context", "x", "--xrd", "a.yaml"}, `cannot read "a.yaml" from a cluster`},
		"Explain":    {"one thing is explained", []string{"explain"}, "cannot explain 0 definitions"},
		"ExplainTwo": {"not two", []string{"explain", "a", "b"}, "cannot explain 2 definitions"},
		"Stdout":     {"one place to write to", []string{"transform", "--xrd", "a.yaml", "--stdout", "--output", "x"}, "cannot use --stdout and --output together"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, notes, code := run(t, tc.args...)
			if code != app.ExitUsage || out != "" || !strings.Contains(notes, tc.want) {
				t.Errorf("%s: exit code %d, standard output %q, standard error %q; want %q in it", tc.reason, code, out, notes, tc.want)
			}
		})
	}
}
