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
		// make creates the initial contents of the folder.
		make func(t *testing.T, dir string)
		want string
	}{
		"Missing":       {"A missing folder is created.", true, func(*testing.T, string) {}, ""},
		"Empty":         {"An empty folder can be used.", true, mkdir, ""},
		"Again":         {"A server can use its folder again.", true, used, ""},
		"Theirs":        {"A folder with files of others is refused.", true, func(t *testing.T, dir string) { put(t, dir, theirs) }, "not empty"},
		"TheirLock":     {"A folder with a file named lock is refused too.", true, func(t *testing.T, dir string) { put(t, dir, "lock") }, "not empty"},
		"Lasting":       {"The folder of a permanent server is refused.", true, claimAndLeave, "not empty"},
		"Held":          {"A folder that another server uses is refused.", true, claimForTest, "another devcluster"},
		"File":          {"A file is not a folder.", true, func(t *testing.T, dir string) { put(t, filepath.Dir(dir), filepath.Base(dir)) }, "cannot use the folder"},
		"LastingTheirs": {"A permanent server can use any folder.", false, func(t *testing.T, dir string) { put(t, dir, theirs) }, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "dir")
			tc.make(t, dir)
			before := names(dir)
			f, err := Claim(dir, tc.temporary)
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Fatalf("%s: got %v, want an error with %q", tc.reason, err, tc.want)
				}
				if after := names(dir); after != before {
					t.Errorf("%s: folder contains %q, had %q", tc.reason, after, before)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			defer f.Leave()
			err = f.Remove()
			if _, statErr := os.Stat(dir); tc.temporary != (err == nil) || tc.temporary != os.IsNotExist(statErr) {
				t.Errorf("%s: Remove returned %v, and then the folder: %v", tc.reason, err, statErr)
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

// used creates the folder of a temporary server that has ended,
// claimAndLeave that of a permanent server, and claimForTest that of a running
// temporary one.
func used(t *testing.T, dir string) {
	t.Helper()
	claim(t, dir, true).Leave()
	put(t, dir, "kubeconfig")
}

func claimAndLeave(t *testing.T, dir string) {
	t.Helper()
	claim(t, dir, false).Leave()
}

func claimForTest(t *testing.T, dir string) {
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

// names returns the names of the files in a folder.
func names(dir string) string {
	all, _ := filepath.Glob(filepath.Join(dir, "*"))
	return strings.Join(all, " ")
}
