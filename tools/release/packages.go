package main

import (
	"bytes"
	"crypto/md5" //nolint:gosec // The format of Debian packages asks for it; nothing relies on it.
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// writeDebian writes a Debian package of the programs, their manual and completions.
func writeDebian(r release, p platform, files []file, out *output) error {
	var installed []file
	size := 0
	for _, f := range files {
		name, ok := debianPath(f.name)
		if !ok {
			continue
		}
		f.name = name
		size += len(f.text)
		installed = append(installed, f)
	}
	installed = append(installed, file{name: "usr/share/doc/" + r.name() + "/copyright", mode: 0o644,
		text: fmt.Appendf(nil, "License: %s\nSource: https://%s\nThe license is in /usr/share/common-licenses/Apache-2.0.\n", r.License, r.Repository)})
	control := fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: %s <https://%s>\nInstalled-Size: %d\nSection: admin\nPriority: optional\nHomepage: https://%s\nDescription: %s\n",
		r.name(), r.debian(), p.Arch, r.name(), r.Repository, (size+1023)/1024, r.Repository, r.Description)
	var sums strings.Builder
	for _, f := range installed {
		sum := md5.Sum(f.text) //nolint:gosec // See the import.
		fmt.Fprintf(&sums, "%s  %s\n", hex.EncodeToString(sum[:]), f.name)
	}
	meta, err := packTarGz(r.Date, []file{
		{name: "control", mode: 0o644, text: []byte(control)},
		{name: "md5sums", mode: 0o644, text: []byte(sums.String())},
	})
	if err != nil {
		return err
	}
	content, err := packTarGz(r.Date, within("", installed))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, member := range []struct {
		name string
		text []byte
	}{{"debian-binary", []byte("2.0\n")}, {"control.tar.gz", meta}, {"data.tar.gz", content}} {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", member.name, r.Date.Unix(), 0, 0, 0o100644, len(member.text))
		b.Write(member.text)
		if len(member.text)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return out.write(fmt.Sprintf("%s_%s_%s.deb", r.name(), r.debian(), p.Arch), b.Bytes())
}

// debianPath returns where Debian keeps a file of an archive.
func debianPath(name string) (string, bool) {
	base := name[strings.LastIndex(name, "/")+1:]
	switch {
	case base == name:
		return "usr/bin/" + name, true
	case strings.HasPrefix(name, "man/"):
		return "usr/share/" + name, true
	case strings.HasPrefix(name, "completions/bash/"):
		return "usr/share/bash-completion/completions/" + base, true
	case strings.HasPrefix(name, "completions/zsh/"):
		return "usr/share/zsh/vendor-completions/" + base, true
	case strings.HasPrefix(name, "completions/fish/"):
		return "usr/share/fish/vendor_completions.d/" + base, true
	default:
		return "", false
	}
}

// writeFormula writes the Homebrew formula of the platforms that Homebrew supports.
func writeFormula(r release, ps []platform, out *output) error {
	var b strings.Builder
	fmt.Fprintf(&b, "class %s < Formula\n  desc %q\n  homepage %q\n  version %q\n  license %q\n",
		strings.ToUpper(r.name()[:1])+r.name()[1:], r.Description, "https://"+r.Repository, r.plain(), r.License)
	for _, system := range []struct{ brew, os string }{{"macos", "darwin"}, {"linux", "linux"}} {
		var blocks strings.Builder
		for _, p := range ps {
			if p.OS != system.os {
				continue
			}
			name := archiveName(r, p) + ending(p)
			cpu := map[string]string{"amd64": "intel", "arm64": "arm"}[p.Arch]
			fmt.Fprintf(&blocks, "    on_%s do\n      url %q\n      sha256 %q\n    end\n", cpu, download(r, name), out.sums[name])
		}
		if blocks.Len() > 0 {
			fmt.Fprintf(&b, "\n  on_%s do\n%s  end\n", system.brew, blocks.String())
		}
	}
	fmt.Fprintf(&b, `
  def install
    %%w[%s].each do |program|
      bin.install program
      bash_completion.install "completions/bash/#{program}"
      zsh_completion.install "completions/zsh/_#{program}"
      fish_completion.install "completions/fish/#{program}.fish"
    end
    man1.install Dir["man/man1/*.1"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/%s --version")
  end
end
`, strings.Join(programs, " "), programs[1])
	return out.write(r.name()+".rb", []byte(b.String()))
}

// download is the address of a file of the release.
func download(r release, name string) string {
	return "https://" + r.Repository + "/releases/download/" + r.Version + "/" + name
}

// writeChart packs the chart with the version of the release.
func writeChart(r release, out *output) error {
	root := filepath.Join(r.Root, "deploy", "chart")
	var files []file
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if name == "Chart.yaml" {
			text = chartVersion.ReplaceAll(text, []byte("version: "+r.plain()))
			text = chartAppVersion.ReplaceAll(text, []byte("appVersion: "+r.plain()))
		}
		files = append(files, file{name: filepath.ToSlash(name), mode: 0o644, text: text})
		return err
	})
	if err != nil {
		return fmt.Errorf("cannot pack the chart: %w", err)
	}
	text, err := packTarGz(r.Date, within(r.name(), files))
	if err != nil {
		return err
	}
	return out.write(fmt.Sprintf("%s-%s.tgz", r.name(), r.plain()), text)
}

