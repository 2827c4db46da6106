package publish

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/git/forge"
	"example.dev/ingestor/sink/git"
)

// commit implements git:commit.
func (p publisher) commit(ctx context.Context, c *action.Call) error {
	in, err := read(c)
	if err != nil {
		return err
	}
	at, err := p.place(ctx, in, false)
	if err != nil {
		return err
	}
	if err := p.authorize(ctx, c, in, at, in.target); err != nil {
		return err
	}
	opts := p.options(c, in, at)
	opts.Branch, opts.Base, opts.Compare = in.target, in.base, in.compare(c)
	res, err := git.New(at.address, opts).Commit(ctx, in.files)
	in.recordPush(c, cmp.Or(res.Branch, in.target), res, err)
	if err != nil {
		return told(err)
	}
	in.tell(c, res)
	in.output(c, res, res.Pushed)
	return nil
}

// propose implements publish:change-request.
func (p publisher) propose(ctx context.Context, c *action.Call) error {
	in, err := read(c)
	if err != nil {
		return err
	}
	at, err := p.place(ctx, in, false)
	if err != nil {
		return err
	}
	if err := p.authorize(ctx, c, in, at, p.proposed(in)); err != nil {
		return err
	}
	if at, err = p.place(ctx, in, true); err != nil {
		return err
	}
	if in.source == "" {
		if in.source, err = p.choose(ctx, c, in, at); err != nil {
			return err
		}
	}
	if in.source == in.target {
		return action.Errorf("remove branchName, or choose another branch", "cannot propose branch %q for itself", in.source)
	}
	opts := p.options(c, in, at)
	opts.Branch, opts.Base, opts.Compare = in.source, in.target, in.compare(c)
	res, err := git.New(at.address, opts).Commit(ctx, in.files)
	in.recordPush(c, in.source, res, err)
	if err != nil {
		return told(err)
	}
	there, err := p.settled(ctx, c, in, at, res)
	if err != nil {
		return err
	}
	if there {
		c.Logf("nothing to propose: %s is up to date", cmp.Or(in.target, "the repository"))
		in.output(c, git.Result{}, false)
		return nil
	}
	in.tell(c, res)
	in.output(c, res, true)
	if c.DryRun {
		return nil
	}
	if at.server.Kind == forge.Plain {
		c.Logf("pushed branch %s; %s does not support change requests", res.Branch, in.host)
		return nil
	}
	in.body += p.plans(ctx, c, in)
	return p.request(ctx, c, in, at, res)
}

const (
	// mostPlans is how many resources of a change request are planned, and mostText limits
	// its text with their plans in bytes: Git servers refuse texts of more than 64 KiB.
	mostPlans = 5
	mostText  = 60 << 10
)

// plans returns the plans of the proposed resources, for the text of a change request. A
// resource without a plan does not prevent the request.
func (p publisher) plans(ctx context.Context, c *action.Call, in *input) string {
	if p.Plan == nil || in.remove {
		return ""
	}
	var b strings.Builder
	for _, d := range in.documents[:min(len(in.documents), mostPlans)] {
		text, err := p.Plan(ctx, c, Proposal{Cluster: in.cluster, Manifest: d.node, Merge: in.merge})
		name := d.kind + " " + path.Join(d.namespace, d.name)
		switch {
		case err != nil:
			c.Logf("no plan of %s: %v", name, err)
			text = "No plan: the log of the task says why.\n"
		case text == "":
			continue
		case len(in.body)+b.Len()+len(text) > mostText:
			text = "The plan is too long for this text; see composer-ingestor plan.\n"
		}
		fmt.Fprintf(&b, "\n\n### %s\n\n%s", name, text)
	}
	return b.String()
}

// settled reports whether there is nothing to propose because the target has all
// changes. A branch without a new commit may be left from an earlier run that
// ended before it opened a change request, or whose change request has been merged
// since.
func (p publisher) settled(ctx context.Context, c *action.Call, in *input, at place, res git.Result) (bool, error) {
	if len(res.Added)+len(res.Changed)+len(res.Removed) > 0 {
		return false, nil
	}
	if res.Tip == "" {
		return true, nil
	}
	opts := p.options(c, in, at)
	opts.Branch, opts.DryRun = in.target, true
	now, err := git.New(at.address, opts).Commit(ctx, in.files)
	if err != nil {
		return false, told(err)
	}
	return len(now.Added)+len(now.Changed)+len(now.Removed) == 0, nil
}

// request opens or updates the change request.
func (p publisher) request(ctx context.Context, c *action.Call, in *input, at place, res git.Result) error {
	change, err := forge.Open(ctx, forge.Request{
		Server: at.server, Repository: in.repository, Source: res.Branch, Target: in.target,
		Title: in.title, Body: in.body, Labels: in.labels, Draft: in.draft,
	})
	if errors.Is(err, forge.ErrNoDifference) {
		c.Logf("nothing to propose: %s is the same as %s", res.Branch, cmp.Or(in.target, "the default branch"))
		in.output(c, res, false)
		return nil
	}
	in.recordRequest(c, res.Branch, change, err)
	if err != nil {
		hint := "run the step again to continue; the branch is kept"
		if e, ok := errors.AsType[*forge.Error](err); ok && e.Hint != "" {
			hint = e.Hint + "\n" + hint
		}
		return action.Errorf(hint, "cannot propose pushed branch %q: %w", res.Branch, err)
	}
	did := "opened"
	if change.Existed {
		did = "updated"
	}
	c.Logf("%s %s", did, change.URL)
	for _, r := range change.Remarks {
		c.Logf("%s", r)
	}
	for _, name := range []string{"url", "remoteUrl", "mergeRequestUrl"} {
		c.Output(name, tree.Str(change.URL))
	}
	c.Output("pullRequestNumber", tree.Number(change.Number))
	c.Output("targetBranchName", tree.Str(change.Target))
	return nil
}

