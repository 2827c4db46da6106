package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// fileNames are the default files, in order.
var fileNames = []string{"app-config.yaml", "app-config.local.yaml"}

// DefaultFiles returns the files in a folder that are read by default: app-config.yaml
// and app-config.local.yaml, as far as they exist. A file that exists but cannot be
// read is returned too, so that Load reports why.
func DefaultFiles(dir string) []string {
	var out []string
	for _, name := range fileNames {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			out = append(out, path)
		}
	}
	return out
}
