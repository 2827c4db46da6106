package provide

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/sink"
	"example.dev/ingestor/sink/git"
	"example.dev/ingestor/sink/spool"
)

// manifestFile is the file that lists the files that commit wrote.
const manifestFile = ".portal-provide.json"

// commitOptions are the flags of commit.
type commitOptions struct {
	*common
	repo, author, location          string
	single, allowRemovals           bool
	tokenFile, sshKeyFile, username string
	knownHosts, hostKey, caFile     string
	branch, base, path, message     string
	dryRun, overwrite               bool
	timeout                         time.Duration
}

func newCommit(env *app.Env) *cobra.Command {
	o := &commitOptions{common: newCommon(env, "nothing was committed")}
	cmd := &cobra.Command{
		Use:   "commit [options] [files...]",
		Short: "Write entities to a branch of a Git repository",
		Long: `Writes the entities to a folder of a Git repository, one per file, as
<Kind>/<name>.yaml, in one commit. No commit is made if nothing changes, or if
an entity is missing or invalid.

The files that were written are listed in ` + manifestFile + ` beside them. A
listed file that is no longer generated is removed; other files are neither
replaced nor removed. If the branch is updated concurrently, the commit is
rebased and pushed again. No git program is needed.

A token is read from --token-file, or from the environment variable GIT_TOKEN;
the passphrase of a key from GIT_SSH_PASSPHRASE. The author is that of --author,
or of GIT_AUTHOR_NAME and GIT_AUTHOR_EMAIL.

Exit codes: 0 success, also if nothing changed, 1 failure; the branch is
unchanged, 2 validation failed, 3 no entities, 4 invalid flags.`,
		Example: `  # To a separate branch, which is created if missing
  portal-provide commit entities/ --repo https://git.example.com/org/catalog.git \
    --branch catalog --path catalog/ --token-file token.txt

  # From a pipe, with a Location that a portal can be pointed at
  xrd-transform --input xrds/ | portal-provide commit \
    --repo git@git.example.com:org/catalog.git --location \
    --ssh-key-file id_ed25519 --known-hosts known_hosts

  # What would change?
  portal-provide commit entities/ --repo ../catalog --branch main --dry-run`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), flags.Given(cmd.Flags()), args)
		},
		ValidArgsFunction: flags.CompleteFiles,
	}
	f := cmd.Flags()
	o.bindCommit(f)
	o.bind(f)
	o.Bind(f)
	return cmd
}

func (o *commitOptions) bindCommit(f *pflag.FlagSet) {
	f.StringVar(&o.repo, "repo", "", "`URL` of the repository, user@host:path, or a folder (required)")
	f.StringVar(&o.branch, "branch", "", "`branch` to write to, created if missing (default: the default branch)")
	f.StringVar(&o.base, "base", "", "`branch`, tag or commit that a missing branch is created from")
	f.StringVar(&o.path, "path", "catalog", "`folder` in the repository; . is its top")
	f.StringVarP(&o.message, "message", "m", "", "commit `message` (default: a summary of the changes)")
	f.StringVar(&o.author, "author", "", "`author` of the commit: \"Name <mail>\"")
	f.BoolVar(&o.single, "single-file", false, "write one file, catalog.yaml")
	f.StringVar(&o.location, "location", "", "also write catalog-info.yaml, a Location of this `name` that lists the files")
	f.Lookup("location").NoOptDefVal = Name
	f.BoolVar(&o.overwrite, "overwrite", false, "replace files that this program did not write")
	f.BoolVar(&o.allowRemovals, "allow-removals", false, "remove even more than half of the files")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would change without writing")
	f.StringVar(&o.username, "username", "", "`user` name for the token or key")
	f.StringVar(&o.tokenFile, "token-file", "", "`file` with a token or password (default: GIT_TOKEN)")
	f.StringVar(&o.sshKeyFile, "ssh-key-file", "", "`file` with a private SSH key")
	f.StringVar(&o.knownHosts, "known-hosts", "", "known_hosts `file` with the key of the host")
	f.StringVar(&o.hostKey, "host-key", "", "`key` or fingerprint of the host, instead of known_hosts")
	f.StringVar(&o.caFile, "ca-file", "", "`file` with the certificate authority of the server")
	f.DurationVar(&o.timeout, "timeout", git.DefaultTimeout, "overall `timeout`")
}

