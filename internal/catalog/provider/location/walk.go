package location

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/spool"
	"example.dev/ingestor/internal/text"
)

// walk is one reading of a location and everything it leads to.
type walk struct {
	reader *Reader
	target Target
	rules  []config.CatalogRule
	files  scope
	// addresses are those that were read, or are being read.
	addresses map[string]bool
	// parsed are the files that were parsed.
	parsed map[string]bool
	// bytes is the size of what was read, written that of the documents with aliases
	// expanded.
	bytes, written int64
	// budget limits the number of documents in all files, and unreadable counts those that
	// cannot be read.
	budget     *parser.Budget
	unreadable int
	docs       []Document
	// texts has the documents after the first heldDocuments.
	texts *spool.Spool
	// index maps a reference to the index of its document.
	index    map[string]int
	problems []Problem
	untold   int
	// entries are those of the Memo; failed says that something could not be read, so that
	// there will be no Memo.
	entries []entry
	failed  bool
	// partial says that there may be entities whose references are unknown, and keep are
	// the references of invalid entities.
	partial bool
	keep    []string
}

// address is an address to read, and the path that led there.
type address struct {
	typ, target string
	// parent is the Location that named it; optional says that it need not exist.
	parent   string
	optional bool
	// above is the address that led here.
	above *address
	depth int
}

func (a *address) String() string { return a.typ + ":" + a.target }

// returns reports whether the address is among those that led to it.
func (a *address) returns() bool {
	for up := a.above; up != nil; up = up.above {
		if up.typ == a.typ && up.target == a.target {
			return true
		}
	}
	return false
}

func newWalk(r *Reader, t Target) *walk {
	w := &walk{reader: r, target: t, rules: t.Rules, files: r.scopeOf(t), addresses: map[string]bool{}, parsed: map[string]bool{}, index: map[string]int{},
		budget: parser.NewBudget(maxDocuments), texts: spool.New(0)}
	if len(w.rules) == 0 {
		w.rules = r.opts.Rules
	}
	root := own(t)
	w.add(Document{Node: root, Ref: entity.RefOf(root).String(), File: t.Target})
	return w
}

// add adds a document. If its reference is taken already, it returns the document that
// has it.
func (w *walk) add(d Document) (taken *Document) {
	if i, ok := w.index[d.Ref]; ok {
		return &w.docs[i]
	}
	w.index[d.Ref] = len(w.docs)
	w.docs = append(w.docs, d)
	return nil
}

// run reads everything. The error is that of the location's own address.
func (w *walk) run(ctx context.Context) error {
	root := &address{typ: w.target.Type, target: w.target.Target, parent: w.docs[0].Ref}
	if p := w.visit(ctx, root); p != nil {
		w.partial = true
		w.report(root, p)
		return p
	}
	return nil
}

// result returns the result of the walk. The status of each Location contains the
// problems that it led to.
func (w *walk) result() *Result {
	if w.untold > 0 {
		w.problems = append(w.problems, Problem{
			Name: nameOther, Message: plural(w.untold, "more problem is", "more problems are") + " not listed", Parent: w.docs[0].Ref,
		})
	}
	byParent := map[string][]Problem{}
	for _, p := range w.problems {
		byParent[p.Parent] = append(byParent[p.Parent], p)
	}
	for parent, ps := range byParent {
		w.docs[w.index[parent]].Node.Set("status", Status(ps))
	}
	res := &Result{Documents: w.docs, Problems: w.problems, Complete: !w.partial, Keep: w.keep, texts: w.texts}
	if !w.failed {
		res.Memo = &Memo{entries: w.entries}
	}
	return res
}

// report records a problem, up to maxProblems.
func (w *walk) report(a *address, p *Problem) {
	if len(w.problems) == maxProblems {
		w.untold++
		return
	}
	p.Parent = a.parent
	w.problems = append(w.problems, *p)
}

// visit reads an address and follows the Locations found there. The problem is that of
// the address itself; those of its documents have been reported.
func (w *walk) visit(ctx context.Context, a *address) *Problem {
	w.addresses[a.String()] = true
	switch a.typ {
	case TypeFile:
		return w.visitFiles(ctx, a)
	case TypeURL:
		return w.visitPage(ctx, a)
	}
	w.failed = true
	return problemf(nameInput, "Unable to read locations of type %q: the types are file and url", clip(a.typ))
}

