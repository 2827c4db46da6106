package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
	"github.com/go-git/go-git/v5/storage/memory"
)

// Update is a move of a branch.
type Update struct {
	Branch plumbing.ReferenceName
	// Old is the current commit of the branch, zero if there is no branch. New is the
	// new commit.
	Old, New plumbing.Hash
	// Objects are exactly the objects that the repository does not have.
	Objects *memory.Storage
}

// ErrMoved is returned for a branch that is no longer at the expected commit.
var ErrMoved = Wrong("try again", "branch was updated concurrently")

// push moves a branch on a server.
func push(ctx context.Context, at Address, way Options, creds Credentials, u Update) error {
	with, adv, err := call(ctx, takes, at, way, creds)
	if err != nil {
		return err
	}
	defer func() { _ = with.Close() }() // Everything relevant has been received.
	if now := adv.References[u.Branch.String()]; now != u.Old {
		return ErrMoved
	}
	var pack bytes.Buffer
	if err := u.pack(&pack); err != nil {
		return err
	}
	req := packp.NewReferenceUpdateRequestFromCapabilities(adv.Capabilities)
	for _, c := range []capability.Capability{capability.Sideband64k, capability.Quiet} {
		if adv.Capabilities.Supports(c) {
			_ = req.Capabilities.Set(c)
		}
	}
	says := &remarks{}
	req.Progress = says
	req.Commands = []*packp.Command{{Name: u.Branch, Old: u.Old, New: u.New}}
	req.Packfile = io.NopCloser(&pack)
	report, err := with.(pushSession).ReceivePack(ctx, req)
	if report != nil {
		return u.judge(report, says.String())
	}
	if err == nil && req.Capabilities.Supports(capability.ReportStatus) {
		return wordsOf(says.String())
	}
	return err
}

// pack writes the objects as a pack, sorted by hash.
func (u Update) pack(w io.Writer) error {
	all := slices.SortedFunc(maps.Keys(u.Objects.Objects), func(a, b plumbing.Hash) int { return bytes.Compare(a[:], b[:]) })
	_, err := packfile.NewEncoder(w, u.Objects, false).Encode(all, 0)
	return err
}

// judge explains a report with a refusal. The server's other messages are often more
// specific.
func (u Update) judge(report *packp.ReportStatus, says string) error {
	err := report.Error()
	if err == nil {
		return nil
	}
	why := report.UnpackStatus
	for _, c := range report.CommandStatuses {
		if c.Error() != nil {
			why = c.Status
		}
	}
	why = Said(why)
	if words := firstWords(says); words != "" {
		why += fmt.Sprintf(": %q", words)
	}
	if isLocked(why) || isLocked(says) {
		return &Problem{
			Err:  &busy{fmt.Sprintf("branch %q is locked on the server: %s", u.Branch.Short(), why)},
			Hint: fmt.Sprintf("try again; if no process writes to the branch there, remove %s.lock from the repository on the server", u.Branch),
		}
	}
	hint := "check that these credentials may write to that branch"
	if low := strings.ToLower(why); strings.Contains(low, "protected") || strings.Contains(low, "hook") || strings.Contains(low, "denied") {
		hint = "the branch may be protected, or restricted by a hook: push to another branch and open a change request, or allow these credentials to write to it"
	}
	return Wrong(hint, "server refused to update branch %q: %s", u.Branch.Short(), why)
}

// remarks holds the beginning of a server's progress messages.
type remarks struct{ bytes.Buffer }

// Write keeps what fits.
func (r *remarks) Write(p []byte) (int, error) {
	const most = 8 << 10
	r.Buffer.Write(p[:max(0, min(len(p), most-r.Len()))])
	return len(p), nil
}

// pushLocal moves a branch of a repository on disk. Hooks are not run.
func pushLocal(ctx context.Context, r *gogit.Repository, u Update) error {
	store, ok := r.Storer.(*filesystem.Storage)
	if !ok {
		return errors.New("repository is not stored in files")
	}
	if checkedOut(r, store, u.Branch) {
		return Wrong("use another branch, or a bare repository",
			"branch %q is checked out there, and its files would not be updated", u.Branch.Short())
	}
	if err := room(store, u); err != nil {
		return err
	}
	for _, o := range u.Objects.Objects {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := store.SetEncodedObject(o); err != nil {
			return unwritable(err)
		}
	}
	return moveLocal(ctx, r, commonDir(store), u)
}

// checkedOut reports whether the branch is checked out in a work tree: that of the
// repository, or one created by git worktree.
func checkedOut(r *gogit.Repository, store *filesystem.Storage, branch plumbing.ReferenceName) bool {
	dir := commonDir(store)
	var trees []string
	if c, err := r.Config(); err == nil && !c.Core.IsBare {
		trees = append(trees, dir)
	}
	made, _ := os.ReadDir(filepath.Join(dir, "worktrees")) // Usually it does not exist.
	for _, d := range made {
		trees = append(trees, filepath.Join(dir, "worktrees", d.Name()))
	}
	return slices.ContainsFunc(trees, func(tree string) bool {
		head, err := os.ReadFile(filepath.Join(tree, "HEAD"))
		return err == nil && strings.TrimSpace(string(head)) == "ref: "+branch.String()
	})
}

// commonDir returns the folder with the branches of a repository, also for a work
// tree created by git worktree, which only has its own HEAD.
func commonDir(store *filesystem.Storage) string {
	dir := store.Filesystem().Root()
	to, err := os.ReadFile(filepath.Join(dir, "commondir"))
	if err != nil {
		return dir // Usually it does not exist.
	}
	at := filepath.FromSlash(strings.TrimSpace(string(to)))
	if filepath.IsAbs(at) {
		return at
	}
	return filepath.Join(dir, at)
}

// noRoom is the hint for a branch whose name conflicts with others.
const noRoom = "a branch cannot have the name of a folder of other branches, or the reverse"

// room returns an error if the name of a new branch conflicts with another. For
// packed references the file system does not detect it.
func room(store *filesystem.Storage, u Update) error {
	if !u.Old.IsZero() {
		return nil
	}
	all, err := store.IterReferences()
	if errors.Is(err, dotgit.ErrEmptyRefFile) {
		// Git creates an empty lock file and then writes to it.
		dir := filepath.Join(commonDir(store), "refs")
		return &Problem{
			Err:  &busy{fmt.Sprintf("cannot list branches: another program has an empty lock below %s", dir)},
			Hint: "try again; if no program writes to the repository, remove the empty files below " + dir,
		}
	}
	if err != nil {
		return fmt.Errorf("cannot list branches and tags: %w", err)
	}
	return all.ForEach(func(r *plumbing.Reference) error {
		is, wants := r.Name().String()+"/", u.Branch.String()+"/"
		if is != wants && (strings.HasPrefix(is, wants) || strings.HasPrefix(wants, is)) {
			return Wrong(noRoom, "branch name conflicts with %q", r.Name().Short())
		}
		return nil
	})
}

// unwritable explains why something cannot be written to disk.
func unwritable(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		err = l.Err
	}
	hint := noRoom
	if errors.Is(err, fs.ErrPermission) {
		hint = "grant yourself write permission on the folder of the repository"
	}
	return Wrong(hint, "%w", err)
}
