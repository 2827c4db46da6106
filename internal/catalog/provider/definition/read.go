package definition

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/catalog/provider/location"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/source/file"
	"example.dev/ingestor/words"
)

// The limits of a folder.
const (
	maxFiles     = 100_000
	maxTotal     = 512 << 20
	maxDocuments = 1_000_000
	maxProblems  = 100
)

// foreign are the kinds that no generator writes: they define users and group
// membership.
var foreign = []string{"User", "Group"}

// known is a file that was read: its hash, and the references of its entities.
type known struct {
	sum  [sha256.Size]byte
	refs []string
}

// reading is the result of reading the folder.
type reading struct {
	dir   string
	files int
	docs  []write.Document
	// places are the positions of the entities by reference, and refs the references in
	// the file that is being read.
	places map[string]place
	refs   []string
	// keep are the references of entities that are in the folder but invalid. partial says
	// that there may be more entities whose references are unknown.
	keep    []string
	partial bool
	// copies says that an entity is in several places.
	copies bool
	// problems are the first problems, and untold how many more there are.
	problems []location.Problem
	untold   int
	// read is the size of the files, written that of their documents with aliases
	// expanded.
	read, written int64
	// budget limits the number of documents in all files.
	budget *parser.Budget
	// known are the files without problems, for the next reading. same is how many of them
	// are unchanged, so that their entities are in places and not in docs.
	known map[string]known
	same  int
}

// place is the position of an entity and the hash of its content.
type place struct {
	file string
	pos  tree.Pos
	hash string
}

// report records a problem, up to maxProblems.
func (r *reading) report(p location.Problem) {
	if len(r.problems) == maxProblems {
		r.untold++
		return
	}
	r.problems = append(r.problems, p)
}

// lose reports a problem with a file whose entities are unknown.
func (r *reading) lose(p location.Problem) {
	r.partial = true
	r.report(p)
}

// summary returns the first problems, one per line, and how many more there are.
func (r *reading) summary() string {
	const most = 10
	var lines []string
	for i := range r.problems[:min(len(r.problems), most)] {
		lines = append(lines, r.problems[i].Error())
	}
	if more := len(r.problems) + r.untold - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// open opens the folder, and lists its files. Everything is read through an os.Root, so
// that no link can escape. lost are the parts of it that could not be listed.
func (g *Folder) open(ctx context.Context) (root *os.Root, paths []string, lost []*file.Error, err error) {
	dir := g.config.Directory
	root, err = os.OpenRoot(dir)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("cannot read %q: %w", dir, reason(err))
	}
	paths, err = g.files.Files(ctx)
	for _, e := range split(err) {
		f, ok := errors.AsType[*file.Error](e)
		if !ok || f.Path == filepath.ToSlash(dir) {
			_ = root.Close() // Opened for reading only.
			return nil, nil, nil, e
		}
		lost = append(lost, f)
	}
	if len(paths) > maxFiles {
		_ = root.Close() // Opened for reading only.
		return nil, nil, nil, fmt.Errorf("cannot read %q: more than %d files", dir, maxFiles)
	}
	return root, paths, lost, nil
}

// split splits joined errors.
func split(err error) []error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return many.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// reason returns a system error without the path, which the message already contains.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// openFile opens a file of the folder.
func openFile(root *os.Root, dir, path string) (*os.File, error) {
	in, err := openBelow(root, dir, path)
	if err != nil {
		// An os.Root follows no absolute link, even if it leads to a file inside.
		end, bad := filepath.EvalSymlinks(path)
		base, worse := filepath.EvalSymlinks(dir)
		if bad != nil || worse != nil {
			return nil, reason(err)
		}
		if in, err = openBelow(root, base, end); err != nil {
			return nil, reason(err)
		}
	}
	info, err := in.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		_ = in.Close() // Opened for reading only.
		return nil, reason(err)
	}
	return in, nil
}

