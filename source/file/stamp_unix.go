//go:build unix

package file

import (
	"io/fs"
	"syscall"
)

// identity identifies a file.
type identity struct{ device, node uint64 }

func identityOf(info fs.FileInfo) identity {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return identity{uint64(s.Dev), s.Ino} //nolint:unconvert // some systems have a smaller type
	}
	return identity{}
}
