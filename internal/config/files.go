package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// fileNames are the files that are read where none is named, in their order.
var fileNames = []string{"app-config.yaml", "app-config.local.yaml"}

// DefaultFiles returns the files in a folder that are read where none is named:
// those of app-config.yaml and app-config.local.yaml that exist. One that is
// there and cannot be read is returned too, for Load to say why.
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
