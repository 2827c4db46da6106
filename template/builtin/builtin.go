// Package builtin is the built-in template folder: what xrd-transform uses
// where a user's own folder says nothing else, and what its init writes.
package builtin

import (
	"embed"
	"io/fs"
)

//go:embed metadata.yaml portal wizard steps
var files embed.FS

// Files returns the folder.
func Files() fs.FS { return files }
