package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestClaim(t *testing.T) {
	const theirs = "theirs.txt"
	cases := map[string]struct {
		reason    string
		temporary bool
		// make makes what is in the folder before.
		make func(t *testing.T, dir string)
		want string
	}{
		"Missing":       {"a folder is made", true, func(*testing.T, string) {}, ""},
		"Empty":         {"nothing is lost with an empty one", true, mkdir, ""},
		"Again":         {"a server may come back to its folder", true, used, ""},
		"Theirs":        {"what is somebody's stays", true, func(t *testing.T, dir string) { put(t, dir, theirs) }, "not empty"},
		"TheirLock":     {"whatever it is called", true, func(t *testing.T, dir string) { put(t, dir, "lock") }, "not empty"},
		"Lasting":       {"a server that was to stay has things there", true, lasting, "not empty"},
		"Held":          {"another server works there", true, held, "another devcluster"},
		"File":          {"a file is no folder", true, func(t *testing.T, dir string) { put(t, filepath.Dir(dir), filepath.Base(dir)) }, "cannot use the folder"},
		"LastingTheirs": {"one that stays takes any folder", false, func(t *testing.T, dir string) { put(t, dir, theirs) }, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "dir")
			tc.make(t, dir)
			before := names(dir)
			f, err := Claim(dir, tc.temporary)
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Fatalf("%s: got %v, want an error that says %q", tc.reason, err, tc.want)
				}
				if after := names(dir); after != before {
					t.Errorf("%s: the folder has %q, had %q", tc.reason, after, before)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			defer f.Leave()
			err = f.Remove()
			if _, statErr := os.Stat(dir); tc.temporary != (err == nil) || tc.temporary != os.IsNotExist(statErr) {
				t.Errorf("%s: removed with %v, and then %v", tc.reason, err, statErr)
			}
		})
	}
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, dir, name string) {
	t.Helper()
	mkdir(t, dir)
	if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// used is the folder of a temporary server that has ended, lasting that of one
// that stays, and held that of a temporary one that runs.
func used(t *testing.T, dir string) {
	t.Helper()
	claim(t, dir, true).Leave()
	put(t, dir, "kubeconfig")
}

func lasting(t *testing.T, dir string) {
	t.Helper()
	claim(t, dir, false).Leave()
}

func held(t *testing.T, dir string) {
	t.Helper()
	t.Cleanup(claim(t, dir, true).Leave)
}

func claim(t *testing.T, dir string, temporary bool) *Folder {
	t.Helper()
	f, err := Claim(dir, temporary)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// names are what is in a folder.
func names(dir string) string {
	all, _ := filepath.Glob(filepath.Join(dir, "*"))
	return strings.Join(all, " ")
}
