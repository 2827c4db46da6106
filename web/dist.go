//go:build !noweb

package web

import (
	"embed"
	"io/fs"
)

// built is what `make web` made; nothing but .keep before.
//
//go:embed all:dist
var built embed.FS

// dist is the folder that is served.
func dist() fs.FS {
	// The folder is embedded, so that there is no error.
	f, _ := fs.Sub(built, "dist")
	return f
}
