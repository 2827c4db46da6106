package transform

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/sink"
	"example.dev/ingestor/sink/dir"
	"example.dev/ingestor/xrd"
)

// resultWriter writes the entities, record by record.
type resultWriter interface {
	// write writes the result of a record. idle means that no other record is
	// waiting. The error is one of the output itself; a record that cannot be
	// written is a finding.
	write(ctx context.Context, s *step, idle bool) (*finding.Finding, error)
	// end is called once, at the end, with the message of a failure record, or an
	// empty string.
	end(ctx context.Context, failure string) error
}

// appendEntity appends an entity in the format of a stream.
func appendEntity(dst []byte, e *entity.Entity, format sink.Format) []byte {
	if format == sink.JSON {
		return entity.AppendNDJSON(dst, e)
	}
	return entity.AppendYAML(append(dst, "---\n"...), e)
}

// stream is an output that another program may read.
type stream struct {
	w      *bufio.Writer
	format sink.Format
}

func newStream(w io.Writer, format sink.Format) *stream {
	return &stream{w: bufio.NewWriterSize(w, 64<<10), format: format}
}

func (o *stream) write(_ context.Context, s *step, idle bool) (*finding.Finding, error) {
	_, _ = o.w.Write(s.made.text)
	if !idle {
		return nil, nil
	}
	return nil, o.flush()
}

func (o *stream) end(_ context.Context, failure string) error {
	if failure != "" {
		record := finding.Failure(failure)
		text := append(tree.AppendJSON(nil, record, ""), '\n')
		if o.format == sink.YAML {
			text = tree.AppendYAML([]byte("---\n"), record)
		}
		_, _ = o.w.Write(text)
	}
	return o.flush()
}

// flush flushes the buffer, and returns the first error since the last flush.
func (o *stream) flush() error {
	if err := o.w.Flush(); err != nil {
		return fmt.Errorf("cannot write entities: %w", err)
	}
	return nil
}

// atOnce is how many records' files are written as one batch.
const atOnce = 64

// files is an output of files.
type files struct {
	root   string
	format sink.Format
	wrote  func(path string, n int)
	// taken are hashes of the base names of files, because there may be a million of
	// them.
	taken map[[16]byte]struct{}
	// waiting are entities that are not written yet, of this many records, and names
	// the names of their files.
	waiting []*entity.Entity
	records int
	names   map[*entity.Entity]string
}

func newFiles(root string, format sink.Format, wrote func(path string, n int)) *files {
	return &files{root: root, format: format, wrote: wrote, taken: map[[16]byte]struct{}{}, names: map[*entity.Entity]string{}}
}

func (o *files) write(ctx context.Context, s *step, _ bool) (*finding.Finding, error) {
	if len(s.made.entities) == 0 {
		return nil, nil
	}
	name, key := nameOf(s)
	if o.isTaken(s) {
		d := s.found.Definition
		return &finding.Finding{
			Rule: entity.RuleDuplicate, Severity: finding.Error, Object: d.Name, File: d.Origin.File, Pos: d.Node.At(),
			Message: fmt.Sprintf("files for %q already exist, so those of definition %q are not written", name, d.Name),
			Hint:    "remove the duplicate definition, or change the template that gives the same name",
		}, nil
	}
	o.taken[key] = struct{}{}
	for _, e := range s.made.entities {
		o.names[e] = strings.ToLower(e.Kind) + "-" + name
	}
	o.waiting = append(o.waiting, s.made.entities...)
	if o.records++; o.records < atOnce {
		return nil, nil
	}
	return nil, o.flush(ctx)
}

// isTaken reports whether the files of a record already exist.
func (o *files) isTaken(s *step) bool {
	if len(s.made.entities) == 0 {
		return false
	}
	_, key := nameOf(s)
	_, taken := o.taken[key]
	return taken
}

// nameOf returns the base name of the files of a record, and a hash of it.
func nameOf(s *step) (name string, key [16]byte) {
	name = fileName(s.found.Definition, s.made.entities)
	sum := sha256.Sum256([]byte(strings.ToLower(name)))
	return name, [16]byte(sum[:16])
}

func (o *files) end(ctx context.Context, _ string) error { return o.flush(ctx) }

func (o *files) flush(ctx context.Context) error {
	err := dir.New(o.root, dir.Options{
		Format: o.format, Layout: dir.Named, Wrote: o.wrote,
		File: func(e *entity.Entity) string { return o.names[e] },
	}).Write(ctx, o.waiting)
	o.waiting, o.records = nil, 0
	clear(o.names)
	return err
}

// fileName returns the base name of the files of a definition: the name of its
// Template or, if it has none, its own.
func fileName(d *xrd.Definition, entities []*entity.Entity) string {
	for _, e := range entities {
		if e.Kind == entity.KindTemplate {
			return e.Metadata.Name
		}
	}
	if name := engine.Concept.Base(d); name != "" {
		return name
	}
	return entities[0].Metadata.Name
}
