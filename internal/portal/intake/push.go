package intake

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/portal/location"
	"example.dev/ingestor/internal/portal/query"
	"example.dev/ingestor/internal/portal/server"
	"example.dev/ingestor/tree"
)

const (
	mediaNDJSON = "application/x-ndjson"
	mediaYAML   = "application/yaml"

	// maxPushed is how many entries a push may have: a small entry takes more
	// memory than it has bytes.
	maxPushed = 250_000
	// maxEntry is the most one of them may have, in bytes.
	maxEntry = 16 << 20
	// defaultMaxPush is for an intake that was not told a limit.
	defaultMaxPush = 256 << 20
)

// entry is one thing a push says: an entity, or one to remove.
type entry struct {
	// line is where it begins in the body.
	line int
	// ref is the reference of the entity, and json the entity itself unless it
	// was taken while it was read: thousands of them are held as text.
	ref  string
	json []byte
	// remove is the reference of what is to be removed; empty if it is an
	// entity.
	remove string
}

// taker takes the last of the entries, which is an entity, while a push is
// read.
type taker func(entries []entry, n *tree.Node)

// readPush reads the body of a push. All of it can be read, or the error is
// the one to answer with. Take may be nil.
func readPush(r *http.Request, most int64, delta bool, take taker) ([]entry, error) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != mediaNDJSON && media != mediaYAML {
		return nil, server.Unsupported("The body must be %s or %s", mediaNDJSON, mediaYAML)
	}
	var body io.Reader = r.Body
	switch encoding := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, server.BodyFault(err)
		}
		body = z
	default:
		return nil, server.Unsupported("The body may be compressed with gzip, and not with '%s'", query.Short(encoding))
	}
	return decodePush(&bounded{in: body, left: most, most: most}, media, delta, take)
}

// bounded reads so many bytes; more is an error.
type bounded struct {
	in         io.Reader
	left, most int64
}

// Read reads until there is nothing left to read.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, &http.MaxBytesError{Limit: b.most}
	}
	// One byte more tells a body that is too long from one that just fits.
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.in.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, &http.MaxBytesError{Limit: b.most}
	}
	return n, err
}

// decodePush reads entries from a body of the media type.
func decodePush(body *bounded, media string, delta bool, take taker) ([]entry, error) {
	d := pushDecoder{delta: delta, take: take}
	read := d.lines
	if media == mediaYAML {
		read = d.yaml
	}
	if err := read(body); err != nil {
		return nil, err
	}
	return d.entries, nil
}

type pushDecoder struct {
	delta   bool
	take    taker
	entries []entry
	buf     []byte
}

// add takes a document as an entry. Text is the document as JSON if it was
// that, and used again by the caller.
func (d *pushDecoder) add(line int, n *tree.Node, text []byte) error {
	switch {
	case len(d.entries) == maxPushed:
		return server.TooLarge("The body has more than %d entities; push them in several deltas", maxPushed)
	case !n.IsMap():
		return unreadable(line, "an entity must be an object, found "+n.Kind.String())
	case !n.Has("remove") || n.Has("kind") || n.Has("apiVersion"):
		d.entries = append(d.entries, entry{line: line, ref: entity.RefOf(n).String()})
		if d.take != nil {
			d.take(d.entries, n)
			return nil
		}
		if text == nil {
			d.buf = tree.AppendJSON(d.buf[:0], n, "")
			text = d.buf
		}
		d.entries[len(d.entries)-1].json = bytes.Clone(text)
		return nil
	case !d.delta:
		return unreadable(line, "there is nothing to remove in a push of everything: leave the entity out")
	case n.Len() != 1 || n.Get("remove").Str() == "":
		return unreadable(line, "what is removed is named by its reference, and nothing else stands beside it")
	}
	d.entries = append(d.entries, entry{line: line, remove: n.Get("remove").Text})
	return nil
}

func unreadable(line int, why string) error {
	return server.Input("The body cannot be read, and nothing was changed: line %d: %s", line, why)
}

func (d *pushDecoder) yaml(body *bounded) error {
	var failed error
	var written int64
	err := tree.Decode(body, tree.Limits{Bytes: maxEntry}, func(n *tree.Node, bad *tree.Error) bool {
		if bad != nil {
			failed = unreadable(int(bad.Pos.Line), bad.Msg)
			return false
		}
		if written += location.Size(n); written > body.most-body.left+location.MaxAliased {
			failed = unreadable(int(n.Pos.Line), fmt.Sprintf("aliases add more than %d bytes to the body", location.MaxAliased))
			return false
		}
		failed = d.add(int(n.Pos.Line), n, nil)
		return failed == nil
	})
	if err != nil {
		return server.BodyFault(err)
	}
	return failed
}

func (d *pushDecoder) lines(body *bounded) error {
	in := bufio.NewReaderSize(body, 64<<10)
	var long []byte
	for number := 1; ; number++ {
		text, err := readLine(in, &long)
		if errors.Is(err, errLongLine) {
			return unreadable(number, fmt.Sprintf("it has more than %d bytes", maxEntry))
		}
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return server.BodyFault(err)
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			n, err := tree.Wire{Limits: tree.Limits{Bytes: maxEntry}}.Decode(text)
			if err != nil {
				return unreadable(number, err.Error())
			}
			if err := d.add(number, n, text); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
	}
}

var errLongLine = errors.New("the line is too long")

// readLine returns the next line, which is valid until the next call. The last
// one comes with io.EOF.
func readLine(in *bufio.Reader, long *[]byte) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	*long = append((*long)[:0], line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(*long) > maxEntry {
			return nil, errLongLine
		}
		line, err = in.ReadSlice('\n')
		*long = append(*long, line...)
	}
	return *long, err
}
