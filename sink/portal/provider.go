package portal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/sink/spool"
)

// ProviderOptions configure an XrdTemplateProvider.
type ProviderOptions struct {
	// Watch calls changed when files have changed, until ctx ends or the watch
	// fails, such as the method Watch of a source of files. Nil means no watch.
	Watch func(ctx context.Context, changed func()) error
	// Every is the interval of additional syncs of Run. Zero means none.
	Every time.Duration
	// Synced, if not nil, is called with the result of each Sync of Run, from its
	// goroutine.
	Synced func(Report, error)
	// AllowEmpty lets a folder without entities remove everything, and AllowRemovals
	// lets a push remove more than half of the entities.
	AllowEmpty, AllowRemovals bool
}

// XrdTemplateProvider syncs a portal's catalog with a folder of entities: files
// that end in .yaml, .yml and .json, including subfolders. Names with a leading
// dot, and links, are skipped.
type XrdTemplateProvider struct {
	portal *Portal
	folder fs.FS
	opts   ProviderOptions
}

// NewXrdTemplateProvider returns the provider of a folder, such as one from
// os.DirFS.
func NewXrdTemplateProvider(p *Portal, folder fs.FS, opts ProviderOptions) *XrdTemplateProvider {
	return &XrdTemplateProvider{portal: p, folder: folder, opts: opts}
}

// InvalidError is the error of a folder whose entities the catalog would refuse.
// Nothing was pushed.
type InvalidError struct{ Findings []finding.Finding }

// Error returns the number of errors and the first one.
func (e *InvalidError) Error() string {
	errs := 0
	var first finding.Finding
	for _, f := range e.Findings {
		if f.Severity != finding.Error {
			continue
		}
		if errs++; errs == 1 {
			first = f
		}
	}
	return fmt.Sprintf("cannot push the folder: %d errors, the first: %s: %s", errs, first.Where(), first.Message)
}

// ErrEmpty is the error of a folder without entities.
var ErrEmpty = errors.New("cannot push the folder: no entities found")

// Sync makes the portal's catalog match the folder, atomically. It pushes nothing
// and returns an error if a file cannot be read or breaks the catalog's rules
// (*InvalidError), if there are no entities (ErrEmpty), if too many would be
// removed (*ShrinkError), or if the portal refuses (*Error). Refused single
// entities are in the Report.
func (p *XrdTemplateProvider) Sync(ctx context.Context) (Report, error) {
	s, err := spool.New(spool.Options{})
	if err != nil {
		return Report{}, err
	}
	defer s.Close() //nolint:errcheck // it is a temporary file
	if err := p.read(ctx, s); err != nil {
		return Report{}, err
	}
	if why, ok := s.Failure(); ok {
		return Report{}, fmt.Errorf("cannot push the folder: not complete: %s", why)
	}
	if finding.Count(s.Findings(), finding.Error)+s.Unkept(finding.Error) > 0 {
		return Report{}, &InvalidError{s.Findings()}
	}
	if s.Len() == 0 && !p.opts.AllowEmpty {
		return Report{}, ErrEmpty
	}
	if !p.opts.AllowRemovals && s.Len() > 0 {
		if err := p.portal.Guard(ctx, s.Len()); err != nil {
			return Report{}, err
		}
	}
	lines, err := s.Reader()
	if err != nil {
		return Report{}, err
	}
	return p.portal.Push(ctx, lines, PushOptions{AllowEmpty: p.opts.AllowEmpty})
}

// read reads the folder, sorted by path.
func (p *XrdTemplateProvider) read(ctx context.Context, s *spool.Spool) error {
	return fs.WalkDir(p.folder, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("cannot read the folder: %w", err)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case name != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || !isEntities(name):
			return nil
		}
		f, err := p.folder.Open(name)
		if err != nil {
			return fmt.Errorf("cannot read the folder: %w", err)
		}
		defer f.Close()
		if err := s.Read(f, name); err != nil {
			return fmt.Errorf("cannot read %q: %w", name, err)
		}
		return nil
	})
}

// isEntities reports whether a file may contain entities.
func isEntities(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// Run syncs at once, whenever files change, and at the interval Every, until ctx
// ends; then it returns nil. Errors are passed to Synced, and the portal keeps its
// entities until they are fixed. Run returns an error if the watch ended and Every
// is zero.
func (p *XrdTemplateProvider) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	changed, ended := make(chan struct{}, 1), make(chan error, 1)
	if p.opts.Watch != nil {
		go func() {
			ended <- p.opts.Watch(ctx, func() {
				select {
				case changed <- struct{}{}:
				default:
				}
			})
		}()
		defer func() { <-ended }()
	}
	defer cancel()
	var due <-chan time.Time
	if p.opts.Every > 0 {
		t := time.NewTicker(p.opts.Every)
		defer t.Stop()
		due = t.C
	}
	// stopped is ended until its value was received.
	stopped := ended
	for {
		r, err := p.Sync(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if p.opts.Synced != nil {
			p.opts.Synced(r, err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-due:
		case err := <-stopped:
			ended <- err
			if ctx.Err() != nil {
				return nil
			}
			if due == nil {
				return errors.Join(errors.New("cannot continue: folder is not watched"), err)
			}
			stopped = nil
		}
	}
}
