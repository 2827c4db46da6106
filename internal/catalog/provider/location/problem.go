package location

import (
	"fmt"

	"example.dev/ingestor/document/tree"
)

// The names of problems, which are those of the portal's errors.
const (
	nameInput      = "InputError"
	nameNotFound   = "NotFoundError"
	nameNotAllowed = "NotAllowedError"
	nameConflict   = "ConflictError"
	nameOther      = "Error"
)

// Problem is something that could not be read, or may not come.
type Problem struct {
	// Name is the kind of error, such as NotFoundError.
	Name    string
	Message string
	// Where is the file, with line and column if they are known; empty if the
	// message says it.
	Where string
	// Parent is the reference of the Location it is told of at.
	Parent string
	// Cause, if not empty, is the part of the message that names the cause,
	// for those who show it apart.
	Cause string
	// pos is where in the file it is.
	pos tree.Pos
}

// Error returns the problem in one line, as the portal's clients know it.
func (p *Problem) Error() string { return p.Name + ": " + p.Text() }

// Text returns the message, with where.
func (p *Problem) Text() string {
	if p.Where == "" {
		return p.Message
	}
	return p.Message + " (" + p.Where + ")"
}

// In says which file the problem is in, and where in it if that is known.
func (p *Problem) In(file string) { p.Where = where(file, p.pos) }

func problemf(name, format string, args ...any) *Problem {
	return &Problem{Name: name, Message: fmt.Sprintf(format, args...)}
}

// where returns file:line:column, as much of it as is known.
func where(file string, pos tree.Pos) string {
	if pos.Line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d:%d", file, pos.Line, max(pos.Column, 1))
}

// plural returns the number with the right one of two words.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