// choose returns the branch that a step proposes, the same on every run. For
// resources, the branch is derived from them: proposing them again while a change
// request is open updates that request. A branch that is left from a closed change
// request and has other changes on it is not reused.
func (p publisher) choose(ctx context.Context, c *action.Call, in *input, at place) (string, error) {
	own := p.branch(in, cmp.Or(c.Key, c.Task+"/"+c.Step))
	if len(in.documents) == 0 {
		return own, nil
	}
	theirs := p.branch(in, in.subject())
	if at.server.Kind == forge.Plain {
		return theirs, nil
	}
	open, err := forge.IsOpen(ctx, forge.Request{Server: at.server, Repository: in.repository, Source: theirs, Target: in.target})
	if err != nil {
		return "", told(err)
	}
	if open {
		return theirs, nil
	}
	opts := p.options(c, in, at)
	opts.Branch, opts.Base, opts.DryRun = theirs, in.target, true
	res, err := git.New(at.address, opts).Commit(ctx, in.files)
	if err != nil {
		return "", told(err)
	}
	if res.Created || len(res.Added)+len(res.Changed)+len(res.Removed) == 0 {
		return theirs, nil
	}
	return own, nil
}

// subject identifies a change by the files of its resources and its target branch.
func (in *input) subject() string {
	all := []string{in.target, in.path}
	for _, d := range in.documents {
		all = append(all, d.group+"/"+d.file)
	}
	return strings.Join(all, "\n")
}

// branch returns a branch name for a change, unique for the value of of.
func (p publisher) branch(in *input, of string) string {
	what := in.title
	if len(in.documents) > 0 {
		what = in.documents[0].kind + "-" + in.documents[0].name
	}
	sum := sha256.Sum256([]byte(of))
	return p.Prefix + "/" + strings.TrimLeft(slug(what)+"-"+hex.EncodeToString(sum[:5]), "-")
}

// slug returns a text as part of a branch name.
func slug(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 50 {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}

// tell logs the changed files.
func (in *input) tell(c *action.Call, res git.Result) {
	for _, l := range []struct {
		what  string
		files []string
	}{{"add", res.Added}, {"change", res.Changed}, {"remove", res.Removed}} {
		const most = 20
		for _, f := range l.files[:min(len(l.files), most)] {
			c.Logf("%s %s", l.what, f)
		}
		if more := len(l.files) - most; more > 0 {
			c.Logf("%s %d more files", l.what, more)
		}
	}
	switch {
	case res.Pushed:
		c.Logf("pushed %s to branch %s of %s", res.Commit, res.Branch, in.repository)
	case len(res.Added)+len(res.Changed)+len(res.Removed) > 0:
		c.Logf("dry run: branch %s of %s is unchanged", res.Branch, in.repository)
	default:
		c.Logf("nothing to change: branch %s of %s is up to date", res.Branch, in.repository)
	}
}

// compare returns a function that reports how files would differ in a dry run; nil
// if c.Change is nil.
func (in *input) compare(c *action.Call) func(path string, before, after []byte) {
	if c.Change == nil {
		return nil
	}
	where := cmp.Or(in.target, "the default branch") + " of " + in.repository
	return func(path string, before, after []byte) {
		c.Change(action.Change{Where: where, Name: path, Before: before, After: after})
	}
}

// output sets the outputs that both actions have.
func (in *input) output(c *action.Call, res git.Result, changed bool) {
	c.Output("changed", tree.Boolean(changed))
	c.Output("projectPath", tree.Str(strings.TrimSuffix(in.repository, ".git")))
	if len(in.touched) > 0 {
		c.Output("paths", tree.Strs(slices.Sorted(maps.Keys(in.touched))))
	}
	if len(in.documents) > 0 {
		c.Output("path", tree.Str(path.Join("/", in.path, in.documents[0].file)[1:]))
	}
	if in.target != "" {
		c.Output("targetBranchName", tree.Str(in.target))
	}
	if res.Branch != "" {
		c.Output("branch", tree.Str(res.Branch))
	}
	if res.Tip != "" && !c.DryRun {
		c.Output("commit", tree.Str(res.Tip))
	}
}

// told wraps an error with the hint that it has.
func told(err error) error {
	if e, ok := errors.AsType[*action.Error](err); ok {
		// Keep the whole error: it was wrapped with the name of the repository.
		return &action.Error{Err: err, Hint: e.Hint}
	}
	if e, ok := errors.AsType[*git.Error](err); ok {
		return &action.Error{Err: err, Hint: e.Hint}
	}
	if e, ok := errors.AsType[*forge.Error](err); ok {
		return &action.Error{Err: err, Hint: e.Hint}
	}
	return fmt.Errorf("cannot publish: %w", err)
}
