package provide

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/report"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/sink/portal"
	"example.dev/ingestor/sink/spool"
)

// push is the command without a subcommand.
type push struct {
	*common
	connection
	provider, modeName, outputFormat string
	removeNames                      []string
	dryRun, allowRemovals            bool

	// mode, removals and portal are the parsed flags.
	mode     portal.Mode
	removals []entity.Ref
	portal   *portal.Portal
}

// settle validates and parses the flags.
func (p *push) settle(given map[string]bool, paths []string) (err error) {
	if p.url == "" {
		return flags.Usagef("set --api-url, for example --api-url http://localhost:7007", "no portal given")
	}
	if err := p.common.settle(given, paths); err != nil {
		return err
	}
	if p.provider == "" {
		return flags.Usagef("check for an empty shell variable", "provider name is the empty string")
	}
	if p.mode, err = portal.ParseMode(p.modeName); err != nil {
		return flags.Usage(err, "--mode full or --mode delta")
	}
	if p.findingsFormat, err = report.ParseFormat(p.outputFormat); err != nil {
		return flags.Usage(err, "see --output-format in "+Name+" --help")
	}
	if len(p.removeNames) > 0 && p.mode == portal.Full {
		return flags.Usagef("add --mode delta; a full push removes every entity that is not in it", "cannot use --remove with a full push")
	}
	for _, name := range p.removeNames {
		ref, err := entity.ParseRef(name, "", "")
		if err != nil {
			return flags.Usage(err, "--remove takes kind:namespace/name")
		}
		p.removals = append(p.removals, ref)
	}
	if p.mode == portal.Delta {
		if err := cmp.Or(unfit(given, "allow-empty"), unfit(given, "allow-removals")); err != nil {
			return err
		}
	}
	p.portal, err = p.connect(p.Env, portal.Options{Provider: p.provider})
	return err
}

// unfit returns an error if a flag was given that cannot be used with a delta.
func unfit(given map[string]bool, name string) error {
	if !given[name] {
		return nil
	}
	return flags.Usagef("remove the flag; a delta removes only entities that are named", "cannot use --%s with --mode delta", name)
}

func (p *push) run(ctx context.Context, paths []string) error {
	s, err := p.read(ctx, paths)
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // it is a temporary file
	why, partial := s.Failure()
	if partial {
		if p.mode == portal.Full {
			p.Sayf("the input is not complete, so it is pushed as a delta: nothing is removed")
		}
		p.mode = portal.Delta
	}
	does, hint := p.push, "the available part was pushed"
	if p.dryRun {
		does, hint = p.rehearse, "the available part would be pushed"
	}
	if err := does(ctx, s); err != nil || !partial {
		return err
	}
	return &app.Exit{Code: app.ExitFailed, Err: fmt.Errorf("the input is not complete: %s", orUnknown(why)), Hint: hint}
}

