package doctor

import (
	"os"

	"golang.org/x/sys/windows"
)

// freeSpace returns how many bytes a user may still write to the disk of a path.
func freeSpace(path string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return free, err
}

// writable returns an error if this user cannot write to a file; for folders that could
// only be found out by writing. Nothing is written.
func writable(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}
