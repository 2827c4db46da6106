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

// Update is a branch to be moved.
type Update struct {
	Branch plumbing.ReferenceName
	// Old is where the branch is; zero if there is none. New is where it is to
	// be.
	Old, New plumbing.Hash
	// Objects are those that the repository does not have, and no others.
	Objects *memory.Storage
}

// ErrMoved is a branch that is not, or no longer, where it was seen.
var ErrMoved = Wrong("try again", "somebody else has moved the branch meanwhile")

// push moves a branch on a server.
func push(ctx context.Context, at Address, way Options, creds Credentials, u Update) error {
	with, adv, err := call(ctx, takes, at, way, creds)
	if err != nil {
		return err
	}
	defer func() { _ = with.Close() }() // All that counts has been said.
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

// pack writes the objects as a pack, in the order of their names.
func (u Update) pack(w io.Writer) error {
	all := slices.SortedFunc(maps.Keys(u.Objects.Objects), func(a, b plumbing.Hash) int { return bytes.Compare(a[:], b[:]) })
	_, err := packfile.NewEncoder(w, u.Objects, false).Encode(all, 0)
	return err
}

// judge explains a report in which something was refused. What else the server
// says beside is often more to the point.
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
		why += fmt.Sprintf(", and says %q", words)
	}
	if isLocked(why) || isLocked(says) {
		return &Problem{
			Err:  &busy{fmt.Sprintf("the branch %q is locked on the server: %s", u.Branch.Short(), why)},
			Hint: fmt.Sprintf("try again; if no process writes to the branch there, remove %s.lock from the repository on the server", u.Branch),
		}
	}
	hint := "check that these credentials may write to that branch"
	if low := strings.ToLower(why); strings.Contains(low, "protected") || strings.Contains(low, "hook") || strings.Contains(low, "denied") {
		hint = "the branch may be protected, or ruled by a hook: name another branch and ask for its change to be taken, or have these credentials allowed to write to it"
	}
	return Wrong(hint, "the server refuses to move the branch %q: %s", u.Branch.Short(), why)
}

// remarks are what a server says beside its answer, the beginning of it.
type remarks struct{ bytes.Buffer }

// Write keeps what there is room for.
func (r *remarks) Write(p []byte) (int, error) {
	const most = 8 << 10
	r.Buffer.Write(p[:max(0, min(len(p), most-r.Len()))])
	return len(p), nil
}

// pushLocal moves a branch of a repository on the disk. Hooks are not run.
func pushLocal(ctx context.Context, r *gogit.Repository, u Update) error {
	store, ok := r.Storer.(*filesystem.Storage)
	if !ok {
		return errors.New("it is not kept in files")
	}
	if checkedOut(r, store, u.Branch) {
		return Wrong("name another branch, or a repository without a work tree",
			"the branch %q is checked out there, and its files would not follow", u.Branch.Short())
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

// checkedOut reports whether the branch is that of a work tree: the one of the
// repository, or one that git worktree made.
func checkedOut(r *gogit.Repository, store *filesystem.Storage, branch plumbing.ReferenceName) bool {
	dir := commonDir(store)
	var trees []string
	if c, err := r.Config(); err == nil && !c.Core.IsBare {
		trees = append(trees, dir)
	}
	made, _ := os.ReadDir(filepath.Join(dir, "worktrees")) // As a rule there is none.
	for _, d := range made {
		trees = append(trees, filepath.Join(dir, "worktrees", d.Name()))
	}
	return slices.ContainsFunc(trees, func(tree string) bool {
		head, err := os.ReadFile(filepath.Join(tree, "HEAD"))
		return err == nil && strings.TrimSpace(string(head)) == "ref: "+branch.String()
	})
}

// commonDir is the folder that has the branches of a repository, for a work tree
// of git worktree too, which has only its own HEAD.
func commonDir(store *filesystem.Storage) string {
	dir := store.Filesystem().Root()
	to, err := os.ReadFile(filepath.Join(dir, "commondir"))
	if err != nil {
		return dir // As a rule there is none.
	}
	at := filepath.FromSlash(strings.TrimSpace(string(to)))
	if filepath.IsAbs(at) {
		return at
	}
	return filepath.Join(dir, at)
}

// noRoom is why a branch cannot be made beside others.
const noRoom = "a branch cannot be where others have a folder of its name, and the other way round"

// room returns an error if a new branch would lie where another does. Of those
// that are packed together in one file the disk does not tell.
func room(store *filesystem.Storage, u Update) error {
	if !u.Old.IsZero() {
		return nil
	}
	all, err := store.IterReferences()
	if errors.Is(err, dotgit.ErrEmptyRefFile) {
		// Git makes a lock and then fills it.
		dir := filepath.Join(commonDir(store), "refs")
		return &Problem{
			Err:  &busy{fmt.Sprintf("cannot list branches: another program has an empty lock below %s", dir)},
			Hint: "try again; if no program writes to the repository, remove the empty files below " + dir,
		}
	}
	if err != nil {
		return fmt.Errorf("its names cannot be read: %w", err)
	}
	return all.ForEach(func(r *plumbing.Reference) error {
		is, wants := r.Name().String()+"/", u.Branch.String()+"/"
		if is != wants && (strings.HasPrefix(is, wants) || strings.HasPrefix(wants, is)) {
			return Wrong(noRoom, "it cannot be written to: there is %q", r.Name().Short())
		}
		return nil
	})
}

// unwritable explains why something cannot be written to the disk.
func unwritable(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		err = l.Err
	}
	hint := noRoom
	if errors.Is(err, fs.ErrPermission) {
		hint = "give yourself the right to write to the folder of the repository"
	}
	return Wrong(hint, "it cannot be written to: %w", err)
}