// read reads the entities to push. Standard input is not read if there are only
// removals.
func (p *push) read(ctx context.Context, paths []string) (*spool.Spool, error) {
	opts := spool.Options{Changes: p.mode == portal.Delta}
	var s *spool.Spool
	var err error
	if len(paths) == 0 && len(p.removals) > 0 {
		s, err = spool.New(opts)
	} else {
		s, err = p.gather(ctx, paths, opts)
	}
	if err != nil {
		return nil, err
	}
	for _, ref := range p.removals {
		if err := s.Remove(ref); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// guard returns an error if the push would remove too much.
func (p *push) guard(ctx context.Context, entities int) error {
	if p.mode == portal.Delta || p.allowRemovals || entities == 0 {
		return nil
	}
	err := p.portal.Guard(ctx, entities)
	if e, ok := errors.AsType[*portal.ShrinkError](err); ok {
		return p.shrinks(e)
	}
	if e, ok := errors.AsType[*portal.Error](err); ok && e.Problem == portal.Forbidden {
		return p.refused(e, "or pass --allow-removals to push without counting removals")
	}
	return p.failed(err)
}

// shrinks returns the exit error of a push that would remove too much.
func (p *push) shrinks(e *portal.ShrinkError) error {
	return &app.Exit{Code: app.ExitFailed, Err: fmt.Errorf("%s: %w", p.undone, e), Hint: "pass --allow-removals if this is intended"}
}

// rehearse prints what would be pushed.
func (p *push) rehearse(ctx context.Context, s *spool.Spool) error {
	has, err := p.portal.Count(ctx)
	if err != nil {
		return p.failed(err)
	}
	if err := p.guard(ctx, s.Len()); err != nil {
		return err
	}
	if p.outputFormat == report.JSON {
		return p.writeJSON(struct {
			Provider string `json:"provider"`
			Mode     string `json:"mode"`
			DryRun   bool   `json:"dryRun"`
			Pushed   int    `json:"entities"`
			Has      int    `json:"has"`
		}{p.provider, p.mode.String(), true, s.Len(), has})
	}
	return p.write(fmt.Sprintf("would push %s (%s) as %s, which has %d; nothing was pushed\n", output.Count(s.Len(), "entity", "entities"), p.mode, p.provider, has))
}

func (p *push) push(ctx context.Context, s *spool.Spool) error {
	if err := p.guard(ctx, s.Len()); err != nil {
		return err
	}
	lines, err := s.Reader()
	if err != nil {
		return err
	}
	if p.Detailed() {
		p.Sayf("pushing %s to %s: %s push of provider %s", output.Count(s.Len(), "entity", "entities"), term.Safe(p.portal.URL()), p.mode, term.Safe(p.provider))
	}
	pushing := p.Progress("pushing", "entities")
	r, err := p.portal.Push(ctx, &told{lines, 0, func(bytes int64) { pushing.Update(int(bytes*int64(s.Len())/max(s.Size(), 1)), s.Len()) }}, portal.PushOptions{Mode: p.mode, Strict: p.strict, AllowEmpty: p.allowEmpty})
	pushing.Done()
	refused, whole := errors.AsType[*portal.RefusedError](err)
	if err != nil && !whole {
		return p.failed(err)
	}
	if err := p.tell(r, s); err != nil {
		return err
	}
	switch {
	case whole && refused.Nothing:
		return &app.Exit{Code: app.ExitInvalid, Err: errors.New("nothing was pushed: the portal refused some of the entities, and --strict requires all")}
	case len(r.Refused) > 0:
		return &app.Exit{Code: app.ExitInvalid}
	}
	return nil
}

// told is a reader that reports its position.
type told struct {
	io.ReadSeeker
	at   int64
	tell func(bytes int64)
}

// Read reads and reports the new position.
func (t *told) Read(p []byte) (int, error) {
	n, err := t.ReadSeeker.Read(p)
	t.at += int64(n)
	t.tell(t.at)
	return n, err
}

// Seek changes the position, for a retry.
func (t *told) Seek(offset int64, whence int) (int64, error) {
	at, err := t.ReadSeeker.Seek(offset, whence)
	t.at = at
	return at, err
}

// failed returns the exit error of a failed request to the portal.
func (p *push) failed(err error) error {
	if e, ok := errors.AsType[*portal.Error](err); ok {
		return p.refused(e, "")
	}
	return err
}

func (p *push) refused(e *portal.Error, more string) error {
	hint := strings.TrimSuffix(strings.Join([]string{e.Hint(), more}, ", "), ", ")
	if e.Unsure {
		return &app.Exit{Code: app.ExitFailed, Err: fmt.Errorf("%w; the push was applied completely or not at all", e), Hint: hint}
	}
	return &app.Exit{Code: app.ExitFailed, Err: fmt.Errorf("%w; the catalog is unchanged", e), Hint: hint}
}

// tell prints the result of the push.
func (p *push) tell(r portal.Report, s *spool.Spool) error {
	if p.outputFormat == report.JSON {
		return p.writeJSON(p.asJSON(r, s))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "added %d, updated %d, removed %d, unchanged %d, refused %d\n", r.Added, r.Updated, r.Removed, r.Unchanged, len(r.Refused))
	for _, x := range r.Refused {
		fmt.Fprint(&b, "refused ")
		if where := s.Where(x.Line); where != "" {
			fmt.Fprintf(&b, "%s: ", term.Safe(where))
		}
		fmt.Fprintf(&b, "%s: %s\n", cmp.Or(term.Safe(x.Ref), "entity without a valid name"), term.Safe(x.Reason))
	}
	if r.Kept > 0 {
		defer p.Sayf("%s kept although missing from the push: a refused entity may have been meant to update one of them", output.Count(r.Kept, "entity", "entities"))
	}
	if p.outputFormat != report.Text {
		// The findings are on standard output.
		fmt.Fprint(p.Env.Stderr, b.String())
		return nil
	}
	return p.write(b.String())
}

// asJSON returns the report as JSON, with the positions of refused entities.
func (p *push) asJSON(r portal.Report, s *spool.Spool) any {
	type refused struct {
		Ref    string `json:"ref,omitempty"`
		Reason string `json:"reason"`
		File   string `json:"file,omitempty"`
		Line   int    `json:"line,omitempty"`
		Column int    `json:"column,omitempty"`
	}
	all := []refused{}
	for _, x := range r.Refused {
		name, pos := s.At(x.Line)
		all = append(all, refused{x.Ref, x.Reason, name, int(pos.Line), int(pos.Column)})
	}
	return struct {
		Provider  string    `json:"provider"`
		Mode      string    `json:"mode"`
		Added     int       `json:"added"`
		Updated   int       `json:"updated"`
		Removed   int       `json:"removed"`
		Unchanged int       `json:"unchanged"`
		Kept      int       `json:"kept"`
		Refused   []refused `json:"refused"`
	}{p.provider, p.mode.String(), r.Added, r.Updated, r.Removed, r.Unchanged, r.Kept, all}
}

func (p *push) writeJSON(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return p.write(string(text) + "\n")
}

// write writes a result to standard output.
func (c *common) write(text string) error {
	if _, err := c.Env.Stdout.Write([]byte(text)); err != nil {
		return output.Failure(fmt.Errorf("cannot write the result: %w", err))
	}
	return nil
}
