package extract

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/xrd"
)

// recordWriter writes records.
type recordWriter interface {
	// write writes a record. A *refused is an error of the record; any other error
	// is one of the output.
	write(r xrd.Record) error
	// end is called once, at the end, with the reason why the output is incomplete;
	// empty if it is complete.
	end(failure string) error
}

// refused is the error of a record that cannot be written to the output.
type refused struct{ finding finding.Finding }

// Error returns the reason.
func (r *refused) Error() string { return r.finding.Message }

// stream writes records one after the other, without delay.
type stream struct {
	w    io.Writer
	yaml bool
	text []byte
}

func (s *stream) write(r xrd.Record) error { return s.put(r.Node()) }

func (s *stream) put(n *tree.Node) error {
	if s.yaml {
		s.text = tree.AppendYAML(append(s.text[:0], "---\n"...), n)
	} else {
		s.text = append(tree.AppendJSON(s.text[:0], n, ""), '\n')
	}
	if _, err := s.w.Write(s.text); err != nil {
		return fmt.Errorf("cannot write records: %w", err)
	}
	return nil
}

func (s *stream) end(failure string) error {
	if failure == "" {
		return nil
	}
	return s.put(finding.Failure(failure))
}

// folder writes each record to its own file.
type folder struct {
	dir  string
	root *os.Root
	yaml bool
	// names are hashes of the lower-case file names: there may be many, and some
	// file systems are case-insensitive.
	names map[[16]byte]bool
	// wrote is called for each file.
	wrote func(path string)
}

// newFolder opens a directory, and creates it if it is missing.
func newFolder(dir string, yaml bool, wrote func(path string)) (*folder, error) {
	err := os.MkdirAll(dir, 0o755)
	var root *os.Root
	if err == nil {
		root, err = os.OpenRoot(dir)
	}
	if err != nil {
		return nil, &app.Exit{Code: app.ExitFailed, Err: fmt.Errorf("cannot write to %q: %w", dir, bare(err)), Hint: "choose another path with --output"}
	}
	return &folder{dir: dir, root: root, yaml: yaml, names: map[[16]byte]bool{}, wrote: wrote}, nil
}

// longestName is the limit of file systems, less room for the extension.
const longestName = 240

func (f *folder) write(r xrd.Record) error {
	name := r.Name()
	no := func(hint, format string, args ...any) error {
		return &refused{finding.Finding{
			Rule: xrd.RuleRecord, Severity: finding.Error, Object: name, File: r.Metadata["path"],
			Message: "cannot write the extract record: " + fmt.Sprintf(format, args...), Hint: hint,
		}}
	}
	if name == "" {
		return no("add metadata.name to the definition", "definition has no name, which the file name needs")
	}
	if !isFileName(name) {
		return no("name the definition <plural>.<group>", "name %q is not a valid file name", name)
	}
	sum := sha256.Sum256([]byte(strings.ToLower(name)))
	key := [16]byte(sum[:16])
	if f.names[key] {
		return no("select one of them, for example with --cluster or --path, or write to standard output", "duplicate definition %q: its file was already written", name)
	}
	f.names[key] = true
	path, text := name+".json", []byte(nil)
	if f.yaml {
		path, text = name+".yaml", tree.AppendYAML(nil, r.Node())
	} else {
		text = append(tree.AppendJSON(nil, r.Node(), "  "), '\n')
	}
	if err := f.put(path, text); err != nil {
		return fmt.Errorf("cannot write %q: %w", filepath.Join(f.dir, path), bare(err))
	}
	if f.wrote != nil {
		f.wrote(filepath.Join(f.dir, path))
	}
	return nil
}

// isFileName reports whether a name is valid for a visible file, here and on other
// systems.
func isFileName(name string) bool {
	return len(name) <= longestName && name[0] != '.' && name[len(name)-1] != ' ' &&
		!strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|`, r) })
}

// put writes a file atomically, through a temporary file.
func (f *folder) put(name string, text []byte) error {
	// The dot keeps a leftover of a killed process from being read as a record.
	tmp := "." + Name + "-" + rand.Text() + ".tmp"
	file, err := f.root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err == nil {
		err = f.root.Rename(tmp, name)
	}
	if err != nil {
		_ = f.root.Remove(tmp)
	}
	return err
}

// end closes the directory. Files have no failure record; the exit code reports
// failures.
func (f *folder) end(string) error { return f.root.Close() }

// bare returns an error without the path, which the message already has.
func bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}
