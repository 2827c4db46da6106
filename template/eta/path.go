package eta

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// extension is added to a name that has none.
const extension = ".eta"

// resolve returns the file of a template name. A name that begins with ./ or ../ is
// relative to the file that contains it; any other to the template folder.
func resolve(from, name string) (string, error) {
	if name == "" {
		return "", &fault{msg: "cannot include a template without a name"}
	}
	file := strings.TrimPrefix(name, "/")
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		file = path.Join(path.Dir(from), name)
	}
	file = path.Clean(file)
	if file == ".." || strings.HasPrefix(file, "../") {
		return "", &fault{
			msg:  fmt.Sprintf("cannot include %q: path is outside the template folder", name),
			hint: "include files from the template folder only",
		}
	}
	if path.Ext(file) == "" {
		file += extension
	}
	if !fs.ValidPath(file) || strings.ContainsAny(file, "\\\x00:") {
		return "", &fault{
			msg:  fmt.Sprintf("cannot include %q: not a file name", name),
			hint: "separate folders with /, such as wizard/default.eta",
		}
	}
	return file, nil
}
