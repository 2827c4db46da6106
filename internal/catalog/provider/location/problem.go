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

// Problem is something that could not be read, or is not allowed.
type Problem struct {
	// Name is the kind of error, such as NotFoundError.
	Name    string
	Message string
	// Where is the file, with line and column if they are known; empty if the message
	// contains it.
	Where string
	// Parent is the reference of the Location whose status reports it.
	Parent string
	// Cause, if not empty, is the part of the message that names the cause, for clients
	// that show it separately.
	Cause string
	// pos is the position in the file.
	pos tree.Pos
}

// Error returns the problem in one line, in the format that clients of the portal know.
func (p *Problem) Error() string { return p.Name + ": " + p.Text() }

// Text returns the message with the location.
func (p *Problem) Text() string {
	if p.Where == "" {
		return p.Message
	}
	return p.Message + " (" + p.Where + ")"
}

// In sets the file of the problem, and the position in it if that is known.
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

// plural returns the number with the matching form of a word.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
