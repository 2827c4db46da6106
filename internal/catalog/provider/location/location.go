// Package location reads what stands behind an address: entities in files and
// at URLs, and in the files and URLs that Location entities among them name.
// It reads within bounds and nothing more: files below named folders, hosts on
// a list, so many bytes, so long.
package location

import (
	"context"
	"net/http"
	"strings"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config"
)

// The types of location.
const (
	TypeFile = "file"
	TypeURL  = "url"
)

// The bounds that are not configured.
const (
	// maxDepth is how deep Locations may name Locations, and maxAddresses how
	// many addresses one location may lead to.
	maxDepth     = 10
	maxAddresses = 1000
	// maxFiles is how many files a pattern may match, and maxEntries how many
	// names may be looked at for it.
	maxFiles   = 10_000
	maxEntries = 200_000
	// maxTotal is how many bytes a location may bring, maxDocuments how many
	// documents, empty ones included, and maxUnreadable how many of these may be
	// no YAML. maxProblems is how many problems are told of.
	maxTotal      = 256 << 20
	maxDocuments  = 100_000
	maxUnreadable = 1000
	maxProblems   = 100
	// MaxAliased is how many bytes aliases may add to all documents that are
	// read together. A short text can have aliases of aliases for millions of
	// values.
	MaxAliased = 1 << 20
	// patience is how many times the time of one read all reads of a location
	// may take.
	patience = 10

	defaultTimeout = 30 * time.Second
	defaultMaxSize = 10 << 20
)

// Options are the bounds of a Reader.
type Options struct {
	// Config says which files and hosts may be read, how long it may take and
	// how much there may be. A zero Timeout means 30 seconds, a zero MaxSize
	// 10 MiB.
	Config config.Reading
	// Rules are the kinds of entity a location may bring, unless it has rules
	// of its own. Without any, none may come.
	Rules []config.CatalogRule
	// Agent is what servers are told who asks; empty means "portal-backend".
	Agent string
}

// Reader reads locations. Its methods may be called at once.
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
	// Type is TypeFile or TypeURL. Target is a URL, or the absolute path of a
	// file, with patterns if need be: * and ? stand for characters of a name,
	// [ab] for one of several, ** for any folders.
	Type, Target string
	// Rules, if not empty, are the kinds it may bring, instead of the Reader's.
	Rules []config.CatalogRule
	// Static says that the operator wrote it, so that its own folder may be
	// read.
	Static bool
	// Since, if not nil, is what an earlier Read remembered. If nothing is
	// different, the documents are not read again.
	Since *Memo
}

// String returns the target as annotations have it, type:target.
func (t Target) String() string { return t.Type + ":" + t.Target }

// Document is an entity that was found.
type Document struct {
	// Node has been checked, and says where it comes from.
	Node *tree.Node
	// Ref is its canonical reference, Parent that of the Location that named
	// the file it is in; empty for the location's own.
	Ref, Parent string
	// File is the path or URL it is in, and Pos where it begins.
	File string
	Pos  tree.Pos
}

// Result is what stands behind an address.
type Result struct {
	// Documents are the entities, the location's own first. Locations with
	// problems tell of them in their status.
	Documents []Document
	// Problems are what could not be read or may not come. The rest was read.
	Problems []Problem
	// Complete says that whatever is not among Documents is not there any
	// more, but for Keep, the references of those that are there and cannot be
	// used as they are.
	Complete bool
	Keep     []string
	// Unchanged says that everything is as Target.Since remembers it; then
	// there are no Documents and no Problems.
	Unchanged bool
	// Memo is for the next Read. It is nil if something could not be read.
	Memo *Memo
}

// Read reads a location. If there is nothing at the address itself, or it may
// not be read, the error is a *Problem, and the Result has the location's own
// entity, which says so. When ctx ends, its error is returned and no Result.
func (r *Reader) Read(ctx context.Context, t Target) (*Result, error) {
	limited, cancel := context.WithTimeout(ctx, patience*r.opts.Config.Timeout)
	defer cancel()
	if t.Since != nil && r.same(limited, t) {
		return &Result{Unchanged: true, Memo: t.Since}, nil
	}
	w := newWalk(r, t)
	failed := w.run(limited)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return w.result(), failed
}

// Check reports whether a location has an address that could be read: a URL
// with a host and no password, or an absolute path. The error is a *Problem.
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

// clip shortens what somebody wrote for a message.
func clip(s string) string { return clipTo(200, s) }

// maxMessage is the most of a message that may repeat what somebody wrote: it
// goes into the log, and is told wherever the location is.
const maxMessage = 1000

func clipTo(most int, s string) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
