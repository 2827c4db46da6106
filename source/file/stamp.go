package file

import (
	"fmt"
	"io/fs"
	"os"
)

// stamp detects changes of a file. It is small, unlike fs.FileInfo, because there is
// one for each watched file.
type stamp struct {
	size, time int64
	id         identity
}

func stampOf(info fs.FileInfo) stamp {
	return stamp{size: info.Size(), time: info.ModTime().UnixNano(), id: identityOf(info)}
}

// Stamp returns a text that changes whenever a file is written or replaced; empty if
// the file cannot be found.
func Stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(stampOf(info))
}
