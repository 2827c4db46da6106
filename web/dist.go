//go:build !noweb

package web

import (
	"embed"
	"io/fs"
)

// built is the output of `make web`; before that, it contains only .keep.
//
//go:embed all:dist
var built embed.FS

// dist returns the folder that is served.
func dist() fs.FS {
	// The folder is embedded, so there is no error.
	f, _ := fs.Sub(built, "dist")
	return f
}
