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

// ProviderOptions are how an XrdTemplateProvider keeps a portal true.
type ProviderOptions struct {
	// Watch calls changed when files have changed, until ctx ends or it cannot
	// go on, such as the method Watch of a source of files. Nil means nobody
	// watches.
	Watch func(ctx context.Context, changed func()) error
	// Every is how often Run looks besides. Zero means never.
	Every time.Duration
	// Synced, if not nil, is told what became of each Sync of Run, from its
	// goroutine.
	Synced func(Report, error)
	// AllowEmpty lets a folder without entities remove everything, and
	// AllowRemovals one that has less than half of what it had.
	AllowEmpty, AllowRemovals bool
}

// XrdTemplateProvider keeps a portal's catalog as a folder of entities is:
// files that end in .yaml, .yml and .json, in folders below it too. Names that
// begin with a dot, and links, are passed over.
type XrdTemplateProvider struct {
	portal *Portal
	folder fs.FS
	opts   ProviderOptions
}

// NewXrdTemplateProvider returns the provider of a folder, such as os.DirFS gives.
func NewXrdTemplateProvider(p *Portal, folder fs.FS, opts ProviderOptions) *XrdTemplateProvider {
	return &XrdTemplateProvider{portal: p, folder: folder, opts: opts}
}

// InvalidError is a folder whose entities the catalog would refuse. Nothing
// was pushed.
type InvalidError struct{ Findings []finding.Finding }

// Error says how many errors there are, and shows the first.
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

// ErrEmpty is a folder without entities.
var ErrEmpty = errors.New("cannot push the folder: it holds no entities")

// Sync makes the portal's catalog as the folder is, wholly or not at all. It
// pushes nothing, and returns an error, if a file cannot be read or breaks the
// catalog's rules (*InvalidError), if there are no entities (ErrEmpty), if too
// many would go (*ShrinkError), or if the portal refuses (*Error). What the
// portal refuses of single entities is in the Report.
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
		return Report{}, fmt.Errorf("cannot push the folder: it is not complete: %s", why)
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

// read reads the folder, in the order of its paths.
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

// isEntities reports whether a file is one to read.
func isEntities(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// Run syncs at once, whenever files change, and as often as the options say,
// until ctx ends; then it returns nil. What goes wrong is told to Synced, and
// the portal keeps what it has until it is mended. It is an error if nobody
// watches any more and nothing is due.
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
	// stopped is ended until it was heard of.
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
				return errors.Join(errors.New("cannot go on: nobody watches the folder"), err)
			}
			stopped = nil
		}
	}
}