func (w *walk) visitPage(ctx context.Context, a *address) *Problem {
	u, p := parseURL(a.target)
	if p != nil {
		w.failed = true
		return p
	}
	got, p := w.reader.fetch(ctx, u, nil)
	if p != nil {
		w.failed = true
		return p
	}
	if p := w.count(len(got.body)); p != nil {
		return p
	}
	w.entries = append(w.entries, entry{TypeURL, a.target, got.etag, got.modified, sha256.Sum256(got.body)})
	w.parse(ctx, a, a.target, got.body)
	return nil
}

func (w *walk) visitFiles(ctx context.Context, a *address) *Problem {
	f, p := w.files.open(ctx, a.target)
	if p != nil {
		w.failed = true
		return p
	}
	defer f.close()
	h := sha256.New()
	for _, name := range f.names {
		if ctx.Err() != nil {
			w.failed = true
			return problemf(nameOther, "Unable to read file, %s: timed out", clip(a.target))
		}
		data, p := f.read(name, w.reader.opts.Config.MaxSize)
		if p == nil {
			p = w.count(len(data))
		}
		if p != nil {
			w.failed = true
			if len(f.names) == 1 {
				return p
			}
			w.partial = true
			w.report(a, p)
			continue
		}
		sumFile(h, name, data)
		if file := f.path(name); !w.parsed[file] {
			// A pattern may match the file that contains it.
			w.parsed[file] = true
			w.parse(ctx, a, file, data)
		}
	}
	w.entries = append(w.entries, entry{typ: TypeFile, target: a.target, sum: [sha256.Size]byte(h.Sum(nil))})
	return nil
}

// count adds to the size of the location.
func (w *walk) count(n int) *Problem {
	if w.bytes += int64(n); w.bytes <= maxTotal {
		return nil
	}
	w.failed = true
	return problemf(nameOther, "Unable to read %s, more than %d bytes in total", clip(w.target.String()), maxTotal)
}

// parse reads the documents of a file or page. It continues after an invalid one.
func (w *walk) parse(ctx context.Context, a *address, file string, data []byte) {
	limits := parser.Limits{Bytes: int(w.reader.opts.Config.MaxSize), Budget: w.budget}
	over := parser.Decode(bytes.NewReader(data), limits, func(n *tree.Node, err *parser.Error) bool {
		if err != nil {
			w.partial = w.partial || !err.Kept
			w.report(a, unreadable(file, err))
			if w.unreadable++; w.unreadable < maxUnreadable {
				return true
			}
			p := problemf(nameInput, "Unable to read %s, more than %d unreadable documents", clip(file), maxUnreadable)
			w.partial = true
			w.report(a, p)
			return false
		}
		if w.written += Size(n); w.written > w.bytes+MaxAliased {
			p := problemf(nameInput, "YAML error: aliases add more than %d bytes to the location; use fewer nested aliases", MaxAliased)
			p.Where = where(file, n.At())
			w.partial = true
			w.report(a, p)
			return false
		}
		if p := w.take(ctx, a, file, n); p != nil {
			w.report(a, p)
		}
		return true
	})
	// Reading from memory cannot fail, so the error means that the budget is used up.
	if err, ok := errors.AsType[*parser.Error](over); ok {
		w.partial = true
		w.report(a, unreadable(file, err))
	}
}

// unreadable returns the problem for a document that cannot be read.
func unreadable(file string, err *parser.Error) *Problem {
	p := problemf(nameInput, "YAML error: %s", text.Shorten(err.Msg, maxMessage))
	if err.Hint != "" {
		p.Message += "; " + err.Hint
	}
	p.Where = where(file, err.Pos)
	return p
}

// take processes one document, and follows it if it is a Location.
func (w *walk) take(ctx context.Context, a *address, file string, n *tree.Node) *Problem {
	pos := n.At()
	Annotate(n, a.typ+":"+file, w.target.String())
	ref := entity.RefOf(n)
	if ps := ProblemsOf(n); len(ps) > 0 {
		w.spare(ref)
		ps[0].In(file)
		return &ps[0]
	}
	n.Get("metadata").Set("namespace", tree.Str(ref.Namespace))
	if !allows(w.rules, ref.Kind) {
		p := problemf(nameNotAllowed, "Entity %s at %s:%s, originated at %s, is not of an allowed kind for that location; "+
			"to allow it, add %s to catalog.rules", ref, a.typ, file, w.target, ref.Kind)
		p.Where = where(file, pos)
		return p
	}
	d := Document{Node: n, Ref: ref.String(), Parent: a.parent, File: file, Pos: pos}
	if first := w.add(d); first != nil {
		p := problemf(nameConflict, "conflict: %s is already defined at %s", d.Ref, where(first.File, first.Pos))
		p.Where = where(file, pos)
		return p
	}
	if strings.EqualFold(ref.Kind, entity.KindLocation) {
		w.follow(ctx, a, &d)
		return nil
	}
	if err := w.release(&w.docs[len(w.docs)-1]); err != nil {
		w.partial, w.failed = true, true
		p := problemf(nameOther, "Unable to keep %s: %s", d.Ref, text.Shorten(err.Error(), maxMessage))
		p.Where = where(file, pos)
		return p
	}
	return nil
}

