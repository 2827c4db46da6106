package service_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/internal/ingestion/health"
	"example.dev/ingestor/test/gitserver"
)

// alone is one file with one definition.
var alone = map[string]string{"alphas.yaml": definition("alphas", "one")}

// sourceKeys has the keys that decide what is read, and when.
var sourceKeys = map[string]keyed{
	"Enabled": {
		reason: "A disabled variant reads nothing.",
		keys:   []string{"composerIngestor.enabled"},
		files:  alone, composer: sections{"enabled": false},
		check: func(t *testing.T, s *service, _ string) {
			if h := s.health(); len(h.Sources) != 0 || h.Status != health.Healthy {
				t.Errorf("sources are %+v, want none", h.Sources)
			}
			s.waitForRefs("")
		},
	},
	"File": {
		reason: "A folder is read with its subfolders, and the source has the configured name.",
		keys: []string{
			"composerIngestor.sources", "composerIngestor.sources[].name", "composerIngestor.sources[].type", "composerIngestor.sources[].path",
		},
		files: map[string]string{"a/alphas.yaml": definition("alphas", "one"), "b/betas.yaml": definition("betas", "one")},
		with: func(_ *testing.T, dir string) (sections, sections) {
			return sections{"sources": []any{sections{"name": "mine", "type": "file", "path": filepath.Join(dir, "a")}}}, nil
		},
		check: func(t *testing.T, s *service, _ string) {
			s.waitForRefs("", entities("alphas")...)
			if h := s.health(); len(h.Sources) != 1 || h.Sources[0].Name != "composerIngestor/sources/mine" {
				t.Errorf("sources are %+v, want composerIngestor/sources/mine", h.Sources)
			}
		},
	},
	"NotRecursive": {
		reason: "Subfolders are not read if recursion is disabled.",
		keys:   []string{"composerIngestor.sources[].recursive"},
		files:  map[string]string{"alphas.yaml": definition("alphas", "one"), "below/betas.yaml": definition("betas", "one")},
		with: func(_ *testing.T, dir string) (sections, sections) {
			return sections{"sources": []any{sections{"name": "files", "type": "file", "path": dir, "recursive": false}}}, nil
		},
		check: func(_ *testing.T, s *service, _ string) {
			s.waitForRefs("", entities("alphas")...)
			s.scan("")
			s.waitForRefs("", entities("alphas")...)
		},
	},
	"Watch": {
		reason: "Files are watched, so a change does not wait for the schedule.",
		keys:   []string{"composerIngestor.watch"},
		files:  alone, composer: sections{"watch": true},
		check: func(t *testing.T, s *service, dir string) {
			s.waitForRefs("", entities("alphas")...)
			put(t, filepath.Join(dir, "below", "betas.yaml"), definition("betas", "one"))
			s.waitForRefs("", entities("alphas", "betas")...)
			if err := os.Remove(filepath.Join(dir, "alphas.yaml")); err != nil {
				t.Fatal(err)
			}
			s.waitForRefs("", entities("betas")...)
			s.wantHealth(health.Healthy, nil)
		},
	},
	"NotWatched": {
		reason: "Without a watch, a change waits for the next scan.",
		keys:   []string{"composerIngestor.watch"},
		files:  alone,
		check: func(t *testing.T, s *service, dir string) {
			s.waitForRefs("", entities("alphas")...)
			put(t, filepath.Join(dir, "betas.yaml"), definition("betas", "one"))
			time.Sleep(time.Second)
			s.waitForRefs("", entities("alphas")...)
			s.scan("composerIngestor/sources/files")
			s.waitForRefs("", entities("alphas", "betas")...)
		},
	},
	"Frequency": {
		reason: "The schedule finds changes that no watch reported.",
		keys:   []string{"composerIngestor.schedule.frequency"},
		files:  alone, composer: sections{"schedule": sections{"frequency": "1s", "timeout": "30s"}},
		check: func(t *testing.T, s *service, dir string) {
			s.waitForRefs("", entities("alphas")...)
			before := s.entity(template("alphas"))
			put(t, filepath.Join(dir, "betas.yaml"), definition("betas", "one"))
			s.waitForRefs("", entities("alphas", "betas")...)
			if after := s.entity(template("alphas")); after.Metadata.ETag != before.Metadata.ETag || after.Metadata.UID != before.Metadata.UID {
				t.Error("unchanged entity was written")
			}
		},
	},
	"Timeout": {
		reason: "A scan of a cluster that does not respond ends at its timeout.",
		keys:   []string{"composerIngestor.schedule.timeout"},
		files:  alone,
		with: func(t *testing.T, _ string) (sections, sections) {
			return sections{
				"schedule": sections{"frequency": "1h", "timeout": "1s"}, "processing": sections{"retryAttempts": 0},
				"clusters": []any{sections{"name": "mute", "url": startSilentServer(t), "authProvider": "token", "token": "a-token", "skipTLSVerify": true}},
			}, nil
		},
		check: func(_ *testing.T, s *service, _ string) {
			s.wantHealth(health.Degraded, map[string]string{"mute": "timeout"})
			s.waitForRefs("", entities("alphas")...)
		},
	},
	"Git": {
		reason: "A repository is read at the configured branch and below the configured folder; a new commit is ingested on the schedule.",
		keys: []string{
			"composerIngestor.sources[].type", "composerIngestor.sources[].repo", "composerIngestor.sources[].branch", "composerIngestor.sources[].path",
		},
		with: func(t *testing.T, dir string) (sections, sections) {
			commit(t, dir, "main", map[string]string{"defs/gammas.yaml": definition("gammas", "one")})
			commit(t, dir, "release", map[string]string{"defs/alphas.yaml": definition("alphas", "one"), "other/deltas.yaml": definition("deltas", "one")})
			// The default branch of the repository is another one.
			commit(t, dir, "main", map[string]string{"defs/epsilons.yaml": definition("epsilons", "one")})
			return sections{
				"schedule": sections{"frequency": "1s", "timeout": "30s"},
				"sources":  []any{sections{"name": "repo", "type": "git", "repo": "file://" + dir, "branch": "release", "path": "defs"}},
			}, nil
		},
		check: func(t *testing.T, s *service, dir string) {
			s.waitForRefs("", append(entities("alphas"), entities("gammas")...)...)
			commit(t, dir, "release", map[string]string{"defs/betas.yaml": definition("betas", "one")})
			s.waitForRefs("", append(entities("alphas", "betas"), entities("gammas")...)...)
			s.wantHealth(health.Healthy, nil)
		},
	},
	"GitOverHTTPS": {
		reason: "A repository that needs a password and a custom certificate authority is read with them.",
		keys: []string{
			"composerIngestor.sources[].username", "composerIngestor.sources[].tokenFile", "composerIngestor.sources[].caFile",
		},
		with: func(t *testing.T, dir string) (sections, sections) {
			commit(t, filepath.Join(dir, "defs"), "main", alone)
			farm := httptest.NewTLSServer(gitserver.Basic("robot", "a-secret-of-the-tests")(gitserver.Handler(t, dir)))
			t.Cleanup(farm.Close)
			token, ca := filepath.Join(t.TempDir(), "token"), filepath.Join(t.TempDir(), "ca.pem")
			put(t, token, "a-secret-of-the-tests\n")
			put(t, ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: farm.Certificate().Raw})))
			return sections{"sources": []any{sections{
				"name": "repo", "type": "git", "repo": farm.URL + "/defs/.git", "username": "robot", "tokenFile": token, "caFile": ca,
			}}}, nil
		},
		check: func(t *testing.T, s *service, _ string) {
			s.waitForRefs("", entities("alphas")...)
			if strings.Contains(s.log.String(), "a-secret-of-the-tests") {
				t.Error("log contains the token of the repository")
			}
		},
	},
}

func TestSourceKeys(t *testing.T) { keep(t, sourceKeys) }

// startSilentServer returns the address of a server that accepts requests and never
// responds.
func startSilentServer(t *testing.T) string {
	t.Helper()
	end := make(chan struct{})
	s := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-end:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(end) })
	return s.URL
}

// commit adds files to a branch of the repository in a folder, which is created
// if it does not exist.
func commit(t *testing.T, dir, branch string, files map[string]string) {
	t.Helper()
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=tests", "-c", "user.email=tests@example.org"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	must := func(args ...string) {
		t.Helper()
		if out, err := run(args...); err != nil {
			t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
		}
	}
	gitserver.Need(t)
	if _, err := os.Stat(filepath.Join(dir, ".git")); err != nil {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		must("init", "--quiet", "--initial-branch", branch)
	} else if _, err := run("checkout", "--quiet", branch); err != nil {
		must("checkout", "--quiet", "-b", branch)
	}
	for name, text := range files {
		put(t, filepath.Join(dir, name), text)
	}
	must("add", "--all")
	must("commit", "--quiet", "--message", "change")
}
