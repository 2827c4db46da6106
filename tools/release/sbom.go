package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// spdx is a document of SPDX 2.3.
type spdx struct {
	Version       string         `json:"spdxVersion"`
	License       string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      spdxCreation   `json:"creationInfo"`
	Packages      []spdxPackage  `json:"packages"`
	Relationships []spdxRelation `json:"relationships"`
}

type spdxCreation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	ID       string         `json:"SPDXID"`
	Name     string         `json:"name"`
	Version  string         `json:"versionInfo"`
	Download string         `json:"downloadLocation"`
	Analyzed bool           `json:"filesAnalyzed"`
	License  string         `json:"licenseConcluded"`
	Declared string         `json:"licenseDeclared"`
	Refs     []spdxExternal `json:"externalRefs"`
}

type spdxExternal struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type spdxRelation struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

// part is one component of a program: a Go module or an npm package.
type part struct{ purl, name, version, license string }

// sbom describes programs: the Go modules that the linker recorded in them, the Go release,
// and the npm packages of the web UI if the server is among them.
func sbom(r release, subject string, files ...string) ([]byte, error) {
	parts := parts{}
	for _, file := range files {
		info, err := buildinfo.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("cannot read the modules of %s: %w", filepath.Base(file), err)
		}
		goVersion := strings.TrimPrefix(info.GoVersion, "go")
		parts.add(part{"pkg:golang/stdlib@" + goVersion, "stdlib", goVersion, "BSD-3-Clause"})
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			parts.add(part{"pkg:golang/" + m.Path + "@" + m.Version, m.Path, m.Version, ""})
		}
		if strings.HasPrefix(filepath.Base(file), server) {
			if err := parts.addPage(filepath.Join(r.Root, "web", "package-lock.json")); err != nil {
				return nil, err
			}
		}
	}
	main := spdxPackage{
		ID: "SPDXRef-" + r.name(), Name: subject, Version: r.Version, Download: "https://" + r.Repository, License: r.License, Declared: r.License,
		Refs: []spdxExternal{{"PACKAGE-MANAGER", "purl", "pkg:golang/example.dev/ingestor@" + r.Version}},
	}
	doc := spdx{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: subject + "-" + r.Version,
		Namespace: "https://" + r.Repository + "/spdx/" + subject + "-" + r.Version + "-" + r.Commit,
		Creation:  spdxCreation{Created: r.Date.Format("2006-01-02T15:04:05Z"), Creators: []string{"Tool: " + r.name() + "-release-" + r.Version}},
		Packages:  []spdxPackage{main},
		Relationships: []spdxRelation{
			{"SPDXRef-DOCUMENT", "DESCRIBES", main.ID},
		},
	}
	for _, p := range slices.SortedFunc(maps.Values(parts), func(a, b part) int { return strings.Compare(a.purl, b.purl) }) {
		license := p.license
		if license == "" {
			license = "NOASSERTION"
		}
		id := "SPDXRef-" + notInID.ReplaceAllString(strings.TrimPrefix(p.purl, "pkg:"), "-")
		doc.Packages = append(doc.Packages, spdxPackage{
			ID: id, Name: p.name, Version: p.version, Download: "NOASSERTION", License: "NOASSERTION", Declared: license,
			Refs: []spdxExternal{{"PACKAGE-MANAGER", "purl", p.purl}},
		})
		doc.Relationships = append(doc.Relationships, spdxRelation{main.ID, "DEPENDS_ON", id})
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("cannot write the SBOM: %w", err)
	}
	return append(text, '\n'), nil
}

// notInID matches what an SPDX identifier must not contain.
var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]`)

// parts are components by their package URL.
type parts map[string]part

func (ps parts) add(p part) { ps[p.purl] = p }

// addPage adds the npm packages of the web UI, without those that only build or test it.
func (ps parts) addPage(lock string) error {
	text, err := os.ReadFile(lock)
	if err != nil {
		return fmt.Errorf("cannot read the packages of the web UI: %w", err)
	}
	var doc struct {
		Packages map[string]struct {
			Version string `json:"version"`
			License string `json:"license"`
			Dev     bool   `json:"dev"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return fmt.Errorf("cannot read the packages of the web UI: %s: %w", lock, err)
	}
	const folder = "node_modules/"
	for path, p := range doc.Packages {
		i := strings.LastIndex(path, folder)
		if i < 0 || p.Dev {
			continue
		}
		name := path[i+len(folder):]
		ps.add(part{"pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + p.Version, name, p.Version, p.License})
	}
	return nil
}
