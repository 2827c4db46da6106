package git

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"example.dev/ingestor/internal/git/remote"
)

// manifest lists the files this sink wrote, by their paths below Options.Path.
type manifest struct {
	Files []string `json:"files"`
}

// maxManifest is the maximum size of a manifest, in bytes.
const maxManifest = 64 << 20

// change writes the files to the tree and returns what changed.
func (s *Sink) change(top *folder, files map[string][]byte) (Result, error) {
	var res Result
	here, err := top.at(s.opts.Path)
	if err != nil {
		return res, err
	}
	files, err = s.edit(here, files)
	if err != nil {
		return res, err
	}
	ours, err := s.ours(here)
	if err != nil {
		return res, err
	}
	list := map[string]bool{}
	var foreign []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := checkPath(name); err != nil {
			return res, err
		}
		if name == s.opts.Manifest {
			return res, remote.Wrong("choose another name", "%q is reserved for the list of files", name)
		}
		does, err := s.put(here, name, files[name], ours[name])
		if err != nil {
			return res, err
		}
		at := path.Join(s.opts.Path, name)
		switch does {
		case removes:
			res.Removed = append(res.Removed, at)
			continue
		case lacks:
			continue
		case adds:
			res.Added = append(res.Added, at)
		case changes:
			res.Changed = append(res.Changed, at)
		case keeps:
			res.Unchanged++
		case refuses:
			foreign = append(foreign, at)
		}
		list[name] = true
	}
	if len(foreign) > 0 {
		return res, notOurs(foreign)
	}
	if s.opts.Manifest == "" {
		return res, nil
	}
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		if list[name] {
			continue
		}
		in, e, ok, err := here.file(name)
		if err != nil || !ok || !e.Mode.IsFile() || e.Mode == filemode.Symlink {
			// The file is gone, or was replaced by something else.
			continue
		}
		if !s.opts.Prune {
			list[name] = true
			continue
		}
		delete(in.entries, e.Name)
		res.Removed = append(res.Removed, path.Join(s.opts.Path, name))
	}
	return res, s.list(here, slices.Sorted(maps.Keys(list)))
}

// effect is the effect of writing a file.
type effect uint8

const (
	keeps effect = iota
	adds
	changes
	refuses
	removes
	lacks
)

// edit returns the files, merged with those that Options.Edit returns.
func (s *Sink) edit(here *folder, files map[string][]byte) (map[string][]byte, error) {
	if s.opts.Edit == nil {
		return files, nil
	}
	made, err := s.opts.Edit(func(name string) ([]byte, error) {
		if err := checkPath(name); err != nil {
			return nil, err
		}
		if data, ok := files[name]; ok {
			return data, nil
		}
		in, e, ok, err := here.file(name)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, fs.ErrNotExist
		case !e.Mode.IsFile() || e.Mode == filemode.Symlink:
			return nil, in.inTheWay(e.Name, e.Mode, "a file")
		}
		return in.content(e.Hash, s.opts.MaxBytes)
	})
	if err != nil || len(made) == 0 {
		return files, err
	}
	all := make(map[string][]byte, len(files)+len(made))
	maps.Copy(all, files)
	maps.Copy(all, made)
	return all, nil
}

// put writes a file below the folder, unless it is unchanged; if data is nil and
// Options.Edit is set, it removes the file.
func (s *Sink) put(here *folder, name string, data []byte, ours bool) (effect, error) {
	in, e, ok, err := here.file(name)
	if err != nil {
		return keeps, err
	}
	if ok && (!e.Mode.IsFile() || e.Mode == filemode.Symlink) {
		return keeps, in.inTheWay(e.Name, e.Mode, "a file")
	}
	if data == nil && s.opts.Edit != nil {
		if !ok {
			return lacks, nil
		}
		if err := s.compare(in, e, true, name, nil); err != nil {
			return keeps, err
		}
		delete(in.entries, e.Name)
		return removes, nil
	}
	hash := plumbing.ComputeHash(plumbing.BlobObject, data)
	if ok && e.Hash == hash {
		return keeps, nil
	}
	if ok && !ours && s.opts.Manifest != "" && !s.opts.Overwrite {
		return refuses, nil
	}
	if err := s.compare(in, e, ok, name, data); err != nil {
		return keeps, err
	}
	does, mode := adds, filemode.Regular
	if ok {
		does, mode = changes, e.Mode
	}
	return does, in.put(path.Base(name), mode, hash, data)
}

// compare calls Options.Compare with the old and the new content of a file.
func (s *Sink) compare(in *folder, e object.TreeEntry, there bool, name string, data []byte) error {
	if s.opts.Compare == nil {
		return nil
	}
	var before []byte
	if there {
		var err error
		if before, err = in.content(e.Hash, s.opts.MaxBytes); err != nil {
			return err
		}
		if before == nil {
			before = []byte{}
		}
	}
	s.opts.Compare(path.Join(s.opts.Path, name), before, data)
	return nil
}

// notOurs returns an error for existing files that this sink did not write.
func notOurs(files []string) error {
	what := fmt.Sprintf("file %q exists and was not written by this program", files[0])
	if more := len(files) - 1; more > 0 {
		what = fmt.Sprintf("file %q and %d more exist and were not written by this program", files[0], more)
	}
	return remote.Wrong("move the files, choose another path, or allow overwriting", "%s", what)
}

// ours reads which files this sink wrote before.
func (s *Sink) ours(here *folder) (map[string]bool, error) {
	files := map[string]bool{}
	if s.opts.Manifest == "" {
		return files, nil
	}
	in, e, ok, err := here.file(s.opts.Manifest)
	if err != nil || !ok {
		return files, err
	}
	at := shownPath(path.Join(in.path, e.Name))
	if !e.Mode.IsFile() || e.Mode == filemode.Symlink {
		return nil, in.inTheWay(e.Name, e.Mode, "a file")
	}
	const hint = "fix it, or restore it from an earlier commit; without it, all existing files count as foreign"
	data, err := in.content(e.Hash, maxManifest)
	if err != nil {
		return nil, remote.Wrong(hint, "cannot read the list of files %q: %w", at, err)
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, remote.Wrong(hint, "cannot read the list of files %q: %w", at, err)
	}
	for _, name := range m.Files {
		if checkPath(name) != nil || name == s.opts.Manifest {
			return nil, remote.Wrong(hint, "cannot read the list of files %q: %q is not a valid file name", at, name)
		}
		files[name] = true
	}
	return files, nil
}

// list writes the manifest; without files it removes the manifest.
func (s *Sink) list(here *folder, files []string) error {
	in, e, ok, err := here.file(s.opts.Manifest)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		if ok {
			delete(in.entries, e.Name)
		}
		return nil
	}
	data, err := json.MarshalIndent(manifest{files}, "", "  ")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	hash := plumbing.ComputeHash(plumbing.BlobObject, data)
	if ok && e.Hash == hash {
		return nil
	}
	return in.put(path.Base(s.opts.Manifest), filemode.Regular, hash, data)
}
