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

// reader reads one configuration and collects its errors.
type reader struct {
	opts Options
	// files has the file that each value was written in.
	files map[*tree.Node]string
	found []finding.Finding
	// unshown counts the findings beyond the maximum.
	unshown int
	// clusterAt is where the cluster of a name was first described.
	clusterAt map[string]described
	// describing lists keys instead of reading values.
	describing bool
	keys       []Key
	// required are the required keys of maps, by the path of the map.
	required map[string][]string
	// written has the position of each given key, by its path in the contract's
	// vocabulary; entries of lists have their index.
	written map[string]written
	// marks is where the storage of change detection is set.
	marks marks
	// first is the first file, empty if there is none.
	first string
}

// place is a position in a file.
type place struct {
	file string
	pos  tree.Pos
}

// written is the position of a value, and its path as it is written.
type written struct {
	place
	path string
}

// String returns the place as findings show it.
func (p place) String() string {
	return finding.Finding{File: p.file, Pos: p.pos, Object: environment}.Where()
}

// environment is shown in place of the file for values that are in none.
const environment = "environment"

// The limits. More findings than that do not help.
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

// readDisk reads a file. It stops one byte after the maximum size, so that an endless
// file does no harm.
func readDisk(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // The file was only read.
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// wants reports whether the program needs a section.
func (r *reader) wants(section string) bool {
	return r.opts.Sections == nil || slices.Contains(r.opts.Sections, section)
}

// placeOf returns the position of n.
func (r *reader) placeOf(n *tree.Node) place { return place{r.files[n], n.At()} }

// keyPlace returns the position of the key of a field.
func (r *reader) keyPlace(f *tree.Field) place { return place{r.files[f.Value], f.Pos} }

// full reports whether the maximum number of findings is reached.
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
			Message: fmt.Sprintf("%d more findings", r.unshown), Hint: "fix these first",
		})
	}
	return r.found
}

// cause returns why a file cannot be read, without its name, and a hint.
func cause(err error) (why, hint string) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "file not found", "check the spelling"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied", "make it readable, for example with chmod u+r"
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return err.Error(), ""
}
