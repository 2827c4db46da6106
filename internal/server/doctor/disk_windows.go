package doctor

import "os"

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
