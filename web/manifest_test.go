package web

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
)

// manifest maps sources to the files of the build.
type manifest map[string]struct {
	File    string   `json:"file"`
	Imports []string `json:"imports"`
}

// readManifest returns the manifest of the embedded build, or nil.
func readManifest() (manifest, error) {
	files := dist()
	if files == nil {
		return nil, nil
	}
	data, err := fs.ReadFile(files, ".vite/manifest.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var m manifest
	return m, json.Unmarshal(data, &m)
}

// closure returns the files that are loaded for these sources.
func (m manifest) closure(sources ...string) []string {
	seen := map[string]bool{}
	var files []string
	for len(sources) > 0 {
		source := sources[0]
		sources = sources[1:]
		if seen[source] {
			continue
		}
		seen[source] = true
		files = append(files, m[source].File)
		sources = append(sources, m[source].Imports...)
	}
	slices.Sort(files)
	return files
}

func (m manifest) read(file string) ([]byte, error) { return fs.ReadFile(dist(), file) }
