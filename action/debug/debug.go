// Package debug has actions for authors of Templates: debug:log logs the input of
// a step and the contents of the workspace, and debug:wait waits.
package debug

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
)

// IDs of the actions.
const (
	ActionLog  = "debug:log"
	ActionWait = "debug:wait"
)

// DefaultMaxWait is the default maximum of debug:wait.
const DefaultMaxWait = 10 * time.Minute

const (
	// maxNames is the maximum number of listed files, and maxContents the maximum
	// number of bytes shown of all files together.
	maxNames    = 10_000
	maxContents = 1 << 20
)

// Options limit the actions.
type Options struct {
	// MaxWait is the maximum of debug:wait. Zero means DefaultMaxWait.
	MaxWait time.Duration
}

// Actions returns debug:log and debug:wait.
func Actions(o Options) []action.Action {
	if o.MaxWait <= 0 {
		o.MaxWait = DefaultMaxWait
	}
	return []action.Action{
		{
			ID:          ActionLog,
			Description: "Logs a message and the contents of the workspace",
			Input:       logInput, Examples: logExamples,
			DryRun: true, Contained: true, Run: log,
		},
		{
			ID:          ActionWait,
			Description: "Waits for a given time, " + o.MaxWait.String() + " at most",
			Input:       waitInput, Examples: waitExamples,
			DryRun: true, Contained: true, Run: o.wait,
		},
	}
}

// log implements debug:log. It logs its input first, as upstream does.
func log(ctx context.Context, c *action.Call) error {
	if c.Input != nil {
		c.Logf("%s", tree.AppendJSON(nil, c.Input, "  "))
	}
	if m := c.Input.Get("message").Scalar(); m != "" {
		c.Logf("%s", m)
	}
	wanted := c.Input.Get("listWorkspace")
	if !wanted.IsTrue() && wanted.Str() == "" {
		return nil
	}
	listed, err := list(ctx, c.Workspace, wanted.Str() == withContents)
	if err != nil {
		return err
	}
	c.Logf("Workspace:\n%s", listed)
	return nil
}

// list lists the files of the workspace, one per line.
func list(ctx context.Context, w *action.Workspace, contents bool) (string, error) {
	if w == nil {
		return "", nil
	}
	var lines []string
	room := maxContents
	err := fs.WalkDir(w.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("cannot list the workspace: %w", err)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case e.IsDir():
			return nil
		case len(lines) == maxNames:
			lines = append(lines, "  and more")
			return fs.SkipAll
		case !contents:
			lines = append(lines, "  - "+name)
			return nil
		}
		text := content(w.FS(), name, room)
		room = max(0, room-len(text))
		lines = append(lines, " - "+name+":\n\n  "+text)
		return nil
	})
	return strings.Join(lines, "\n"), err
}

// content returns the content of a file, or a note if it does not fit or is not
// text.
func content(from fs.FS, name string, room int) string {
	f, err := from.Open(name)
	if err != nil {
		return "(cannot be read)"
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "(not a regular file)"
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(room)+1))
	switch {
	case err != nil:
		return "(cannot be read)"
	case len(data) > room:
		return "(too large to be shown)"
	case !utf8.Valid(data) || strings.ContainsRune(string(data), 0):
		return "(not text, " + strconv.Itoa(len(data)) + " bytes)"
	}
	return string(data)
}

// wait implements debug:wait. A dry run does not wait.
func (o Options) wait(ctx context.Context, c *action.Call) error {
	seconds := 0.0
	for _, unit := range []struct {
		name string
		is   float64
	}{{"minutes", 60}, {"seconds", 1}, {"milliseconds", 0.001}} {
		n := c.Input.Get(unit.name)
		if n.IsNull() {
			continue
		}
		v, err := strconv.ParseFloat(n.Scalar(), 64)
		if err != nil || math.IsNaN(v) || v < 0 {
			return &action.Error{Err: fmt.Errorf("cannot wait for %q %s: not a duration", n.Scalar(), unit.name), Hint: "write a number that is not negative"}
		}
		seconds += v * unit.is
	}
	if seconds > o.MaxWait.Seconds() {
		return &action.Error{
			Err:  fmt.Errorf("cannot wait that long: the limit is %s", o.MaxWait),
			Hint: "set a shorter time, or let the next step wait for its condition",
		}
	}
	d := time.Duration(seconds * float64(time.Second))
	if c.DryRun {
		c.Logf("dry run: would wait for %s", d)
		return nil
	}
	c.Logf("waiting for %s", d)
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
