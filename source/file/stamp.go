package file

import "io/fs"

// stamp tells a file from what it was before. There is one for each file that is
// watched, so that it is small, unlike fs.FileInfo.
type stamp struct {
	size, time int64
	id         identity
}

func stampOf(info fs.FileInfo) stamp {
	return stamp{size: info.Size(), time: info.ModTime().UnixNano(), id: identityOf(info)}
}
