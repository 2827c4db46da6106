package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestArchives makes a release for this machine, and uses what is in it.
func TestArchives(t *testing.T) {
	r := checkout(t)
	r.Version = "v1.2.3-rc.1"
	dir := filepath.Join(t.TempDir(), "release")
	if err := writeArchives(t.Context(), r, []platform{host}, dir); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}

	t.Run("Checksums", func(t *testing.T) {
		run("sha256sum", "--check", "--strict", "checksums.txt")
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(read("checksums.txt"), "\n"); lines != len(entries)-1 {
			t.Errorf("%d of %d files have a checksum", lines, len(entries)-1)
		}
	})
	t.Run("Page", func(t *testing.T) {
		page, err := os.ReadFile(filepath.Join(r.Root, "docs", "install.md"))
		if err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		shown := strings.NewReplacer("1.2.3-rc.1", "1.2.3", "1.2.3~rc.1", "1.2.3", host.OS+"_"+host.Arch, "linux_amd64", "_"+host.Arch+".deb", "_amd64.deb")
		for _, e := range entries {
			if name := shown.Replace(e.Name()); !e.IsDir() && !strings.Contains(string(page), "`"+name+"`") {
				t.Errorf("docs/install.md does not name %s", name)
			}
		}
	})
	t.Run("Programs", func(t *testing.T) {
		run("tar", "-xzf", archiveName(r, host)+".tar.gz")
		for _, p := range programs {
			want := p + " v1.2.3-rc.1 (commit " + r.Commit[:12] + ", " + r.Date.Format("2006-01-02") + ")\n"
			if diff := cmp.Diff(want, run(filepath.Join(dir, archiveName(r, host), p), "--version")); diff != "" {
				t.Errorf("--version of %s (-want +got):\n%s", p, diff)
			}
			page, err := os.ReadFile(filepath.Join(dir, archiveName(r, host), "man", "man1", p+".1"))
			if err != nil || !strings.Contains(string(page), ".SH SYNOPSIS") {
				t.Errorf("manual page of %s: %v\n%s", p, err, page)
			}
		}
	})
	t.Run("Schemas", func(t *testing.T) {
		for _, name := range []string{"config", "annotations"} {
			text := read(filepath.Join(archiveName(r, host), "schemas", name+".schema.json"))
			if !json.Valid([]byte(text)) || !strings.Contains(text, `"$schema"`) {
				t.Errorf("schema %s is %.100s", name, text)
			}
		}
	})
	t.Run("Debian", func(t *testing.T) {
		if _, err := exec.LookPath("dpkg-deb"); err != nil {
			t.Skip(err)
		}
		deb := "ingestor_1.2.3~rc.1_" + host.Arch + ".deb"
		run("dpkg-deb", "--extract", deb, "installed")
		if got := run(filepath.Join(dir, "installed", "usr", "bin", "ingestor-cli"), "--version"); !strings.Contains(got, "v1.2.3-rc.1") {
			t.Errorf("installed program is %s", got)
		}
		if got := run("dpkg-deb", "--field", deb, "Version"); got != "1.2.3~rc.1\n" {
			t.Errorf("version is %s", got)
		}
	})
	t.Run("Formula", func(t *testing.T) {
		archive := archiveName(r, host) + ".tar.gz"
		sum := sha256.Sum256([]byte(read(archive)))
		for _, want := range []string{hex.EncodeToString(sum[:]), download(r, archive), `version "1.2.3-rc.1"`} {
			if !strings.Contains(read("ingestor.rb"), want) {
				t.Errorf("formula does not contain %s:\n%s", want, read("ingestor.rb"))
			}
		}
	})
	t.Run("Provenance", func(t *testing.T) {
		var doc struct {
			Subject []struct {
				Name   string
				Digest map[string]string
			}
		}
		if err := json.Unmarshal([]byte(read("provenance.json")), &doc); err != nil {
			t.Fatal(err)
		}
		for _, s := range doc.Subject {
			if !strings.Contains(read("checksums.txt"), s.Digest["sha256"]+"  "+s.Name+"\n") {
				t.Errorf("subject %v has another checksum", s)
			}
		}
		if len(doc.Subject) < 5 {
			t.Errorf("provenance has %d subjects", len(doc.Subject))
		}
	})
	t.Run("Chart", func(t *testing.T) {
		run("tar", "-xzf", "ingestor-1.2.3-rc.1.tgz", "-C", filepath.Dir(dir))
		text, err := os.ReadFile(filepath.Join(filepath.Dir(dir), "ingestor", "Chart.yaml"))
		if err != nil || !strings.Contains(string(text), "\nversion: 1.2.3-rc.1\nappVersion: 1.2.3-rc.1\n") {
			t.Errorf("Chart.yaml: %v\n%s", err, text)
		}
	})
	t.Run("SBOM", func(t *testing.T) { checkSBOM(t, []byte(read(archiveName(r, host)+".spdx.json"))) })
	t.Run("CI", func(t *testing.T) { validates(t, r, dir) })
	t.Run("Occupied", func(t *testing.T) {
		if err := writeArchives(t.Context(), r, []platform{host}, dir); err == nil || !strings.Contains(err.Error(), "not empty") {
			t.Errorf("second release in one folder returned %v", err)
		}
	})
}

func TestVersion(t *testing.T) {
	cases := map[string]struct {
		reason  string
		version string
		want    string
	}{
		"Release":    {"A version has three numbers.", "v1.2.3", ""},
		"Candidate":  {"A pre-release has a suffix.", "v1.2.3-rc.1", ""},
		"Plain":      {"A version begins with v, as its tag does.", "1.2.3", `cannot release version "1.2.3"`},
		"Two":        {"Two numbers are not enough.", "v1.2", `cannot release version "v1.2"`},
		"Unreleased": {"Without a version or a tag it is a pre-release of the commit.", "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := read(t.Context(), "../..", tc.version)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.want)) {
				t.Errorf("%s read returned %v, %v", tc.reason, r, err)
			}
		})
	}
}

// TestClean checks that a release is not built from changes that are in no commit.
func TestClean(t *testing.T) {
	r := release{Root: t.TempDir(), Version: "v1.2.3"}
	if _, err := git(t.Context(), r.Root, "init", "--quiet"); err != nil {
		t.Fatal(err)
	}
	if err := isClean(t.Context(), r); err != nil {
		t.Errorf("empty checkout: %v", err)
	}
	if err := os.WriteFile(filepath.Join(r.Root, "x.go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := isClean(t.Context(), r); err == nil || !strings.Contains(err.Error(), "x.go") {
		t.Errorf("checkout with a new file: %v", err)
	}
}

func TestSection(t *testing.T) {
	const text = "# Changelog\n\n## [Unreleased]\n\n- new\n\n## [1.2.0] - 2026-01-31\n\n### Added\n\n- old\n"
	cases := map[string]struct {
		reason  string
		version string
		want    string
		found   bool
	}{
		"Unreleased": {"The section ends at the next version.", "Unreleased", "- new\n", true},
		"Version":    {"The last section ends with the file.", "1.2.0", "### Added\n\n- old\n", true},
		"Other":      {"A version without a section is not found.", "1.2", "\n", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got, found := section(text, tc.version); got != tc.want || found != tc.found {
				t.Errorf("%s got %q, %v", tc.reason, got, found)
			}
		})
	}
}
