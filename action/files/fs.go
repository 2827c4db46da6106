package files

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
)

// write implements fs:write.
func write(_ context.Context, c *action.Call) error {
	name := c.Input.Get("path").Str()
	if err := c.Workspace.WriteFile(name, []byte(c.Input.Get("content").Str()), c.Input.Get("executable").IsTrue()); err != nil {
		return err
	}
	c.Logf("wrote %s", name)
	c.Output("path", tree.Str(path.Clean(filepath.ToSlash(name))))
	return nil
}

// remove implements fs:delete. Missing files are not an error.
func remove(ctx context.Context, c *action.Call) error {
	for _, name := range c.Input.Get("files").Strings() {
		found, err := chosen(ctx, c.Workspace, name)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			c.Logf("nothing to delete: no match for %s", name)
		}
		for _, f := range found {
			if err := c.Workspace.Remove(f); err != nil {
				return err
			}
			c.Logf("deleted %s", f)
		}
	}
	return nil
}

// chosen returns the paths in the workspace that a name or pattern matches.
func chosen(ctx context.Context, w *action.Workspace, given string) ([]string, error) {
	at, err := local(given)
	if err != nil {
		return nil, err
	}
	if at == "." {
		at = "**"
	}
	switch _, err := fs.Lstat(w.FS(), at); {
	case err == nil:
		return []string{at}, nil
	case !isPattern(at):
		return nil, nil
	}
	p, err := parsePattern(at)
	if err != nil {
		return nil, err
	}
	var all []string
	err = fs.WalkDir(w.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return unread(name, err)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case name == "." || !p.matches(name):
			return nil
		}
		all = append(all, name)
		if e.IsDir() {
			// Its contents are removed with it.
			return fs.SkipDir
		}
		return nil
	})
	return all, err
}

// rename implements fs:rename.
func rename(_ context.Context, c *action.Call) error {
	for _, f := range c.Input.Get("files").List() {
		from, to := f.Get("from").Str(), f.Get("to").Str()
		if err := c.Workspace.Rename(from, to, f.Get("overwrite").IsTrue()); err != nil {
			return err
		}
		c.Logf("renamed %s to %s", from, to)
	}
	return nil
}

// list implements fs:readdir. Paths are relative to the workspace, so that its
// location on the machine is not revealed.
func (a actions) list(ctx context.Context, c *action.Call) error {
	files, folders := tree.Arr(), tree.Arr()
	for _, given := range c.Input.Get("paths").Strings() {
		top, err := local(given)
		if err != nil {
			return err
		}
		err = fs.WalkDir(c.Workspace.FS(), top, func(name string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return unread(name, err)
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case name == top && !e.IsDir():
				return action.Errorf("set the folder that contains it", "cannot list %q: not a folder", given)
			case name == top:
				return nil
			case len(files.Items)+len(folders.Items) == a.MaxFiles:
				return action.Errorf("list a subfolder", "cannot list %q: more than %d files", given, a.MaxFiles)
			}
			found := tree.Obj(tree.F("name", tree.Str(e.Name())), tree.F("path", tree.Str(name)), tree.F("fullPath", tree.Str(name)))
			if !e.IsDir() {
				files.Items = append(files.Items, found)
				return nil
			}
			folders.Items = append(folders.Items, found)
			if !c.Input.Get("recursive").IsTrue() {
				return fs.SkipDir
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	c.Output("files", files)
	c.Output("folders", folders)
	return nil
}

// local returns a clean path in the workspace, or an error if the path escapes it.
func local(given string) (string, error) {
	at := path.Clean(filepath.ToSlash(given))
	if given == "" || !filepath.IsLocal(at) || strings.ContainsRune(given, 0) {
		return "", action.Errorf("write a path in the workspace, without ..", "cannot use path %q: outside the workspace", given)
	}
	return at, nil
}

// unread returns a read error without the path of the workspace.
func unread(name string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return action.Errorf("check the path, and that no link leads out of the workspace", "cannot read %q: %w", name, err)
}
