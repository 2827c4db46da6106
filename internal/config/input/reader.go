// Package input reads configuration files. It merges them, substitutes environment
// variables and files, knows where each value was written, and collects findings.
package input

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/rule"
	"example.dev/ingestor/internal/text"
)

// Reader reads the files of one configuration and collects the findings about them.
type Reader struct {
	lookup   func(name string) (string, bool)
	readFile func(path string) ([]byte, error)
	// files has the file that each value was written in.
	files map[*tree.Node]string
	found []finding.Finding
	// unshown counts the findings beyond the maximum.
	unshown int
}

// New returns a reader. lookup returns an environment variable and whether it is set;
// nil means that none is. readFile reads a file; nil means from disk, up to the maximum
// size of a configuration file.
func New(lookup func(name string) (string, bool), readFile func(path string) ([]byte, error)) *Reader {
	if lookup == nil {
		lookup = func(string) (string, bool) { return "", false }
	}
	if readFile == nil {
		readFile = readDisk
	}
	return &Reader{lookup: lookup, readFile: readFile, files: map[*tree.Node]string{}}
}

// Place is a position in a file.
type Place struct {
	File string
	Pos  tree.Pos
}

// String returns the place as findings show it.
func (p Place) String() string {
	return finding.Finding{File: p.File, Pos: p.Pos, Object: Environment}.Where()
}

// Beside returns a path relative to the file of p.
func (p Place) Beside(name string) string {
	if filepath.IsAbs(name) || p.File == "" {
		return name
	}
	return filepath.Join(filepath.Dir(p.File), name)
}

// Absolute is Beside, independent of the working directory.
func (p Place) Absolute(name string) string {
	name = p.Beside(name)
	if full, err := filepath.Abs(name); err == nil {
		return full
	}
	return name
}

// Before reports whether p precedes q in the same file.
func (p Place) Before(q Place) bool {
	if p.File != q.File {
		return false
	}
	return p.Pos.Line < q.Pos.Line || p.Pos.Line == q.Pos.Line && p.Pos.Column < q.Pos.Column
}

// Environment is shown in place of the file for values that are in none.
const Environment = "environment"

// The limits. More findings than that do not help.
const (
	maxFile     = 16 << 20
	maxInclude  = 1 << 20
	maxFindings = 1000
)

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

// Lookup returns an environment variable, empty if it is not set.
func (r *Reader) Lookup(name string) string {
	text, _ := r.lookup(name)
	return text
}

// PlaceOf returns the position of n.
func (r *Reader) PlaceOf(n *tree.Node) Place { return Place{r.files[n], n.At()} }

// KeyPlace returns the position of the key of a field.
func (r *Reader) KeyPlace(f *tree.Field) Place { return Place{r.files[f.Value], f.Pos} }

// Full reports whether the maximum number of findings is reached.
func (r *Reader) Full() bool { return len(r.found) >= maxFindings }

// Report adds a finding.
func (r *Reader) Report(id string, at Place, path, hint, format string, args ...any) {
	if r.Full() {
		r.unshown++
		return
	}
	f := finding.Finding{
		Rule: id, Severity: rule.Severity(id), Path: path, File: at.File, Pos: at.Pos,
		Message: fmt.Sprintf(format, args...), Hint: hint,
	}
	if f.File == "" {
		f.Object = Environment
	}
	r.found = append(r.found, f)
}

// Findings returns all findings in reading order.
func (r *Reader) Findings() []finding.Finding {
	finding.Sort(r.found)
	if r.unshown > 0 {
		last := r.found[len(r.found)-1]
		r.found = append(r.found, finding.Finding{
			Rule: rule.TooMany, Severity: rule.Severity(rule.TooMany), File: last.File, Pos: last.Pos, Object: last.Object,
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

// Shorten shortens a value for a message.
func Shorten(s string) string { return text.Shorten(s, 40) }
