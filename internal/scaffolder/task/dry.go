package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/identity"
	"example.dev/ingestor/internal/scaffolder/mask"
	"example.dev/ingestor/internal/scaffolder/step"
)

// Limits of dry runs.
const (
	mostDry      = 2
	dryWithin    = 30 * time.Second
	dryWait      = 5 * time.Second
	mostDryBytes = 10 << 20
	mostDryFiles = 5000
	mostDryLog   = 10 << 20
	// mostDryDisk is more than is shown, since files may be deleted again.
	mostDryDisk = 256 << 20
)

// DryOrder is a Template to dry-run, with the files next to it.
type DryOrder struct {
	Order
	Files []File
}

// File is a file of a workspace.
type File struct {
	Path       string
	Executable bool
	Content    []byte
}

// Dry is the result of a dry run of a Template.
type Dry struct {
	// Log holds JSON objects with a body.
	Log           []json.RawMessage
	Steps, Output *tree.Node
	// Files are the files of the workspace after the run.
	Files []File
	// Changes are the changes the steps would make outside the workspace.
	Changes []DryChange
}

// DryRun runs a Template without side effects: actions that do not support dry runs
// are skipped, the others change nothing but the workspace. The error is Invalid if
// the values do not fit the form, and Refused if the Template cannot be run or one of
// its steps failed.
func (t *Tasks) DryRun(ctx context.Context, o DryOrder) (*Dry, error) {
	if err := fewSecrets(o.Secrets); err != nil {
		return nil, err
	}
	// Each caller runs one at a time, so that no caller takes all slots.
	done, err := t.turns.take(ctx, o.By.Caller.Key())
	if err != nil {
		return nil, err
	}
	defer done()
	if err := t.queueUp(ctx); err != nil {
		return nil, err
	}
	defer func() { <-t.drying }()
	ctx, cancel := context.WithTimeout(ctx, dryWithin)
	defer cancel()
	made, err := o.spec(ctx)
	if ctx.Err() != nil {
		return nil, late(ctx)
	}
	if err != nil {
		return nil, err
	}
	if err := t.checkPermissions(ctx, made.node, o.By, o.Secrets); err != nil {
		return nil, err
	}
	id := "dry-run-" + uuid.NewString()
	dir, err := t.root.Make(id)
	if err != nil {
		return nil, err
	}
	root, err := os.Lstat(dir)
	if err != nil {
		return nil, errRemoved
	}
	defer func() {
		if err := t.root.Remove(id); err != nil {
			t.log.Warn("workspace removal failed", "error", err)
		}
	}()
	inside, beside := filepath.Join(dir, "workspace"), filepath.Join(dir, "beside")
	if err := errors.Join(os.Mkdir(inside, 0o700), os.Mkdir(beside, 0o700)); err != nil {
		return nil, err
	}
	if err := lay(beside, o.Files); err != nil {
		return nil, err
	}
	workspace, err := action.OpenWorkspace(inside)
	if err != nil {
		return nil, err
	}
	defer workspace.Close() //nolint:errcheck // nothing is lost
	workspace.Limit(mostDryDisk)
	files, err := action.OpenWorkspace(beside)
	if err != nil {
		return nil, err
	}
	defer files.Close() //nolint:errcheck // nothing is lost
	log := &dryLog{mask: mask.New(o.Secrets)}
	changes := &dryChanges{mask: log.mask}
	task := &step.Task{ID: id, Spec: made.node, Secrets: o.Secrets, Workspace: workspace, DryRun: true, Beside: files.FS(), Log: log.add, Change: changes.add}
	t.actFor(task, o.By)
	ctx = identity.With(ctx, o.By.Caller)
	state := &step.State{}
	log.add(step.Event{Message: fmt.Sprintf("Starting up task with %d steps", len(task.Steps()))})
	for state.Next < len(task.Steps()) {
		for _, e := range t.runner.Step(ctx, task, state) {
			log.add(e)
		}
		if ctx.Err() != nil {
			return nil, late(ctx)
		}
	}
	if isGone(dir, root) {
		return nil, errRemoved
	}
	if f := state.Failure; f != nil {
		why := f.Message
		if f.Hint != "" {
			why += "; " + f.Hint
		}
		return nil, refuse("%s", log.mask.Text(why))
	}
	out := &Dry{Steps: made.node.Get("steps"), Output: log.mask.Node(t.runner.Output(task, state))}
	if out.Files, err = collect(inside); err != nil {
		return nil, err
	}
	out.Log, out.Changes = log.close(), changes.close()
	return out, nil
}

// queueUp waits for one of the slots for dry runs.
func (t *Tasks) queueUp(ctx context.Context) error {
	enough := time.NewTimer(dryWait)
	defer enough.Stop()
	select {
	case t.drying <- struct{}{}:
		return nil
	case <-enough.C:
		return overLimit("cannot dry-run the Template: %d other dry runs in progress; try again later", mostDry)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func late(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return refuse("cannot dry-run the Template: timed out after %s", dryWithin)
	}
	return context.Cause(ctx)
}

// dryLog collects the log of a dry run.
type dryLog struct {
	mask *mask.Mask

	mu   sync.Mutex
	all  []json.RawMessage
	size int
	full bool
}

func (l *dryLog) add(e step.Event) {
	var fields []field
	if e.Step != "" {
		fields = append(fields, field{"stepId", quote(e.Step)})
	}
	if e.Status != "" {
		fields = append(fields, field{"status", quote(e.Status)})
	}
	one := object([]field{{"body", object(append(fields, field{"message", quote(cut(l.mask.Text(e.Message)))}))}})
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.full {
		return
	}
	if l.size += len(one); l.size > mostDryLog {
		l.full = true
		one = object([]field{{"body", object([]field{{"message", quote("The rest of the log is dropped")}})}})
	}
	l.all = append(l.all, one)
}

// close returns the log. Messages added later are dropped.
func (l *dryLog) close() []json.RawMessage {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.full = true
	return l.all
}

// lay writes files into a folder.
func lay(dir string, files []File) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing is lost
	if len(files) > mostDryFiles {
		return refuse("cannot dry-run the Template: more than %d files", mostDryFiles)
	}
	size := 0
	for _, f := range files {
		if size += len(f.Content); size > mostDryBytes {
			return refuse("cannot dry-run the Template: files are larger than %d MiB", mostDryBytes>>20)
		}
		name := path.Clean(filepath.ToSlash(f.Path))
		if f.Path == "" || name == "." || !filepath.IsLocal(name) {
			return refuse("cannot use path %q: path escapes the folder of the Template", f.Path)
		}
		mode := fs.FileMode(0o600)
		if f.Executable {
			mode = 0o700
		}
		if root.MkdirAll(path.Dir(name), 0o700) != nil || root.WriteFile(name, f.Content, mode) != nil {
			return refuse("cannot write %q: path is not usable", f.Path)
		}
	}
	return nil
}

// collect returns the files of a folder.
func collect(dir string) ([]File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // nothing is lost
	var files []File
	size := int64(0)
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if size += info.Size(); size > mostDryBytes || len(files) >= mostDryFiles {
			return refuse("cannot return the files of the dry run: more than %d MiB or %d files", mostDryBytes>>20, mostDryFiles)
		}
		content, err := root.ReadFile(name)
		files = append(files, File{Path: name, Executable: info.Mode()&0o100 != 0, Content: content})
		return err
	})
	return slices.Clip(files), err
}
