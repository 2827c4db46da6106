package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
)

// reader reads one configuration and collects what is wrong with it.
type reader struct {
	opts Options
	// files says which file each value was written in.
	files map[*tree.Node]string
	found []finding.Finding
	// unshown counts the findings beyond the bound.
	unshown int
	// clusterAt is where the cluster of a name was first described.
	clusterAt map[string]described
	// describing lists keys instead of reading values.
	describing bool
	keys       []Key
	// required are the keys that maps must have, by the way to the map.
	required map[string][]string
	// written is where each key that is given is written, by its path in the
	// contract's words; entries of lists have their number.
	written map[string]written
	// marks is where change detection says where it remembers.
	marks marks
	// first is the file that is named first, empty if none is.
	first string
}

// place is where something is written.
type place struct {
	file string
	pos  tree.Pos
}

// written is where the value of a key is, and the way to it as it is written.
type written struct {
	place
	path string
}

// String returns the place as findings show it.
func (p place) String() string {
	return finding.Finding{File: p.file, Pos: p.pos, Object: environment}.Where()
}

// environment stands for the file where a value is in none.
const environment = "environment"

// The bounds. More mistakes than that help nobody.
const (
	maxFile     = 16 << 20
	maxInclude  = 1 << 20
	maxFindings = 1000
)

func newReader(opts Options) *reader {
	if opts.Lookup == nil {
		opts.Lookup = func(string) (string, bool) { return "", false }
	}
	if opts.ReadFile == nil {
		opts.ReadFile = readDisk
	}
	return &reader{opts: opts, files: map[*tree.Node]string{}, clusterAt: map[string]described{}, required: map[string][]string{}, written: map[string]written{}}
}

// readDisk reads a file, and of one without end no more than is too much.
func readDisk(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // It was only read.
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// wants reports whether the program needs a section.
func (r *reader) wants(section string) bool {
	return r.opts.Sections == nil || slices.Contains(r.opts.Sections, section)
}

// placeOf returns where n is written.
func (r *reader) placeOf(n *tree.Node) place { return place{r.files[n], n.At()} }

// keyPlace returns where the key of a field is written.
func (r *reader) keyPlace(f *tree.Field) place { return place{r.files[f.Value], f.Pos} }

// full reports whether there are as many findings as are shown.
func (r *reader) full() bool { return len(r.found) >= maxFindings }

// report adds a finding.
func (r *reader) report(rule string, at place, path, hint, format string, args ...any) {
	if r.full() {
		r.unshown++
		return
	}
	f := finding.Finding{
		Rule: rule, Severity: severityOf(rule), Path: path, File: at.file, Pos: at.pos,
		Message: fmt.Sprintf(format, args...), Hint: hint,
	}
	if f.File == "" {
		f.Object = environment
	}
	r.found = append(r.found, f)
}

// findings returns all findings in reading order.
func (r *reader) findings() []finding.Finding {
	finding.Sort(r.found)
	if r.unshown > 0 {
		last := r.found[len(r.found)-1]
		r.found = append(r.found, finding.Finding{
			Rule: RuleTooMany, Severity: severityOf(RuleTooMany), File: last.File, Pos: last.Pos, Object: last.Object,
			Message: fmt.Sprintf("there are %d more findings", r.unshown), Hint: "mend these first",
		})
	}
	return r.found
}

// cause says why a file cannot be read, without its name, and the way out.
func cause(err error) (why, hint string) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file", "check the spelling"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied", "give yourself the right to read it, for example with chmod u+r"
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return err.Error(), ""
}
