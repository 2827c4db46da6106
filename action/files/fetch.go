package files

import (
	"bytes"
	"context"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"example.dev/ingestor/action"
	"example.dev/ingestor/internal/git/forge"
	"example.dev/ingestor/internal/secret"
)

// fetch implements fetch:plain.
func (a actions) fetch(ctx context.Context, c *action.Call) error {
	return a.put(ctx, c, false, asItIs)
}

// fetchFile implements fetch:plain:file.
func (a actions) fetchFile(ctx context.Context, c *action.Call) error {
	return a.put(ctx, c, true, asItIs)
}

// made is the result for a fetched file.
type made struct {
	name string
	data []byte
	// left means that the file is skipped.
	left bool
}

// change converts a fetched file.
type change func(name string, data []byte) (made, error)

func asItIs(name string, data []byte) (made, error) { return made{name: name, data: data}, nil }

// open opens the file or folder that the step names.
func (a actions) open(ctx context.Context, c *action.Call) (*Tree, error) {
	address := strings.TrimSpace(c.Input.Get("url").Str())
	if c.Beside == nil || address == "" || forge.IsAddress(address) {
		may := func(repository string, anonymous bool) error {
			return c.Require(ctx, action.RepositoryRead, action.Target{Name: repository, Repository: repository, Anonymous: anonymous})
		}
		return a.Fetcher.Fetch(ctx, c.Base, address, secret.Text(c.Input.Get("token").Str()), may)
	}
	name, err := local(address)
	if err != nil {
		return nil, err
	}
	return &Tree{Files: c.Beside, Path: name, Shown: address}, nil
}

// put fetches a file or a folder, and writes the converted files to the workspace.
func (a actions) put(ctx context.Context, c *action.Call, one bool, become change) error {
	target := "."
	if given := c.Input.Get("targetPath").Str(); given != "" {
		var err error
		if target, err = local(given); err != nil {
			return err
		}
	}
	if one && target == "." {
		return action.Errorf("set targetPath to a file", "cannot replace the workspace by a file")
	}
	t, err := a.open(ctx, c)
	if err != nil {
		return err
	}
	if t.Close != nil {
		defer t.Close() //nolint:errcheck // it was only read
	}
	items, err := a.walk(ctx, c, t)
	if err != nil {
		return err
	}
	switch isOne := len(items) == 1 && items[0].name == ""; {
	case one && !isOne:
		return action.Errorf("set a file, or use "+ActionFetch+" or "+ActionTemplate, "cannot fetch %q: is a folder", t.Shown)
	case !one && isOne:
		return action.Errorf("set a folder, or use "+ActionFetchFile+" or "+ActionTemplateFile, "cannot fetch %q: is a file", t.Shown)
	}
	p := putter{actions: a, call: c, tree: t, target: target, in: a.MaxBytes, out: a.MaxBytes}
	for _, it := range items {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := p.item(it, become); err != nil {
			return err
		}
	}
	c.Logf("wrote %d files of %s", p.wrote, t.Shown)
	return nil
}

// putter writes files to the workspace.
type putter struct {
	actions
	call   *action.Call
	tree   *Tree
	target string
	// in and out are how many bytes may still be read and written.
	in, out int64
	wrote   int
}

// item writes one file to the workspace.
func (p *putter) item(it item, become change) error {
	data, err := read(p.tree.Files, it.real, p.in)
	if err != nil {
		return notFetched(p.tree, it.name, err)
	}
	p.in -= int64(len(data))
	m, err := become(it.name, data)
	if err != nil || m.left {
		return err
	}
	if p.out -= int64(len(m.data)); p.out < 0 {
		return notFetched(p.tree, it.name, errTooMuch)
	}
	if err := p.call.Workspace.WriteFile(path.Join(p.target, m.name), m.data, it.executable); err != nil {
		return err
	}
	p.wrote++
	return nil
}

// isText reports whether a file can be a template.
func isText(data []byte) bool {
	const beginning = 8 << 10
	return !bytes.Contains(data[:min(len(data), beginning)], []byte{0}) && utf8.Valid(data)
}

// exists reports whether a file or folder exists in the workspace.
func exists(w *action.Workspace, name string) bool {
	_, err := fs.Lstat(w.FS(), name)
	return err == nil
}
