package eta

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// The default limits of a render.
const (
	DefaultTime   = 2 * time.Second
	DefaultOutput = 4 << 20
	DefaultDepth  = 32
	DefaultMemory = 64 << 20
)

// MaxTime is the maximum time of a render.
const MaxTime = 10 * time.Second

// The limits of a template's text. They keep the JavaScript compiler, which recurses for
// every level of nesting, from running out of stack.
const (
	maxText    = 1 << 20
	maxCode    = 128 << 10
	maxNesting = 200
)

// maxVariants is the maximum number of cached programs per template: there is one for
// each set of bare names it was rendered with.
const maxVariants = 64

// Func is a function that templates may call. Its arguments are nil for null and
// undefined, bool, int64, float64, string, and a *tree.Node for a list or a map, which
// is a copy that keeps the order of keys. It may return anything that is allowed in
// Data. An error is thrown at the call in the template.
type Func func(args []any) (any, error)

// Data are the names that a template sees, bare and below `it`. A value is nil, a bool,
// number, string, *tree.Node, []any, []string, map[string]any, map[string]string, Func
// or map[string]Func. A *tree.Node keeps its order of keys, a Go map is sorted by key.
// Templates get copies.
type Data map[string]any

// Limits limit one render. A zero field means its default.
type Limits struct {
	// Time is the maximum duration, at most MaxTime. Default 2 s.
	Time time.Duration
	// Output is the maximum output in bytes. Default 4 MiB.
	Output int
	// Depth is the maximum nesting of includes. Default 32.
	Depth int
	// Memory is by how many bytes the memory of the whole process may grow during a render
	// that takes longer than a moment. Default 64 MiB.
	Memory int
}

// orDefaults returns l with defaults in place of zeros.
func (l Limits) orDefaults() Limits {
	if l.Time <= 0 {
		l.Time = DefaultTime
	}
	l.Time = min(l.Time, MaxTime)
	if l.Output <= 0 {
		l.Output = DefaultOutput
	}
	if l.Depth <= 0 {
		l.Depth = DefaultDepth
	}
	if l.Memory <= 0 {
		l.Memory = DefaultMemory
	}
	return l
}

// Set is a folder of templates. It is safe for concurrent use.
type Set struct {
	files  fs.FS
	limits Limits

	mu        sync.Mutex
	templates map[string]*entry
}

// entry is a template that is loaded on first use.
type entry struct {
	once sync.Once
	t    *template
	err  error
}

// New returns the templates in files, which must not change while the Set is in use:
// each file is read and compiled once. If the file system follows links out of the
// folder, templates can too; that of an os.Root does not.
func New(files fs.FS, limits Limits) *Set {
	return &Set{files: files, limits: limits.orDefaults(), templates: map[string]*entry{}}
}

// Render renders the named template. An error about the template or in it is an *Error.
func (s *Set) Render(ctx context.Context, name string, data Data) (string, error) {
	file, err := resolve("", name)
	if err != nil {
		return "", &Error{File: name, Msg: err.Error(), Err: err}
	}
	t, err := s.template(file)
	if err != nil {
		return "", err
	}
	return s.render(ctx, t, data)
}

// RenderText renders text as if it were the named file. It is compiled on each call.
func (s *Set) RenderText(ctx context.Context, name, text string, data Data) (string, error) {
	t, err := parse(name, text)
	if err != nil {
		return "", err
	}
	return s.render(ctx, t, data)
}

// Check parses and compiles the named template without running it.
func (s *Set) Check(name string) error {
	file, err := resolve("", name)
	if err != nil {
		return &Error{File: name, Msg: err.Error(), Err: err}
	}
	t, err := s.template(file)
	if err != nil {
		return err
	}
	_, err = t.program(nil)
	return err
}

// template returns the template in file. An error is an *Error.
func (s *Set) template(file string) (*template, error) {
	s.mu.Lock()
	e := s.templates[file]
	if e == nil {
		e = new(entry)
		s.templates[file] = e
	}
	s.mu.Unlock()
	e.once.Do(func() { e.t, e.err = s.read(file) })
	if e.err != nil && errors.Is(e.err, fs.ErrNotExist) {
		// Names that do not exist are not cached: there can be arbitrarily many.
		s.mu.Lock()
		delete(s.templates, file)
		s.mu.Unlock()
	}
	return e.t, e.err
}

// read reads and parses a file.
func (s *Set) read(file string) (*template, error) {
	// Opening something other than a regular file, such as a pipe, may block.
	if info, err := fs.Stat(s.files, file); err == nil && !info.Mode().IsRegular() {
		return nil, &Error{File: file, Msg: "cannot open template: not a file"}
	}
	f, err := s.files.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{File: file, Msg: fmt.Sprintf("cannot find template %q", file), Err: fs.ErrNotExist,
			Hint: "write the path from the template folder, or from the including file with ./ or ../"}
	}
	if err != nil {
		return nil, &Error{File: file, Msg: "cannot open template: " + reason(err), Err: err}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return nil, &Error{File: file, Msg: "cannot read template: " + reason(err), Err: err}
	}
	return parse(file, string(text))
}

// reason returns why a file could not be read, without its path.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// checkText returns an error if text cannot be a template.
func checkText(name, text string) error {
	if len(text) > maxText {
		return &Error{File: name, Msg: fmt.Sprintf("cannot read template: larger than %d KiB", maxText>>10)}
	}
	if utf8.ValidString(text) {
		return nil
	}
	at := 0
	for at < len(text) {
		r, n := utf8.DecodeRuneInString(text[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	e := errorAt(name, text, at, "cannot read template: not UTF-8")
	e.Text = strings.ToValidUTF8(e.Text, "\uFFFD")
	return e
}
