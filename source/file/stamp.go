package file

import (
	"fmt"
	"io/fs"
	"os"
)

// stamp tells a file from what it was before. There is one for each file that is
// watched, so that it is small, unlike fs.FileInfo.
type stamp struct {
	size, time int64
	id         identity
}

func stampOf(info fs.FileInfo) stamp {
	return stamp{size: info.Size(), time: info.ModTime().UnixNano(), id: identityOf(info)}
}

// Stamp returns a text that changes whenever a file is written or replaced; empty if it
// cannot be found.
func Stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(stampOf(info))
}
