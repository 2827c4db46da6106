//go:build noweb

package web

import "io/fs"

// dist returns nil: there is nothing to serve.
func dist() fs.FS { return nil }
