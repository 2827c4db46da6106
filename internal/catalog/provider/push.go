package provider

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"runtime"
	"strings"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/catalog/provider/location"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/spool"
)

const (
	mediaNDJSON = "application/x-ndjson"
	mediaYAML   = "application/yaml"

	// maxPushed is the maximum number of entries in a push, and maxHeld in one that is held
	// in memory: a small entry takes more memory than it has bytes. maxRefused is how many
	// of a push may be refused.
	maxPushed  = 2_000_000
	maxHeld    = 250_000
	maxRefused = 10_000
	// maxEntry is the maximum size of an entry in bytes.
	maxEntry = 16 << 20
	// maxDocuments is the maximum number of YAML documents in a push, including empty
	// ones.
	maxDocuments = maxHeld + 50_000
	// entriesPerTurn is how many entries are decoded before other goroutines get a turn.
	entriesPerTurn = 8
	// maxBlank is the maximum number of empty lines in a push.
	maxBlank = 1_000_000
	// The limits for compressed bodies: the ratio of uncompressed to compressed size, and
	// the compressed bytes per entity, apart from small bodies. Entities that differ only
	// by a number compress to a hundredth, and take two bytes or more.
	maxRatio     = 250
	maxRatioYAML = 100
	freeUnpacked = 1 << 20
	entityPacked = 1
	freeEntities = 1000
	// defaultMaxPush applies if Options.MaxPush is 0.
	defaultMaxPush = 1 << 30
)

// entry is one entry of a push: an entity, or a reference to remove.
type entry struct {
	// line is where the entry begins in the body.
	line int
	// ref is the reference of the entity, and json the entity itself, unless it was
	// handled while the push was read.
	ref  string
	json spool.Text
	// remove is the reference to remove; empty if the entry is an entity.
	remove string
}

// pushHandler handles the entries of a push while it is read.
type pushHandler struct {
	// most is the maximum number of entries.
	most int
	// take handles an entry. n is nil if it is not an entity, and text is the JSON of an
	// entity if it was JSON; the caller reuses the slice.
	take func(e entry, n *tree.Node, text []byte) error
}

// readPush reads the body of a push completely. The error is the one to answer with.
func readPush(r *http.Request, most int64, delta bool, handler pushHandler) error {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != mediaNDJSON && media != mediaYAML {
		return rest.Unsupported("The body must be %s or %s", mediaNDJSON, mediaYAML)
	}
	body := &bounded{in: r.Body, left: most, most: most}
	switch encoding := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		body.packed = &counted{in: r.Body}
		if body.ratio = maxRatio; media == mediaYAML {
			// Decoding YAML takes ten times as long.
			body.ratio = maxRatioYAML
		}
		z, err := gzip.NewReader(body.packed)
		if err != nil {
			return rest.BodyFault(err)
		}
		body.in = z
	default:
		return rest.Unsupported("The body may be compressed with gzip only, not with '%s'", rest.Short(encoding))
	}
	return decodePush(body, media, delta, handler)
}

// counted is a reader that counts bytes.
type counted struct {
	in io.Reader
	n  int64
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n += int64(n)
	return n, err
}

// bounded is a reader that returns an error beyond a number of bytes.
type bounded struct {
	in         io.Reader
	left, most int64
	// packed is the compressed body, nil if the body is not compressed, and ratio the
	// maximum compression ratio.
	packed *counted
	ratio  int64
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, &http.MaxBytesError{Limit: b.most}
	}
	// One more byte distinguishes a body that is too long from one that just fits.
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.in.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, &http.MaxBytesError{Limit: b.most}
	}
	if b.packed != nil && b.most-b.left > freeUnpacked+b.ratio*b.packed.n {
		return 0, rest.TooLarge("cannot read the body: it decompresses to more than %d times its size; push it uncompressed", b.ratio)
	}
	return n, err
}

