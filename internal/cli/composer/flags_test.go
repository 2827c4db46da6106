package composer

import (
	"strings"
	"testing"

	"example.dev/ingestor/internal/app"
)

// TestFlagsWrong checks that invalid flags of every command are reported before
// anything is done.
func TestFlagsWrong(t *testing.T) {
	config := write(t, "app-config.yaml", "composerIngestor:\n  cluster: []\n")
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"Unknown":    {"An unknown flag is refused.", []string{"export", "--frob"}, "unknown flag --frob\n  see composer-ingestor export --help"},
		"Timeout":    {"A timeout of zero is refused.", []string{"discover", "--timeout", "0s"}, "cannot use timeout 0s"},
		"Words":      {"An unknown vocabulary is refused.", []string{"discover", "--words", "klingon"}, "cannot use words"},
		"Quiet":      {"--quiet and --debug exclude each other.", []string{"discover", "--quiet", "--debug"}, "cannot use --quiet and --debug together"},
		"Config":     {"A mistake in the configuration has its position.", []string{"discover", "--config", config}, config + ":2:3: error: "},
		"ConfigGone": {"A missing configuration is reported.", []string{"validate", "--xrd", "x.yaml", "--config", config + "x"}, "cannot read the configuration file"},
		"Format":     {"export has only one format.", []string{"export", "--format", "json"}, `cannot use --format "json": want catalog`},
		"Selector":   {"An invalid selector is refused.", []string{"discover", "--selector", "a in b"}, "cannot read selector"},
		"Pattern":    {"An invalid pattern is refused.", []string{"discover", "--name-pattern", "("}, "cannot use name pattern"},
		"FileThere":  {"A file cannot be read from a cluster.", []string{"validate", "--context", "x", "--xrd", "a.yaml"}, `cannot read "a.yaml" from a cluster`},
		"Explain":    {"explain needs a definition.", []string{"explain"}, "cannot explain 0 definitions"},
		"ExplainTwo": {"explain accepts only one definition.", []string{"explain", "a", "b"}, "cannot explain 2 definitions"},
		"Stdout":     {"Only one destination can be given.", []string{"transform", "--xrd", "a.yaml", "--stdout", "--output", "x"}, "cannot use --stdout and --output together"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, notes, code := run(t, tc.args...)
			if code != app.ExitUsage || out != "" || !strings.Contains(notes, tc.want) {
				t.Errorf("%s: exit code is %d, standard output %q, standard error %q; want it to contain %q", tc.reason, code, out, notes, tc.want)
			}
		})
	}
}
