// Package folder implements template folders: metadata.yaml and three groups of files
// that make entities from a definition.
//
// The portal file outputs the documents. It includes a wizard file, a list of the form's
// pages, and a steps file, a list of the steps run with the form's values. Folders are
// layered: a user's folder holds only what differs from the layer below.
//
// It is one package because metadata, choice, functions and output of a folder are checked
// and rendered together.
package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/template/eta"
)

// The groups of files.
const (
	Portal = "portal"
	Wizard = "wizard"
	Steps  = "steps"
)

// Groups are the groups of files, in the order in which they are chosen.
var Groups = []string{Portal, Wizard, Steps}

// Default is the name of the default file of a group.
const Default = "default"

// ext is the file extension of templates.
const ext = ".eta"

// File is a template file that can be selected.
type File struct {
	// Group is Portal, Wizard or Steps; Name identifies the file in its group.
	Group, Name string
	// Path is the file's path in the folder.
	Path string
	// Description is the description in metadata.yaml; it may be empty.
	Description string
	// Layer is the index of the layer that the file comes from, counted from the lowest.
	Layer int
}

// Folder is an opened template folder. It is safe for concurrent use.
type Folder struct {
	layers   layers
	set      *eta.Set
	files    []File
	metadata metadata
}

// Open opens layered folders, the lowest first, as one. The folders must not change
// afterwards. The error joins an *Error for each problem.
func Open(over ...fs.FS) (*Folder, error) {
	f := &Folder{layers: over}
	if err := f.list(); err != nil {
		return nil, err
	}
	if err := f.readMetadata(); err != nil {
		return nil, err
	}
	for _, group := range Groups {
		if _, ok := f.file(group, f.metadata.defaults[group]); !ok {
			return nil, &Error{Finding: finding.Finding{
				Rule: RuleFolder, Severity: finding.Error, File: group,
				Message: fmt.Sprintf("file %s/%s%s is missing in the template folder", group, f.metadata.defaults[group], ext),
				Hint:    "add it, or overlay the folder on one that has it",
			}}
		}
	}
	f.set = eta.New(f.layers, eta.Limits{})
	return f, nil
}

// list finds the files of the three groups.
func (f *Folder) list() error {
	for _, group := range Groups {
		for layer, l := range f.layers {
			entries, err := fs.ReadDir(l, group)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return fmt.Errorf("cannot list the templates in %s: %w", group, err)
			}
			for _, e := range entries {
				name, ok := strings.CutSuffix(e.Name(), ext)
				// A file whose name begins with an underscore is only included by others.
				if !ok || e.IsDir() || name == "" || name[0] == '_' {
					continue
				}
				at := File{Group: group, Name: name, Path: path.Join(group, e.Name()), Layer: layer}
				if i := slices.IndexFunc(f.files, func(o File) bool { return o.Path == at.Path }); i >= 0 {
					f.files[i] = at
					continue
				}
				f.files = append(f.files, at)
			}
		}
	}
	slices.SortStableFunc(f.files, compareFiles)
	return nil
}

// compareFiles orders files by group, then the default first, then by name.
func compareFiles(a, b File) int {
	if d := slices.Index(Groups, a.Group) - slices.Index(Groups, b.Group); d != 0 {
		return d
	}
	switch {
	case a.Name == b.Name:
		return 0
	case a.Name == Default:
		return -1
	case b.Name == Default:
		return 1
	}
	return strings.Compare(a.Name, b.Name)
}

// Files returns the selectable files by group and name, default first.
func (f *Folder) Files() []File { return slices.Clone(f.files) }

// In returns the files of a group.
func (f *Folder) In(group string) []File {
	return slices.DeleteFunc(f.Files(), func(x File) bool { return x.Group != group })
}

func (f *Folder) file(group, name string) (File, bool) {
	i := slices.IndexFunc(f.files, func(x File) bool { return x.Group == group && x.Name == name })
	if i < 0 {
		return File{}, false
	}
	return f.files[i], true
}

// Layer returns the index of the layer that holds a path, or -1.
func (f *Folder) Layer(path string) int { return f.layers.find(path) }

// Check compiles all templates, including those that are only included, and returns the
// errors of each.
func (f *Folder) Check() []*Error {
	var paths []string
	for _, l := range f.layers {
		// Errors of listing are reported where the folder is used.
		_ = fs.WalkDir(l, ".", func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && path.Ext(p) == ext {
				paths = append(paths, p)
			}
			return nil
		})
	}
	slices.Sort(paths)
	var out []*Error
	for _, p := range slices.Compact(paths) {
		if err := f.set.Check(p); err != nil {
			out = append(out, failed(err, p))
		}
	}
	return out
}

// layers are layered folders, the lowest first.
type layers []fs.FS

// Open opens a file from the highest layer that has it.
func (l layers) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	for _, layer := range slices.Backward(l) {
		file, err := layer.Open(name)
		if !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// Stat returns the info of a file from the highest layer that has it.
func (l layers) Stat(name string) (fs.FileInfo, error) {
	for _, layer := range slices.Backward(l) {
		info, err := fs.Stat(layer, name)
		if !errors.Is(err, fs.ErrNotExist) {
			return info, err
		}
	}
	return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

func (l layers) find(name string) int {
	for i, layer := range slices.Backward(l) {
		if info, err := fs.Stat(layer, name); err == nil && !info.IsDir() {
			return i
		}
	}
	return -1
}

// pos returns the position of a line and column.
func pos(line, column int) tree.Pos { return tree.Pos{Line: int32(line), Column: int32(column)} }
