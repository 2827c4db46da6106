// Package builtin holds the built-in template folder: the defaults of xrd-transform
// where a user's own folder has no override, and the files that its init command writes.
package builtin

import (
	"embed"
	"io/fs"
)

//go:embed metadata.yaml portal wizard steps
var files embed.FS

// Files returns the folder.
func Files() fs.FS { return files }
