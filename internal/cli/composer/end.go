package composer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/xrd"
)

// ending is what the exit code of a run depends on.
type ending struct {
	// fleet are the clusters that were read; nil if it was files.
	fleet *fleet
	// unread joins what could not be read of files.
	unread   error
	findings []finding.Finding
	strict   bool
	// absent are names that were asked for and not found.
	absent []string
	// empty says that nothing matched, and why says why.
	empty bool
	why   func() string
}

// end settles the exit code: what could not be read counts first, then what is
// invalid, then what is not there.
func (s *session) end(e ending) error {
	for _, name := range e.absent {
		// Of clusters that could not be read nobody knows.
		if where := e.fleet.known(); where != "" && !isSpoilt(name, e.findings) {
			s.Complain(fmt.Errorf("there is no definition %q in %s", name, where), "see "+Name+" discover --all")
		}
	}
	if e.fleet != nil {
		if err := e.fleet.verdict(); err != nil {
			return err
		}
	}
	switch {
	case e.unread != nil:
		return s.Unread(e.unread)
	case output.Failed(e.findings, e.strict):
		return &app.Exit{Code: app.ExitInvalid}
	case len(e.absent) > 0:
		return &app.Exit{Code: app.ExitNothing}
	case e.empty:
		return &app.Exit{Code: app.ExitNothing, Err: errors.New("nothing matched"), Hint: term.Safe(e.why())}
	}
	return nil
}

// isSpoilt reports whether there is a definition of the name that cannot be read.
func isSpoilt(name string, found []finding.Finding) bool {
	return slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Rule == xrd.RuleSyntax && f.Object == name })
}

// known names the clusters whose definitions were all read; empty if there are
// none.
func (f *fleet) known() string {
	var names []string
	for _, m := range f.members() {
		if name := fmt.Sprintf("%q", m.Status.Cluster); m.Status.Known && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch last := len(names) - 1; last {
	case -1:
		return ""
	case 0:
		return "cluster " + names[0]
	default:
		return "clusters " + strings.Join(names[:last], ", ") + " and " + names[last]
	}
}

// absent returns the names that no definition has.
func absent(names, found []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(found, n) })
}

// print writes a result to standard output.
func (s *session) print(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if _, err := s.Env.Stdout.Write(text); err != nil {
		return output.Failure(fmt.Errorf("cannot write the result: %w", err))
	}
	return nil
}
