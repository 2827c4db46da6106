package main

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// host is the platform of this machine: the tests build for it alone.
var host = platform{"linux", runtime.GOARCH}

// checkout reads this checkout. Its page must have been built.
func checkout(t *testing.T) release {
	t.Helper()
	r, err := read(t.Context(), "../..", "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	if err := builtPage(r); err != nil {
		t.Skip(err)
	}
	return r
}

// TestImage builds the image twice, from two folders, pushes it to a registry, pulls it,
// and runs it as it says.
func TestImage(t *testing.T) {
	r := checkout(t)
	dir := t.TempDir()
	digest, err := writeImage(t.Context(), r, []platform{host}, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("Reproducible", func(t *testing.T) {
		again := r
		again.Root = copied(t, r.Root)
		second, err := writeImage(t.Context(), again, []platform{host}, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if second != digest {
			t.Errorf("digest of a second build is %s, want %s", second, digest)
		}
	})
	img := pulled(t, dir)
	t.Run("Size", func(t *testing.T) {
		size := int64(0)
		layers, err := img.Layers()
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range layers {
			n, err := l.Size()
			if err != nil {
				t.Fatal(err)
			}
			size += n
		}
		t.Logf("the image has %.1f MB", float64(size)/1e6)
		if size > 60_000_000 {
			t.Errorf("image has %d bytes, want at most 60 MB", size)
		}
	})
	t.Run("Runs", func(t *testing.T) { runs(t, img) })
}

// copied copies the files under version control, and the built page, to another folder.
func copied(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", `set -e; git ls-files -z --cached --others --exclude-standard | xargs -0 cp -P --parents -t "$1" 2>/dev/null || true; cp -R web/dist/. "$1/web/dist/"`, "bash", dir)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// pulled pushes a layout to a registry and returns what a client pulls from there for the
// platform. The SBOM is pulled as a referrer, and must list every module of the program.
func pulled(t *testing.T, dir string) v1.Image {
	t.Helper()
	hs := httptest.NewServer(registry.New(registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(hs.Close)
	repo, err := name.NewRepository(strings.TrimPrefix(hs.URL, "http://") + "/portal-backend")
	if err != nil {
		t.Fatal(err)
	}
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range m.Manifests {
		if i == 0 {
			whole, err := index.ImageIndex(d.Digest)
			if err == nil {
				err = remote.WriteIndex(repo.Tag("1.2.3"), whole)
			}
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		bom, err := index.Image(d.Digest)
		if err == nil {
			err = remote.Write(repo.Digest(d.Digest.String()), bom)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	img, err := remote.Image(repo.Tag("1.2.3"), remote.WithPlatform(v1.Platform{OS: host.OS, Architecture: host.Arch}))
	if err != nil {
		t.Fatal(err)
	}
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	refs, err := remote.Referrers(repo.Digest(digest.String()))
	if err != nil {
		t.Fatal(err)
	}
	found, err := refs.IndexManifest()
	if err != nil || len(found.Manifests) != 1 {
		t.Fatalf("image has the referrers %v, %v; want its SBOM", found, err)
	}
	bom, err := remote.Image(repo.Digest(found.Manifests[0].Digest.String()))
	if err != nil {
		t.Fatal(err)
	}
	layers, err := bom.Layers()
	if err != nil {
		t.Fatal(err)
	}
	in, err := layers[0].Compressed()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	checkSBOM(t, text)
	return img
}

// checkSBOM compares the SBOM with what go list says of the program.
func checkSBOM(t *testing.T, text []byte) {
	t.Helper()
	var doc spdx
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, p := range doc.Packages {
		listed[p.Name+"@"+p.Version] = true
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}{{end}}{{end}}", "./cmd/"+server)
	cmd.Dir, cmd.Env = "../..", append(os.Environ(), "CGO_ENABLED=0", "GOOS="+host.OS)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Fields(string(out))
	if len(modules) < 20 {
		t.Fatalf("go list names %d modules", len(modules))
	}
	for _, m := range modules {
		if !listed[m] {
			t.Errorf("SBOM does not list %s", m)
		}
	}
	for _, want := range []string{"stdlib", "react", "@mantine/core"} {
		if !strings.Contains(string(text), `"name": "`+want+`"`) {
			t.Errorf("SBOM does not list %s", want)
		}
	}
	if strings.Contains(string(text), `"name": "vitest"`) {
		t.Error("SBOM lists vitest, which is not part of the page")
	}
}

// runs unpacks an image and runs its program as the image's user, with only /data and /tmp writable.
func runs(t *testing.T, img v1.Image) {
	if os.Getuid() != 0 {
		t.Skip("running a program in a root of its own needs root")
	}
	root := t.TempDir()
	unpack(t, img, root)
	cfg, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	config := fmt.Sprintf("backend: { baseUrl: %q, listen: %q, database: { client: sqlite, connection: { filename: /data/portal.sqlite } } }\nauth: { providers: { guest: {} } }\n", "http://"+addr, addr)
	if err := os.WriteFile(filepath.Join(root, "app-config.yaml"), []byte(config), 0o444); err != nil {
		t.Fatal(err)
	}
	// The mounts belong to a namespace of the process and end with it.
	script := `set -e
mount --bind "$1" "$1"
mount --bind "$1/data" "$1/data"
mount -t tmpfs -o mode=1777 tmpfs "$1/tmp"
mount -o remount,bind,ro "$1"
exec chroot --userspec="$2" "$1" "$3" --config /app-config.yaml`
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "--mount", "--propagation", "private", "bash", "-c", script, "bash", root, cfg.Config.User, cfg.Config.Entrypoint[0])
	cmd.Env = append(cfg.Config.Env, "PATH="+os.Getenv("PATH")) // For the shell; the program starts no other.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	out, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	cmd.Stdout, cmd.Stderr = out, out
	said := func() string {
		text, _ := os.ReadFile(out.Name())
		return string(text)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := false
	for ctx.Err() == nil && !ready {
		if res, err := http.Get("http://" + addr + "/health/ready"); err == nil {
			ready = res.StatusCode == http.StatusOK
			_ = res.Body.Close()
		}
		time.Sleep(100 * time.Millisecond)
		if strings.Contains(said(), "unshare: ") {
			cancel()
		}
	}
	if ready {
		page, err := http.Get("http://" + addr + "/")
		if err != nil || page.StatusCode != http.StatusOK {
			t.Errorf("page is answered with %v, %v", page, err)
		} else {
			_ = page.Body.Close()
		}
	}
	cancel()
	err = cmd.Wait()
	if !ready {
		t.Fatalf("portal does not become ready: %v\n%s", err, said())
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("portal exits with %d after SIGTERM:\n%s", code, said())
	}
	info, err := os.Stat(filepath.Join(root, "data", "portal.sqlite"))
	if err != nil {
		t.Fatalf("database is not on the volume: %v", err)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner != user {
		t.Errorf("database belongs to user %d, want %d", owner, user)
	}
}

// unpack writes the files of an image, as a container runtime does.
func unpack(t *testing.T, img v1.Image, root string) {
	t.Helper()
	in := mutate.Extract(img)
	defer func() { _ = in.Close() }()
	files := tar.NewReader(in)
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(root, h.Name) //nolint:gosec // The image is our own.
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else {
			var text []byte
			if text, err = io.ReadAll(files); err == nil {
				err = os.WriteFile(path, text, 0o600)
			}
		}
		if err == nil {
			err = os.Chown(path, h.Uid, h.Gid)
		}
		if err == nil {
			err = os.Chmod(path, h.FileInfo().Mode())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