// release moves the last document to a file if there are many: as a value, it takes ten times
// the memory of its text.
func (w *walk) release(d *Document) error {
	if len(w.docs) <= heldDocuments {
		return nil
	}
	t, err := w.texts.Put(tree.AppendJSON(nil, d.Node, ""))
	if err != nil {
		// The document must not be missing either, which would mean that it is gone.
		return err
	}
	d.Node, d.Text = nil, t
	return nil
}

// spare keeps the existing entity that an invalid document is about. A document without
// a usable name may be about any entity, and what an invalid Location leads to is
// unknown.
func (w *walk) spare(ref entity.Ref) {
	_, err := entity.ParseExisting(ref.String(), "", "")
	if err != nil || strings.EqualFold(ref.Kind, entity.KindLocation) {
		w.partial = true
		return
	}
	w.keep = append(w.keep, ref.String())
}

// follow reads the targets of a Location.
func (w *walk) follow(ctx context.Context, a *address, d *Document) {
	spec := d.Node.Get("spec")
	targets := spec.Get("targets").Strings()
	if t := spec.Get("target").Str(); t != "" {
		targets = append([]string{t}, targets...)
	}
	for _, t := range targets {
		next := &address{
			typ: spec.Get("type").Str(), target: t, parent: d.Ref, above: a, depth: a.depth + 1,
			optional: spec.Get("presence").Str() == "optional",
		}
		if next.typ == "" {
			next.typ = a.typ
		}
		p := w.resolve(next, a, d.File)
		if p == nil && next.returns() {
			// Everything there has been read already, so nothing is missing.
			p = problemf(nameInput, "Unable to follow %s, the location refers to itself", clip(next.String()))
			p.Where = where(d.File, d.Pos)
			w.report(next, p)
			continue
		}
		if p == nil {
			p = w.enter(ctx, next)
		}
		if p != nil && (p.Name != nameNotFound || !next.optional) {
			w.partial = true
			p.Where = where(d.File, d.Pos)
			w.report(next, p)
		}
	}
}

// resolve resolves the target of a Location, which may be relative to the file that
// contains it.
func (w *walk) resolve(next, a *address, file string) *Problem {
	switch {
	case next.typ == TypeURL && a.typ == TypeURL:
		base, p := parseURL(file)
		if p != nil {
			return p
		}
		ref, err := url.Parse(next.target)
		if err != nil {
			return problemf(nameInput, "Unable to read url, the target is not a URL")
		}
		whole := base.ResolveReference(ref)
		whole.Fragment, whole.RawFragment = "", ""
		next.target = whole.String()
	case next.typ == TypeFile && a.typ == TypeFile:
		next.target = filepath.ToSlash(next.target)
		if !path.IsAbs(next.target) && !filepath.IsAbs(next.target) {
			next.target = path.Join(path.Dir(file), next.target)
		}
	case next.typ == TypeFile:
		w.failed = true
		return problemf(nameNotAllowed, "Unable to read file, %s: a URL location may not refer to files of the server", clip(next.target))
	}
	return nil
}

// enter visits an address that a Location names, unless it was visited already or
// exceeds a limit.
func (w *walk) enter(ctx context.Context, a *address) *Problem {
	switch {
	case w.addresses[a.String()]:
		return nil
	case a.depth > maxDepth:
		return problemf(nameInput, "Unable to follow %s, Locations are nested more than %d deep", clip(a.String()), maxDepth)
	case len(w.addresses) >= maxAddresses:
		return problemf(nameInput, "Unable to follow %s, the location refers to more than %d addresses", clip(a.String()), maxAddresses)
	}
	return w.visit(ctx, a)
}
