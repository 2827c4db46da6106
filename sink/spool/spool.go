// Package spool collects entities from streams in a temporary file, validated and
// one per line, for callers that must have all of them before they act, because a
// truncated list looks like a complete one. Memory grows by eight bytes per entity
// only.
package spool

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/entity"
)

// MaxFindings is how many findings a Spool keeps; further ones are only counted.
const MaxFindings = 1000

// maxEntry is the maximum size of one entity as JSON, in bytes. A document may
// have 16 MiB, and escaping makes characters longer.
const maxEntry = 128 << 20

// Options configure the input of a Spool.
type Options struct {
	// Changes accepts {"remove": "kind:namespace/name"} in place of an entity, which
	// removes an entity: the input is a list of changes, not a state.
	Changes bool
	// Progress, if not nil, is called with the number of lines after each.
	Progress func(entities int)
}

// Spool holds entities as JSON, one per line. It must be used by one goroutine
// until the last entity is read; then readers may be used concurrently.
type Spool struct {
	opts Options
	file *os.File
	out  *bufio.Writer
	size int64
	buf  []byte

	lines  int
	names  []string
	places *places
	seen   seen

	findings []finding.Finding
	unkept   map[finding.Severity]int
	failure  string
	failed   bool
}

// New returns an empty Spool, whose file is in the system's temporary directory.
// The caller must call Close.
func New(opts Options) (*Spool, error) {
	f, err := temporary()
	if err != nil {
		return nil, err
	}
	at, err := newPlaces()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Spool{
		opts: opts, file: f, out: bufio.NewWriterSize(f, 64<<10), names: []string{""}, places: at, seen: newSeen(), unkept: map[finding.Severity]int{},
	}, nil
}

// temporary creates a temporary file. Where the system allows it, the name is
// removed immediately, so that the file does not remain however the process ends.
func temporary() (*os.File, error) {
	f, err := os.CreateTemp("", "entities-*.ndjson")
	if err != nil {
		return nil, fmt.Errorf("cannot create a temporary file: %w", err)
	}
	_ = os.Remove(f.Name())
	return f, nil
}

// Close removes the file.
func (s *Spool) Close() error {
	err := errors.Join(s.file.Close(), s.places.file.Close())
	_, _ = os.Remove(s.file.Name()), os.Remove(s.places.file.Name())
	return err
}

// Read adds the entities of a stream of YAML documents, JSON objects, or lists of
// them; name is the name of the stream in findings. Problems with entities become
// findings. The error is that of r, or of the file.
func (s *Spool) Read(r io.Reader, name string) error {
	s.names = append(s.names, name)
	var failed error
	err := parser.Decode(r, parser.Limits{}, func(n *tree.Node, bad *parser.Error) bool {
		if bad != nil {
			s.found(finding.Finding{
				Rule: entity.RuleDocument, Severity: finding.Error, File: name, Pos: bad.Pos, Message: "cannot read the document: " + bad.Msg, Hint: bad.Hint,
			})
			return true
		}
		failed = s.add(n, name)
		return failed == nil
	})
	return errors.Join(err, failed)
}

// Add adds an entity that was not read from a stream.
func (s *Spool) Add(n *tree.Node) error { return s.add(n, s.names[len(s.names)-1]) }

// add adds one document.
func (s *Spool) add(n *tree.Node, name string) error {
	if n.IsList() {
		for _, item := range n.Items {
			if err := s.add(item, name); err != nil {
				return err
			}
		}
		return nil
	}
	if why, ok := finding.FailureOf(n); ok {
		s.Fail(why)
		return nil
	}
	at := place{uint32(len(s.names) - 1), n.At()}
	if isRemoval(n) && s.opts.Changes {
		ref, err := entity.ParseRef(n.Get("remove").Text, "", "")
		if err != nil {
			s.found(finding.Finding{
				Rule: entity.RuleRef, Severity: finding.Error, File: name, Pos: n.At(), Path: "remove",
				Message: err.Error(), Hint: "write it as kind:namespace/name",
			})
			return nil
		}
		return s.remove(ref, at)
	}
	for _, f := range check(n) {
		// The catalog sets the managing location when it accepts an entity.
		if f.Rule == entity.RuleLocationMissing {
			continue
		}
		f.File = name
		if f.Rule != entity.RuleDocument {
			f.Pos = locate(n, f.Path)
		}
		s.found(f)
	}
	if ref := entity.RefOf(n); ref.Kind != "" && ref.Name != "" {
		s.seen.add(s.lines, ref.String())
	}
	return s.line(n, at)
}

