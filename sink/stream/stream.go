// Package stream writes entities to standard output, a pipe, or any writer.
package stream

import (
	"context"
	"fmt"
	"io"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/sink"
)

// Sink writes entities to a writer.
type Sink struct {
	w      io.Writer
	format sink.Format
}

var _ sink.Sink = (*Sink)(nil)

// New returns a Sink that writes YAML documents, each after a --- line, or
// JSON objects, each on a line of its own.
func New(w io.Writer, format sink.Format) *Sink { return &Sink{w: w, format: format} }

// chunk is the buffer size of writes.
const chunk = 64 << 10

// Write writes the entities until the writer fails. If the reader closed the pipe,
// the error is syscall.EPIPE.
func (s *Sink) Write(ctx context.Context, entities []*entity.Entity) error {
	var buf []byte
	for _, e := range entities {
		if ctx.Err() != nil {
			return fmt.Errorf("cannot write all entities: %w", context.Cause(ctx))
		}
		whole, err := e.Whole()
		if err != nil {
			return err
		}
		buf = s.append(buf, whole)
		if len(buf) < chunk {
			continue
		}
		if err := s.flush(buf); err != nil {
			return err
		}
		buf = buf[:0]
	}
	return s.flush(buf)
}

func (s *Sink) append(dst []byte, e *entity.Entity) []byte {
	if s.format == sink.JSON {
		return entity.AppendNDJSON(dst, e)
	}
	return entity.AppendYAML(append(dst, "---\n"...), e)
}

func (s *Sink) flush(buf []byte) error {
	if len(buf) == 0 {
		return nil
	}
	if _, err := s.w.Write(buf); err != nil {
		return fmt.Errorf("cannot write entities: %w", err)
	}
	return nil
}
