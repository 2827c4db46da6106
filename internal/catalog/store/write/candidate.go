package write

import (
	"errors"
	"runtime"
	"sync"

	"example.dev/ingestor/document/wire"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/db"
)

// candidate is a document of a change.
type candidate struct {
	// change and index are the indices of the change, and of the document in it.
	change, index     int
	doc               Document
	ref, hash, parent string
	// edges are nil as long as they are unknown.
	edges []edge
}

// node returns the document as a value.
func (d Document) node() (*tree.Node, error) {
	if d.Node != nil {
		return d.Node, nil
	}
	text := d.JSON
	if d.Spooled.Size() > 0 {
		var err error
		if text, err = d.Spooled.Load(); err != nil {
			return nil, err
		}
	}
	return wire.Decoder{}.Decode(text)
}

// prepared returns the document as Prepared, and prepares it if necessary.
func (o *candidate) prepared() (*Prepared, error) {
	if o.doc.Prepared != nil {
		return o.doc.Prepared, nil
	}
	n, err := o.doc.node()
	if err != nil {
		return nil, err
	}
	return Prepare(n), nil
}

// candidatesOf reads all documents of changes, on all processors.
func candidatesOf(changes []Change) ([]candidate, error) {
	n := 0
	for i := range changes {
		n += len(changes[i].Put)
	}
	candidates := make([]candidate, 0, n)
	for i := range changes {
		for j, d := range changes[i].Put {
			candidates = append(candidates, candidate{change: i, index: j, doc: d})
		}
	}
	return candidates, inParallel(n, func(i int) error {
		o := &candidates[i]
		o.parent = db.Storable(o.doc.Parent)
		if o.doc.Hash != "" && o.doc.Prepared == nil {
			o.ref, o.hash = o.doc.Ref, o.doc.Hash
			return nil
		}
		return o.read(n <= mostNodes)
	})
}

// inParallel calls do for the numbers below n, on all processors.
func inParallel(n int, do func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	size := max(1, (n+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for start := 0; start < n; start += size {
		wg.Go(func() {
			for i := start; i < min(start+size, n); i++ {
				errs[i] = do(i)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// mostNodes is up to how many documents are held as values while they are written,
// rather than decoded again: that is faster, and takes five times the memory.
const mostNodes = 2048

// read computes what the comparison needs of the document, and keeps the decoded
// document if few is set.
func (o *candidate) read(few bool) error {
	if p := o.doc.Prepared; p != nil {
		o.ref, o.hash, o.edges = p.ref, p.hash, p.edges
		o.doc = Document{Prepared: p}
		return nil
	}
	n, err := o.doc.node()
	if err != nil {
		return err
	}
	if few {
		o.doc.Node = n
	}
	o.ref = entity.RefOf(n).String()
	if o.hash == "" {
		o.hash = entity.HashDocument(n)
	}
	o.edges = edgesOf(o.ref, n)
	return nil
}