// check returns what the catalog would refuse. It also rejects definitions and
// Compositions: the catalog would accept them as entities of unknown kinds if a
// user forgot a program in the middle of the pipe.
func check(n *tree.Node) []finding.Finding {
	if !entity.IsDefinition(n) {
		return entity.CheckDocument(n)
	}
	return []finding.Finding{{
		Rule: entity.RuleDocument, Severity: finding.Error, Object: entity.RefOf(n).String(), Pos: n.At(), Path: "apiVersion",
		Message: fmt.Sprintf("cannot read entity: found a %s", n.Get("kind").Str()), Hint: "convert definitions to entities with xrd-transform",
	}}
}

// isRemoval reports whether a document is the removal of an entity.
func isRemoval(n *tree.Node) bool { return n.IsMap() && n.Len() == 1 && n.Get("remove").IsString() }

// line writes a line.
func (s *Spool) line(n *tree.Node, at place) error {
	s.lines++
	if s.opts.Progress != nil {
		s.opts.Progress(s.lines)
	}
	if err := s.places.add(at); err != nil {
		return err
	}
	s.buf = append(tree.AppendJSON(s.buf[:0], n, ""), '\n')
	size, err := s.out.Write(s.buf)
	s.size += int64(size)
	if err != nil {
		return fmt.Errorf("cannot write to a temporary file: %w", err)
	}
	return nil
}

func (s *Spool) found(f finding.Finding) {
	if len(s.findings) < MaxFindings {
		s.findings = append(s.findings, f)
		return
	}
	s.unkept[f.Severity]++
}

// Remove adds the removal of the entity of a reference.
func (s *Spool) Remove(ref entity.Ref) error { return s.remove(ref, place{}) }

func (s *Spool) remove(ref entity.Ref, at place) error {
	return s.line(tree.Obj(tree.F("remove", tree.Str(ref.String()))), at)
}

// Fail records that the input is not complete, and why. The first reason counts.
func (s *Spool) Fail(why string) {
	if !s.failed {
		s.failed, s.failure = true, why
	}
}

// Failure returns why the entities are incomplete, from a failure record or from
// Fail. It reports false if they are complete.
func (s *Spool) Failure() (why string, ok bool) { return s.failure, s.failed }

// Len returns the number of lines.
func (s *Spool) Len() int { return s.lines }

// Findings returns the problems of the entities, at most MaxFindings: first those
// of single entities, in order, then duplicates. It is called when all entities
// are read.
func (s *Spool) Findings() []finding.Finding {
	s.compare()
	return s.findings
}

// Unkept returns how many further findings of a severity there are.
func (s *Spool) Unkept(severity finding.Severity) int {
	s.compare()
	return s.unkept[severity]
}

// At returns where the entity of a line, the first being 1, was read from, as far
// as that is known.
func (s *Spool) At(line int) (name string, pos tree.Pos) {
	if line < 1 || line > s.lines {
		return "", tree.Pos{}
	}
	p := s.places.get(line - 1)
	return s.names[p.name], p.pos
}

// Where returns At as text, "file:line:column".
func (s *Spool) Where(line int) string {
	name, pos := s.At(line)
	return finding.Finding{File: name, Pos: pos}.Where()
}

// Size returns the total size of all lines in bytes.
func (s *Spool) Size() int64 { return s.size }

// Reader returns a reader of all lines that can seek to the start. It is valid
// until Close.
func (s *Spool) Reader() (io.ReadSeeker, error) {
	if err := s.out.Flush(); err != nil {
		return nil, fmt.Errorf("cannot write to a temporary file: %w", err)
	}
	return io.NewSectionReader(s.file, 0, s.size), nil
}

// All returns the entities in order, without removals. It stops at the first
// error.
func (s *Spool) All() iter.Seq2[*tree.Node, error] {
	return func(yield func(*tree.Node, error) bool) {
		err := s.each(func(_ int, n *tree.Node) bool { return isRemoval(n) || yield(n, nil) })
		if err != nil {
			yield(nil, err)
		}
	}
}

// each reads all lines, the first being 0, until yield returns false.
func (s *Spool) each(yield func(line int, n *tree.Node) bool) error {
	r, err := s.Reader()
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxEntry)
	for i := 0; lines.Scan(); i++ {
		n, err := wire.Decoder{Bytes: maxEntry}.Decode(lines.Bytes())
		if err != nil {
			return fmt.Errorf("cannot read a temporary file: %w", err)
		}
		if !yield(i, n) {
			return nil
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("cannot read a temporary file: %w", err)
	}
	return nil
}
