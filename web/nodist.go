//go:build noweb

package web

import "io/fs"

// dist says that there is nothing to serve.
func dist() fs.FS { return nil }
