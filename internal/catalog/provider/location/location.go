// Package location reads entities from files and URLs, and from the files and URLs that
// Location entities among them name. It reads only within limits: files below
// configured folders, hosts on an allow list, with a maximum size and a timeout.
//
// It is one package because one walk follows files and URLs, which refer to each other.
package location

import (
	"context"
	"errors"
	"net/http"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/spool"
	"example.dev/ingestor/internal/text"
)

// The types of location.
const (
	TypeFile = "file"
	TypeURL  = "url"
)

// The limits that are not configurable.
const (
	// maxDepth is how deep Locations may be nested, and maxAddresses how many addresses
	// one location may lead to.
	maxDepth     = 10
	maxAddresses = 1000
	// maxFiles is how many files a pattern may match, and maxEntries how many directory
	// entries may be read for it.
	maxFiles   = 10_000
	maxEntries = 200_000
	// maxTotal is the maximum size of a location in bytes, maxDocuments its maximum number
	// of documents, including empty ones, and maxUnreadable how many of these may be
	// invalid YAML. maxProblems is how many problems are reported.
	maxTotal      = 256 << 20
	maxDocuments  = 100_000
	maxUnreadable = 1000
	maxProblems   = 100
	// heldDocuments is how many documents are held as values.
	heldDocuments = 1000
	// MaxAliased is how many bytes aliases may add to all documents that are read
	// together. A short text with aliases of aliases can expand to millions of values.
	MaxAliased = 1 << 20
	// patience is the timeout for all reads of a location, as a multiple of the timeout
	// for one read.
	patience = 10

	defaultTimeout = 30 * time.Second
	defaultMaxSize = 10 << 20
)

// Options are the options of New.
type Options struct {
	// Config says which files and hosts may be read, the timeout and the maximum size. A
	// zero Timeout means 30 seconds, a zero MaxSize 10 MiB.
	Config config.Reading
	// Rules are the kinds of entity that a location without its own rules may provide.
	// Without any rules, none are allowed.
	Rules []config.CatalogRule
	// Agent is the User-Agent header; empty means "portal-backend".
	Agent string
}

// Reader reads locations. Its methods may be called concurrently.
type Reader struct {
	opts   Options
	client *http.Client
}

// New returns a Reader.
func New(opts Options) *Reader {
	if opts.Config.Timeout <= 0 {
		opts.Config.Timeout = defaultTimeout
	}
	if opts.Config.MaxSize <= 0 {
		opts.Config.MaxSize = defaultMaxSize
	}
	if opts.Agent == "" {
		opts.Agent = "portal-backend"
	}
	r := &Reader{opts: opts}
	r.client = r.newClient()
	return r
}

// Target is a location to read.
type Target struct {
	// Type is TypeFile or TypeURL. Target is a URL, or the absolute path of a file, which
	// may contain patterns: * and ? match characters of a name, [ab] one of several, and
	// ** any folders.
	Type, Target string
	// Rules, if not empty, are the kinds that it may provide, instead of the Reader's.
	Rules []config.CatalogRule
	// Static says that the location is in the configuration, so that its own folder may be
	// read.
	Static bool
	// Since, if not nil, is the Memo of an earlier Read. If nothing has changed, the
	// documents are not read again.
	Since *Memo
}

// String returns the target as in annotations, type:target.
func (t Target) String() string { return t.Type + ":" + t.Target }

// Document is an entity that was read.
type Document struct {
	// Node is validated, and annotated with its origin. If it is nil, Text is the same as
	// JSON; that of a Location never is.
	Node *tree.Node
	Text spool.Text
	// Ref is its canonical reference, Parent that of the Location that named its file;
	// empty for the entity of the location itself.
	Ref, Parent string
	// File is its path or URL, and Pos its position there.
	File string
	Pos  tree.Pos
}

// JSON returns the document as JSON.
func (d *Document) JSON() ([]byte, error) {
	if d.Node != nil {
		return tree.AppendJSON(nil, d.Node, ""), nil
	}
	return d.Text.Load()
}

// Result is the result of reading a location. It must be closed after the last use of its
// Documents.
type Result struct {
	// Documents are the entities, that of the location itself first. Locations with
	// problems have them in their status.
	Documents []Document
	// Problems are what could not be read or is not allowed. The rest was read.
	Problems []Problem
	// Complete says that entities which are not in Documents no longer exist, except for
	// those in Keep, the references of entities that exist but are invalid.
	Complete bool
	Keep     []string
	// Unchanged says that nothing has changed since Target.Since; then there are no
	// Documents and no Problems.
	Unchanged bool
	// Memo is for the next Read. It is nil if something could not be read.
	Memo *Memo

	texts *spool.Spool
}

// Close removes the temporary file of the documents.
func (r *Result) Close() error {
	if r == nil || r.texts == nil {
		return nil
	}
	return r.texts.Close()
}

// Read reads a location. If the address itself does not exist or may not be read, the
// error is a *Problem, and the Result contains the entity of the location with the
// problem in its status. When ctx ends, Read returns its error and no Result.
func (r *Reader) Read(ctx context.Context, t Target) (*Result, error) {
	limited, cancel := context.WithTimeout(ctx, patience*r.opts.Config.Timeout)
	defer cancel()
	if t.Since != nil && r.same(limited, t) {
		return &Result{Unchanged: true, Memo: t.Since}, nil
	}
	w := newWalk(r, t)
	failed := w.run(limited)
	if ctx.Err() != nil {
		return nil, errors.Join(context.Cause(ctx), w.texts.Close())
	}
	return w.result(), failed
}

// Check returns an error, a *Problem, if a location has an address that cannot be read.
// A URL must have a host and no password, and a path must be absolute.
func Check(typ, target string) error {
	switch typ {
	case TypeURL:
		if _, p := parseURL(target); p != nil {
			return p
		}
	case TypeFile:
		if p := checkPath(target); p != nil {
			return p
		}
	default:
		return problemf(nameInput, "Unable to read locations of type %q: the types are file and url", clip(typ))
	}
	return nil
}

// clip shortens user input for a message.
func clip(s string) string { return text.Shorten(s, 200) }

// maxMessage is how much user input a message may repeat: messages are logged, and
// shown wherever the location is.
const maxMessage = 1000
