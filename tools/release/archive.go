package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// output is the folder of a release, and the checksums of what was written to it.
type output struct {
	dir  string
	sums map[string]string
}

func (o *output) write(name string, text []byte) error {
	if err := os.WriteFile(filepath.Join(o.dir, name), text, 0o644); err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	sum := sha256.Sum256(text)
	o.sums[name] = hex.EncodeToString(sum[:])
	return nil
}

// names returns what was written, sorted.
func (o *output) names() []string {
	var names []string
	for n := range o.sums {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// writeArchives writes a release: for each platform an archive of all programs and its
// SBOM, Debian packages, a Homebrew formula, the chart, release notes, provenance, and
// checksums of all of them.
func writeArchives(ctx context.Context, r release, ps []platform, dir string) error {
	if err := builtPage(r); err != nil {
		return err
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("cannot write a release to %s: it is not empty", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cannot write a release: %w", err)
	}
	tmp, err := os.MkdirTemp("", "release-")
	if err != nil {
		return fmt.Errorf("cannot write a release: %w", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	out := &output{dir: dir, sums: map[string]string{}}
	manual, err := manual(ctx, r, filepath.Join(tmp, "manual"))
	if err != nil {
		return err
	}
	for _, p := range ps {
		bin := filepath.Join(tmp, p.OS+"-"+p.Arch)
		if err := writePlatform(ctx, r, p, bin, manual, out); err != nil {
			return err
		}
		if err := os.RemoveAll(bin); err != nil {
			return fmt.Errorf("cannot write a release: %w", err)
		}
	}
	if err := writeChart(r, out); err != nil {
		return err
	}
	if err := writeFormula(r, ps, out); err != nil {
		return err
	}
	if err := writeNotes(r, out); err != nil {
		return err
	}
	if err := writeProvenance(r, ps, out); err != nil {
		return err
	}
	var sums strings.Builder
	for _, n := range out.names() {
		fmt.Fprintf(&sums, "%s  %s\n", out.sums[n], n)
	}
	if err := out.write("checksums.txt", []byte(sums.String())); err != nil {
		return err
	}
	fmt.Printf("%s %s: %d files in %s\n", r.name(), r.Version, len(out.sums), dir)
	return nil
}

// archiveName is the name of a platform's archive, without its ending.
func archiveName(r release, p platform) string {
	return fmt.Sprintf("%s_%s_%s_%s", r.name(), r.plain(), p.OS, p.Arch)
}

// writePlatform writes the archive of a platform, its SBOM and, for Linux, its package.
func writePlatform(ctx context.Context, r release, p platform, bin string, manual []file, out *output) error {
	if err := compile(ctx, r, p, bin, programs...); err != nil {
		return err
	}
	var built []string
	var files []file
	for _, name := range programs {
		path := filepath.Join(bin, p.exe(name))
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("cannot read %s for %s: %w", name, p, err)
		}
		built = append(built, path)
		files = append(files, file{name: p.exe(name), mode: 0o755, text: text})
	}
	text, err := sbom(r, r.name(), built...)
	if err != nil {
		return err
	}
	if err := out.write(archiveName(r, p)+".spdx.json", text); err != nil {
		return err
	}
	if p.OS == "linux" {
		if err := writeDebian(r, p, slices.Concat(files, manual), out); err != nil {
			return err
		}
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "api/config.schema.json", "api/annotations.schema.json"} {
		text, err := os.ReadFile(filepath.Join(r.Root, name))
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", name, err)
		}
		files = append(files, file{name: strings.Replace(name, "api/", "schemas/", 1), mode: 0o644, text: text})
	}
	files = within(archiveName(r, p), slices.Concat(files, manual))
	if p.OS == "windows" {
		text, err = packZip(r.Date, files)
	} else {
		text, err = packTarGz(r.Date, files)
	}
	if err != nil {
		return err
	}
	return out.write(archiveName(r, p)+ending(p), text)
}

func ending(p platform) string {
	if p.OS == "windows" {
		return ".zip"
	}
	return ".tar.gz"
}

// manual returns completions/ and man/man1/ of all programs, as the programs themselves
// write them.
func manual(ctx context.Context, r release, dir string) ([]file, error) {
	host := platform{runtime.GOOS, runtime.GOARCH}
	if err := compile(ctx, r, host, dir, programs...); err != nil {
		return nil, err
	}
	shells := []struct{ name, file string }{
		{"bash", "completions/bash/%s"}, {"zsh", "completions/zsh/_%s"},
		{"fish", "completions/fish/%s.fish"}, {"powershell", "completions/powershell/%s.ps1"},
	}
	pages := filepath.Join(dir, "man1")
	if err := os.MkdirAll(pages, 0o755); err != nil {
		return nil, fmt.Errorf("cannot write the manual: %w", err)
	}
	var files []file
	for _, name := range programs {
		for _, shell := range shells {
			text, err := runProgram(ctx, filepath.Join(dir, host.exe(name)), "completion", shell.name)
			if err != nil {
				return nil, fmt.Errorf("cannot write the %s completion of %s: %w", shell.name, name, err)
			}
			files = append(files, file{name: fmt.Sprintf(shell.file, name), mode: 0o644, text: text})
		}
		if _, err := runProgram(ctx, filepath.Join(dir, host.exe(name)), "__man", pages); err != nil {
			return nil, fmt.Errorf("cannot write the manual of %s: %w", name, err)
		}
	}
	err := filepath.WalkDir(pages, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files = append(files, file{name: "man/man1/" + d.Name(), mode: 0o644, text: text})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the manual: %w", err)
	}
	return files, nil
}

// runProgram runs a program and returns its standard output.
func runProgram(ctx context.Context, program string, args ...string) ([]byte, error) {
	text, err := exec.CommandContext(ctx, program, args...).Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("%s: %w", bytes.TrimSpace(failed.Stderr), err)
	}
	return text, err
}

// within puts files into a folder, with the folders that lead to them before them.
func within(folder string, files []file) []file {
	seen := map[string]bool{}
	var all []file
	var parents func(dir string)
	parents = func(dir string) {
		if dir == "." || seen[dir] {
			return
		}
		seen[dir] = true
		parents(path.Dir(dir))
		all = append(all, file{name: dir + "/", mode: 0o755})
	}
	for _, f := range files {
		f.name = path.Join(folder, f.name)
		parents(path.Dir(f.name))
		all = append(all, f)
	}
	return all
}

func packTarGz(date time.Time, files []file) ([]byte, error) {
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	if err := writeTar(zw, date, files); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil {
		return nil, fmt.Errorf("cannot pack: %w", err)
	}
	return b.Bytes(), nil
}

func packZip(date time.Time, files []file) ([]byte, error) {
	var b bytes.Buffer
	zw := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: date}
		h.SetMode(f.mode)
		w, err := zw.CreateHeader(h)
		if err != nil {
			return nil, fmt.Errorf("cannot pack %s: %w", f.name, err)
		}
		if _, err := w.Write(f.text); err != nil {
			return nil, fmt.Errorf("cannot pack %s: %w", f.name, err)
		}
	}
	if err := zw.Close(); err != nil {
		return nil, fmt.Errorf("cannot pack: %w", err)
	}
	return b.Bytes(), nil
}