func (o *commitOptions) run(ctx context.Context, given map[string]bool, paths []string) error {
	to, err := o.sink(given)
	if err := cmp.Or(err, o.settle(given, paths)); err != nil {
		return err
	}
	entities, err := o.gather(ctx, paths, spool.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = entities.Close() }() // It was only read.
	files, err := o.layOut(entities)
	if err != nil {
		return err
	}
	if o.Detailed() {
		o.Sayf("comparing %s with folder %s of %s", output.Count(len(files), "file", "files"), term.Safe(o.path), term.Safe(to.Repository()))
	}
	res, err := to.Commit(ctx, files)
	if e, ok := errors.AsType[*git.Error](err); ok {
		return &app.Exit{Code: app.ExitFailed, Err: e, Hint: e.Hint}
	}
	if err != nil {
		return err
	}
	return o.tell(to, res)
}

// sink returns the sink for the flags.
func (o *commitOptions) sink(given map[string]bool) (*git.Sink, error) {
	const help = "see " + Name + " commit --help"
	if o.repo == "" {
		return nil, flags.Usagef("set --repo", "no repository given")
	}
	if given["location"] {
		if err := checkLocation(o.location); err != nil {
			return nil, err
		}
	}
	name, mail, err := o.signature()
	if err != nil {
		return nil, err
	}
	opts := git.Options{
		Branch: o.branch, Base: o.base, Path: o.path, Message: o.message, Author: name, Email: mail, Now: o.Env.Now,
		Manifest: manifestFile, Overwrite: o.overwrite, Prune: true, DryRun: o.dryRun, Approve: o.approve, Timeout: o.timeout,
		Auth: git.Auth{
			Username: o.username, TokenFile: o.tokenFile, SSHKeyFile: o.sshKeyFile,
			Passphrase:     sink.Secret(o.Env.Getenv("GIT_SSH_PASSPHRASE")),
			KnownHostsFile: o.knownHosts, HostKey: o.hostKey, CAFile: o.caFile,
		},
	}
	if o.tokenFile == "" {
		opts.Auth.Token = sink.Secret(o.Env.Getenv("GIT_TOKEN"))
	}
	to := git.New(o.repo, opts)
	if e, ok := errors.AsType[*git.Error](to.Check()); ok {
		return nil, flags.Usage(e, cmp.Or(e.Hint, help))
	}
	return to, nil
}

// person matches an author in Git's format.
var person = regexp.MustCompile(`^\s*([^<>]+?)\s*<([^<>\s]+)>\s*$`)

// signature returns the author of the commit.
func (o *commitOptions) signature() (name, mail string, err error) {
	if o.author == "" {
		return cmp.Or(o.Env.Getenv("GIT_AUTHOR_NAME"), Name), cmp.Or(o.Env.Getenv("GIT_AUTHOR_EMAIL"), Name+"@localhost"), nil
	}
	parts := person.FindStringSubmatch(o.author)
	if parts == nil {
		return "", "", flags.Usagef(`write --author "Name <mail>"`, "cannot use author %q", o.author)
	}
	return parts[1], parts[2], nil
}

// approve refuses a commit that removes most of the files, because an upstream
// program may have died silently.
func (o *commitOptions) approve(r git.Result) error {
	gone := len(r.Removed)
	were := gone + len(r.Changed) + r.Unchanged
	if o.allowRemovals || 2*gone <= were {
		return nil
	}
	return &app.Exit{
		Code: app.ExitFailed, Err: fmt.Errorf("%s: %d of %d files would be removed", o.undone, gone, were),
		Hint: "check that the input is complete; pass --allow-removals to remove them anyway",
	}
}

// tell prints what changed.
func (o *commitOptions) tell(to *git.Sink, r git.Result) error {
	var b strings.Builder
	for _, part := range []struct {
		what  string
		files []string
	}{{"added", r.Added}, {"changed", r.Changed}, {"removed", r.Removed}} {
		for _, f := range part.files {
			fmt.Fprintf(&b, "%-7s %s\n", part.what, term.Safe(f))
		}
	}
	counts := fmt.Sprintf("added %d, changed %d, removed %d, unchanged %d", len(r.Added), len(r.Changed), len(r.Removed), r.Unchanged)
	where := fmt.Sprintf("branch %s of %s", term.Safe(r.Branch), term.Safe(to.Repository()))
	if r.Created {
		where = "new " + where
	}
	switch {
	case r.Pushed:
		fmt.Fprintf(&b, "commit %s to %s: %s\n", r.Commit, where, counts)
	case o.dryRun && slices.Concat(r.Added, r.Changed, r.Removed) != nil:
		fmt.Fprintf(&b, "dry run, nothing was written to %s: %s\n", where, counts)
	default:
		fmt.Fprintf(&b, "nothing changed in %s: %s\n", where, counts)
	}
	if _, err := fmt.Fprint(o.Env.Stdout, b.String()); err != nil {
		return output.Failure(fmt.Errorf("cannot write the result: %w", err))
	}
	return nil
}
