package dir

import (
	"io"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/sink"
)

// chunk is the buffer size of writes.
const chunk = 64 << 10

// write writes the content of a file in chunks, so that memory use stays small.
func (s *Sink) write(w io.Writer, es []*entity.Entity) error {
	var buf []byte
	for i, e := range es {
		whole, err := e.Whole()
		if err != nil {
			return err
		}
		buf = s.append(buf, whole, i, len(es))
		if len(buf) < chunk && i < len(es)-1 {
			continue
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
		buf = buf[:0]
	}
	return nil
}

// append appends the i-th of n entities of a file in its format.
func (s *Sink) append(dst []byte, e *entity.Entity, i, n int) []byte {
	switch {
	case s.opts.Layout == PerEntity && s.opts.Format == sink.JSON:
		return entity.AppendJSON(dst, e)
	case s.opts.Layout == PerEntity, s.opts.Layout == Named && s.opts.Format == sink.YAML && n == 1:
		return entity.AppendYAML(dst, e)
	case s.opts.Format == sink.JSON:
		return appendItem(dst, e, i, n)
	}
	return entity.AppendYAML(append(dst, "---\n"...), e)
}

// appendItem appends the i-th of n items of the array that entity.JSONArray writes.
func appendItem(dst []byte, e *entity.Entity, i, n int) []byte {
	at := len(dst)
	dst = append(dst, entity.JSONArray([]*entity.Entity{e})...)
	if i > 0 {
		dst[at] = ','
	}
	if i < n-1 {
		dst = dst[:len(dst)-len("\n]\n")]
	}
	return dst
}
