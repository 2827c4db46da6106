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

// ending is what determines the exit code of a run.
type ending struct {
	// fleet is the clusters that were read; nil for files.
	fleet *fleet
	// unread joins the errors of unreadable files.
	unread   error
	findings []finding.Finding
	strict   bool
	// absent are requested names that were not found.
	absent []string
	// empty means that nothing matched, and why returns the reason.
	empty bool
	why   func() string
}

// end determines the exit code: read errors take precedence over invalid
// definitions, and these over missing ones.
func (s *session) end(e ending) error {
	for _, name := range e.absent {
		// A definition may exist in clusters that could not be read.
		if where := e.fleet.known(); where != "" && !isSpoilt(name, e.findings) {
			s.Complain(fmt.Errorf("definition %q not found in %s", name, where), "see "+Name+" discover --all")
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

// isSpoilt reports whether a definition of the name exists but cannot be read.
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

// absent returns the names that were not found.
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