func openBelow(root *os.Root, dir, path string) (*os.File, error) {
	name, err := filepath.Rel(dir, path)
	if err != nil {
		return nil, err
	}
	// A plain open would block on a pipe without a writer.
	return root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// read reads the folder, except for unchanged files. The error is that of the folder
// itself, or of ctx; problems below it are in the reading.
func (g *Folder) read(ctx context.Context, before map[string]known) (*reading, error) {
	root, paths, lost, err := g.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // Opened for reading only.
	r := &reading{dir: g.config.Directory, files: len(paths), places: map[string]place{}, known: map[string]known{},
		budget: parser.NewBudget(maxDocuments)}
	for _, e := range lost {
		r.lose(location.Problem{Name: "Error", Message: e.Error()})
	}
	for _, path := range paths {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if old, ok := before[path]; ok && isSame(root, r.dir, path, old) {
			r.remember(path, old)
			continue
		}
		if err := r.file(root, path); err != nil {
			r.lose(location.Problem{Name: "Error", Message: "Unable to read file: " + err.Error(), Where: path})
		}
		if r.read > maxTotal {
			break
		}
	}
	if r.same > 0 && r.copies {
		// Which of two copies is the first depends on all files.
		return g.read(ctx, nil)
	}
	return r, nil
}

// remember adds an unchanged file.
func (r *reading) remember(path string, old known) {
	r.same++
	r.known[path] = old
	for _, ref := range old.refs {
		if _, taken := r.places[ref]; taken {
			r.copies = true
		}
		r.places[ref] = place{file: path}
	}
}

// isSame reports whether a file is unchanged. If that cannot be determined, the
// following read reports why.
func isSame(root *os.Root, dir, path string, old known) bool {
	in, err := openFile(root, dir, path)
	if err != nil {
		return false
	}
	defer func() { _ = in.Close() }() // Opened for reading only.
	h := sha256.New()
	_, err = io.Copy(h, in)
	return err == nil && [sha256.Size]byte(h.Sum(nil)) == old.sum
}

// file reads the documents of a file. It continues after an invalid one.
func (r *reading) file(root *os.Root, path string) error {
	in, err := openFile(root, r.dir, path)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // Opened for reading only.
	r.refs = nil
	wrong := len(r.problems) + r.untold
	h := sha256.New()
	text := io.TeeReader(&counter{in, &r.read}, h)
	err = parser.Decode(text, parser.Limits{Budget: r.budget}, func(n *tree.Node, bad *parser.Error) bool {
		if bad != nil {
			r.partial = r.partial || !bad.Kept
			p := location.Problem{Name: "InputError", Message: "YAML error: " + bad.Msg, Where: where(path, bad.Pos)}
			if bad.Hint != "" {
				p.Message += "; " + bad.Hint
			}
			r.report(p)
			return true
		}
		return r.document(path, n)
	})
	if err != nil {
		return reason(err)
	}
	// Decoding may have stopped before the end.
	if _, err = io.Copy(io.Discard, text); err != nil {
		return err
	}
	if len(r.problems)+r.untold == wrong {
		r.known[path] = known{[sha256.Size]byte(h.Sum(nil)), r.refs}
	}
	return nil
}

// counter is a reader that counts bytes.
type counter struct {
	in io.Reader
	n  *int64
}

// Read returns an error once the folder exceeds its maximum size.
func (c *counter) Read(p []byte) (int, error) {
	if *c.n > maxTotal {
		return 0, fmt.Errorf("folder has more than %d bytes", maxTotal)
	}
	n, err := c.in.Read(p)
	*c.n += int64(n)
	return n, err
}

// document processes a document: an entity, or a list of entities as in JSON files. It
// reports whether to continue with the file.
func (r *reading) document(path string, n *tree.Node) bool {
	if r.written += location.Size(n); r.written > r.read+location.MaxAliased {
		r.partial = true
		r.report(location.Problem{Name: "InputError", Where: where(path, n.At()),
			Message: fmt.Sprintf("YAML error: aliases add more than %d bytes to the folder; use fewer nested aliases", location.MaxAliased)})
		return false
	}
	if !n.IsList() {
		r.entity(path, n)
		return true
	}
	for _, item := range n.Items {
		r.entity(path, item)
	}
	return true
}

// entity accepts one entity, or reports a problem.
func (r *reading) entity(path string, n *tree.Node) {
	pos, ref := n.At(), entity.RefOf(n)
	likeness := ""
	if n.IsMap() {
		likeness = entity.HashDocument(n)
	}
	location.Annotate(n, location.TypeFile+":"+filepath.ToSlash(path), location.TypeFile+":"+filepath.ToSlash(r.dir))
	if ps := location.ProblemsOf(n); len(ps) > 0 {
		if _, err := entity.ParseExisting(ref.String(), "", ""); err != nil {
			// The document may be about any entity.
			r.partial = true
		}
		r.keep = append(r.keep, ref.String())
		ps[0].In(path)
		if ps[0].Where == path {
			ps[0].Where = where(path, pos)
		}
		r.report(ps[0])
		return
	}
	if why := unwanted(n, ref); why != "" {
		r.report(location.Problem{Name: "NotAllowedError", Where: where(path, pos), Message: fmt.Sprintf("%s %s", ref, why)})
		return
	}
	n.Get("metadata").Set("namespace", tree.Str(ref.Namespace))
	key := ref.String()
	if first, taken := r.places[key]; taken {
		// An identical copy is harmless.
		r.copies = true
		if first.hash != likeness {
			r.report(location.Problem{Name: "ConflictError", Where: where(path, pos),
				Message: fmt.Sprintf("conflict: %s is already defined at %s with different content", key, where(first.file, first.pos))})
		}
		return
	}
	r.places[key] = place{path, pos, likeness}
	r.refs = append(r.refs, key)
	// As JSON, thousands of entities take a fifth of the memory.
	r.docs = append(r.docs, write.Document{JSON: bytes.Clone(tree.AppendJSON(nil, n, ""))})
}

// unwanted returns why an entity may not come from this folder; empty if it may.
func unwanted(n *tree.Node, ref entity.Ref) string {
	switch {
	case slices.ContainsFunc(foreign, func(kind string) bool { return strings.EqualFold(kind, ref.Kind) }):
		return "is of a kind that is never generated; add it with a location"
	case strings.HasPrefix(words.APIVersionIn(n.Get("apiVersion").Str()), words.GroupExtensions+"/"):
		return "is not an entity; generate entities from it with ingestor-cli, or add the folder to composerIngestor.sources"
	}
	return ""
}

// where returns file:line:column, as much of it as is known.
func where(path string, pos tree.Pos) string {
	if pos.Line == 0 {
		return path
	}
	return fmt.Sprintf("%s:%d:%d", path, pos.Line, max(pos.Column, 1))
}