var (
	chartVersion    = regexp.MustCompile(`(?m)^version: .*$`)
	chartAppVersion = regexp.MustCompile(`(?m)^appVersion: .*$`)
)

// writeNotes writes the section of the changelog that belongs to the version: its own, or
// for versions between releases what is not released yet.
func writeNotes(r release, out *output) error {
	text, err := os.ReadFile(filepath.Join(r.Root, "CHANGELOG.md"))
	if err != nil {
		return fmt.Errorf("cannot read the changelog: %w", err)
	}
	notes, ok := section(string(text), r.plain())
	if !ok {
		if !strings.Contains(r.plain(), "-") {
			return fmt.Errorf("cannot find a section [%s] in CHANGELOG.md: rename [Unreleased] before the release", r.plain())
		}
		if notes, ok = section(string(text), "Unreleased"); !ok {
			return fmt.Errorf("cannot find a section [%s] or [Unreleased] in CHANGELOG.md", r.plain())
		}
	}
	return out.write("release-notes.md", []byte(notes))
}

// section returns what a changelog says below a version's heading.
func section(text, version string) (string, bool) {
	var b strings.Builder
	found := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "## ") {
			if found {
				break
			}
			found = strings.HasPrefix(line, "## ["+version+"]")
			continue
		}
		if found {
			b.WriteString(line)
		}
	}
	return strings.TrimSpace(b.String()) + "\n", found
}

// writeProvenance writes how the files came to be, as an in-toto statement with SLSA's
// provenance. Publishing signs it.
func writeProvenance(r release, ps []platform, out *output) error {
	type object = map[string]any
	var subjects []object
	for _, n := range out.names() {
		subjects = append(subjects, object{"name": n, "digest": object{"sha256": out.sums[n]}})
	}
	var built []string
	for _, p := range ps {
		built = append(built, p.String())
	}
	text, err := json.MarshalIndent(object{
		"_type": "https://in-toto.io/Statement/v1", "subject": subjects,
		"predicateType": "https://slsa.dev/provenance/v1",
		"predicate": object{
			"buildDefinition": object{
				"buildType":          "https://" + r.Repository + "/tools/release@v1",
				"externalParameters": object{"version": r.Version, "platforms": built},
				"internalParameters": object{"go": runtime.Version()},
				"resolvedDependencies": []object{{
					"uri": "git+https://" + r.Repository + "@" + r.Version, "digest": object{"gitCommit": r.Commit},
				}},
			},
			"runDetails": object{
				"builder":  object{"id": "https://" + r.Repository + "/tools/release"},
				"metadata": object{"invocationId": r.Version + "-" + r.Commit, "startedOn": r.Date.Format(time.RFC3339)},
			},
		},
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot write the provenance: %w", err)
	}
	return out.write("provenance.json", append(text, '\n'))
}