// holds reports whether a body of this compressed size may contain so many entities.
func (b *bounded) holds(entities int) bool {
	return b.packed == nil || entities <= freeEntities+int(b.packed.n/entityPacked)
}

// bodyFault converts an error of reading a body to an error for clients.
func bodyFault(err error) error {
	if f, ok := errors.AsType[*rest.Fault](err); ok {
		return f
	}
	if over, ok := errors.AsType[*parser.Error](err); ok {
		return rest.TooLarge("cannot read the body: %s; push it in several deltas", over.Msg)
	}
	return rest.BodyFault(err)
}

// decodePush reads the entries from a body of the given media type.
func decodePush(body *bounded, media string, delta bool, handler pushHandler) error {
	d := pushDecoder{body: body, delta: delta, handler: handler}
	if media == mediaYAML {
		return d.yaml()
	}
	return d.lines()
}

type pushDecoder struct {
	body    *bounded
	delta   bool
	handler pushHandler
	// entries is how many there were.
	entries int
}

// add adds a document as an entry. text is the JSON of the document if it was JSON.
func (d *pushDecoder) add(line int, n *tree.Node, text []byte) error {
	if d.entries%entriesPerTurn == entriesPerTurn-1 {
		// Requests go first: this may be one of a million entities.
		runtime.Gosched()
	}
	switch {
	case d.entries == d.handler.most:
		return rest.TooLarge("The body has more than %d entities; push them in several deltas", d.entries)
	case !d.body.holds(d.entries):
		return rest.TooLarge("cannot read the body: more entities than a compressed body of its size may have; push it uncompressed")
	case !n.IsMap():
		return unreadable(line, "an entity must be an object, found "+n.Kind.String())
	case !n.Has("remove") || n.Has("kind") || n.Has("apiVersion"):
		d.entries++
		return d.handler.take(entry{line: line, ref: entity.RefOf(n).String()}, n, text)
	case !d.delta:
		return unreadable(line, "remove is not allowed in a full push: leave the entity out")
	case n.Len() != 1 || n.Get("remove").Str() == "":
		return unreadable(line, "remove must be an entity reference, without other keys")
	}
	d.entries++
	return d.handler.take(entry{line: line, remove: n.Get("remove").Text}, nil, nil)
}

func unreadable(line int, why string) error {
	return rest.Input("The body cannot be read, and nothing was changed: line %d: %s", line, why)
}

func (d *pushDecoder) yaml() error {
	var failed error
	var written int64
	limits := parser.Limits{Bytes: maxEntry, Budget: parser.NewBudget(maxDocuments)}
	err := parser.Decode(d.body, limits, func(n *tree.Node, bad *parser.Error) bool {
		if bad != nil {
			failed = unreadable(int(bad.Pos.Line), bad.Msg)
			return false
		}
		if written += location.Size(n); written > d.body.most-d.body.left+location.MaxAliased {
			failed = unreadable(int(n.Pos.Line), fmt.Sprintf("aliases add more than %d bytes to the body", location.MaxAliased))
			return false
		}
		failed = d.add(int(n.Pos.Line), n, nil)
		return failed == nil
	})
	if err != nil {
		return bodyFault(err)
	}
	return failed
}

func (d *pushDecoder) lines() error {
	in := bufio.NewReaderSize(d.body, 64<<10)
	var long []byte
	blank := 0
	for number := 1; ; number++ {
		text, err := readLine(in, &long)
		if errors.Is(err, errLongLine) {
			return unreadable(number, fmt.Sprintf("more than %d bytes", maxEntry))
		}
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return bodyFault(err)
		}
		text = bytes.TrimSpace(text)
		if len(text) == 0 {
			if blank++; blank > maxBlank {
				return rest.TooLarge("cannot read the body: more than %d empty lines; remove them", maxBlank)
			}
		} else {
			n, err := wire.Decoder{Bytes: maxEntry}.Decode(text)
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

var errLongLine = errors.New("line is too long")

// readLine returns the next line, which is valid until the next call. The last line is
// returned with io.EOF.
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
