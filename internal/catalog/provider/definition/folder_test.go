package definition

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStrange checks that links and special files do no harm.
func TestStrange(t *testing.T) {
	w := newWorld(t)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret.yaml"), []byte(component("secret", "x")), 0o600); err != nil {
		t.Fatal(err)
	}
	w.put("a.yaml", component("a", "x"))
	w.put(".data/b.yaml", component("b", "x"))
	w.put(".data/more/c.yaml", component("c", "x"))
	for link, target := range map[string]string{
		"b.yaml": ".data/b.yaml", "more": filepath.Join(w.dir, ".data", "more"), "up": "..", "circle": ".",
		"out.yaml": filepath.Join(outside, "secret.yaml"), "out": outside, "all": "/",
	} {
		if err := os.Symlink(target, filepath.Join(w.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("unix", filepath.Join(w.dir, "socket.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // nothing was sent
	w.refresh()
	w.want("links are followed only inside the folder", 0, "a", "b", "c")
	if err := os.Symlink("nowhere.yaml", filepath.Join(w.dir, "d.yaml")); err != nil {
		t.Fatal(err)
	}
	w.put("a.yaml", "")
	w.refresh()
	w.want("a broken link may have led to any entity", 1, "a", "b", "c")
	w.refresh()
	w.want("the second read does not remove it either", 1, "a", "b", "c")
	if err := os.Remove(filepath.Join(w.dir, "d.yaml")); err != nil {
		t.Fatal(err)
	}
	w.refresh()
	w.want("without the broken link missing entities are removed", 0, "b", "c")
}

func TestWatch(t *testing.T) {
	w := newWorld(t)
	w.put("a.yaml", component("a", "x"))
	w.refresh()
	// The file changes before the watch starts.
	w.put("b.yaml", component("b", "x"))
	stop := w.watching()
	w.until("the change before the watch", func() bool { return cmp.Equal(w.refs(), []string{"a", "b"}) })
	w.put("sub/c.yaml", component("c", "x"))
	w.until("a new file in a new folder", func() bool { return cmp.Equal(w.refs(), []string{"a", "b", "c"}) })
	w.put("b.yaml", "")
	w.until("a removed file", func() bool { return cmp.Equal(w.refs(), []string{"a", "c"}) })
	w.put("a.yaml", "a: [")
	w.until("a mistake", func() bool { return w.Status().Problems == 1 })
	if err := os.Rename(w.dir, w.dir+"-away"); err != nil {
		t.Fatal(err)
	}
	w.until("the error of the missing folder", func() bool { return strings.Contains(w.Status().Error, "no such file") })
	if diff := cmp.Diff([]string{"a", "c"}, w.refs()); diff != "" {
		t.Errorf("entities (-want +got):\n%s", diff)
	}
	if err := os.Rename(w.dir+"-away", w.dir); err != nil {
		t.Fatal(err)
	}
	w.put("a.yaml", component("a", "z"))
	w.until("the recovery of the folder", func() bool { return w.Status().Error == "" && w.lifecycle("a") == "z" })
	stop()
}

// TestMounted reads files as Kubernetes mounts them: links to links, one of
// which is replaced.
func TestMounted(t *testing.T) {
	w := newWorld(t)
	w.put("..one/a.yaml", component("a", "x"))
	for link, target := range map[string]string{"..data": "..one", "a.yaml": "..data/a.yaml"} {
		if err := os.Symlink(target, filepath.Join(w.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	w.refresh()
	w.want("mounted", 0, "a")
	w.watching()
	w.put("..two/a.yaml", component("a", "y"))
	if err := os.Symlink("..two", filepath.Join(w.dir, "..data_tmp")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(w.dir, "..data_tmp"), filepath.Join(w.dir, "..data")); err != nil {
		t.Fatal(err)
	}
	w.until("the new version", func() bool { return w.lifecycle("a") == "y" })
}
