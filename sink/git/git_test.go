package git

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/test/gitserver"
)

var when = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return when }

// TestCommit commits files to existing branches, on disk and over HTTP.
func TestCommit(t *testing.T) {
	const listing = "{\n  \"files\": [\n    \"a.yaml\",\n    \"d/b.yaml\"\n  ]\n}\n"
	theirs := map[string]string{"README.md": "hello", "catalog/own.yaml": "mine"}
	ours := with(theirs, "catalog/a.yaml", "a", "catalog/d/b.yaml", "b", "catalog/.list.json", listing)
	cases := map[string]struct {
		reason string
		before map[string]string // files of the branch main
		opts   Options
		files  map[string][]byte
		want   Result // without the commit
		after  map[string]string
	}{
		"First": {"The first commit of a repository can be made.", nil, Options{}, contents("a.yaml", "a", "d/b.yaml", "b"),
			Result{Branch: "master", Created: true, Added: []string{"a.yaml", "d/b.yaml"}, Pushed: true},
			map[string]string{"a.yaml": "a", "d/b.yaml": "b"}},
		"Beside": {"Other files are kept.", theirs, Options{Branch: "main", Path: "/catalog/"}, contents("a.yaml", "a", "d/b.yaml", "b"),
			Result{Branch: "main", Added: []string{"catalog/a.yaml", "catalog/d/b.yaml"}, Pushed: true},
			with(theirs, "catalog/a.yaml", "a", "catalog/d/b.yaml", "b")},
		"Deep": {"Missing folders are created.", theirs, Options{Branch: "refs/heads/main", Path: "x/y/z"}, contents("a.yaml", "a"),
			Result{Branch: "main", Added: []string{"x/y/z/a.yaml"}, Pushed: true}, with(theirs, "x/y/z/a.yaml", "a")},
		"Same": {"A commit without changes is not made.", ours, Options{Branch: "main", Path: "catalog", Manifest: ".list.json", Prune: true}, contents("a.yaml", "a", "d/b.yaml", "b"),
			Result{Branch: "main", Unchanged: 2}, ours},
		"SameNew": {"A new branch without changes is not created.", ours, Options{Branch: "new", Base: "main", Path: "catalog"}, contents("a.yaml", "a"),
			Result{Branch: "new", Unchanged: 1}, nil},
		"Nothing": {"Without files there is no commit.", nil, Options{}, nil, Result{Branch: "master"}, nil},
		"New": {"A branch can be created from another one.", theirs, Options{Branch: "feature/x", Base: "main"}, contents("a.yaml", "a"),
			Result{Branch: "feature/x", Created: true, Added: []string{"a.yaml"}, Pushed: true}, with(theirs, "a.yaml", "a")},
		"Listed": {"The list of files is written.", theirs, Options{Branch: "main", Path: "catalog", Manifest: ".list.json"}, contents("a.yaml", "a", "d/b.yaml", "b"),
			Result{Branch: "main", Added: []string{"catalog/a.yaml", "catalog/d/b.yaml"}, Pushed: true}, ours},
		"Prune": {"A listed file that is no longer written is removed, together with its empty folder.", ours, Options{Branch: "main", Path: "catalog", Manifest: ".list.json", Prune: true}, contents("a.yaml", "A"),
			Result{Branch: "main", Changed: []string{"catalog/a.yaml"}, Removed: []string{"catalog/d/b.yaml"}, Pushed: true},
			with(theirs, "catalog/a.yaml", "A", "catalog/.list.json", "{\n  \"files\": [\n    \"a.yaml\"\n  ]\n}\n")},
		"Keep": {"Without Prune an old file is kept, and stays in the list.", ours, Options{Branch: "main", Path: "catalog", Manifest: ".list.json"}, contents("a.yaml", "A"),
			Result{Branch: "main", Changed: []string{"catalog/a.yaml"}, Pushed: true}, with(ours, "catalog/a.yaml", "A")},
		"PruneAll": {"Without files the list is removed.", ours, Options{Branch: "main", Path: "catalog", Manifest: ".list.json", Prune: true}, nil,
			Result{Branch: "main", Removed: []string{"catalog/a.yaml", "catalog/d/b.yaml"}, Pushed: true}, theirs},
		"Gone": {"A listed file that was removed or replaced by another type of file is skipped.",
			with(theirs, "catalog/.list.json", listing, "catalog/a.yaml/x", "x"), Options{Branch: "main", Path: "catalog", Manifest: ".list.json", Prune: true}, contents("c.yaml", "c"),
			Result{Branch: "main", Added: []string{"catalog/c.yaml"}, Pushed: true},
			with(theirs, "catalog/a.yaml/x", "x", "catalog/c.yaml", "c", "catalog/.list.json", "{\n  \"files\": [\n    \"c.yaml\"\n  ]\n}\n")},
		"Adopt": {"An unlisted file with the same content is adopted.", with(theirs, "catalog/a.yaml", "a"), Options{Branch: "main", Path: "catalog", Manifest: ".list.json"}, contents("a.yaml", "a"),
			Result{Branch: "main", Unchanged: 1, Pushed: true}, with(theirs, "catalog/a.yaml", "a", "catalog/.list.json", "{\n  \"files\": [\n    \"a.yaml\"\n  ]\n}\n")},
		"Overwrite": {"An unlisted file is replaced if Overwrite is set.", theirs, Options{Branch: "main", Path: "catalog", Manifest: ".list.json", Overwrite: true}, contents("own.yaml", "ours"),
			Result{Branch: "main", Changed: []string{"catalog/own.yaml"}, Pushed: true}, with(theirs, "catalog/own.yaml", "ours", "catalog/.list.json", "{\n  \"files\": [\n    \"own.yaml\"\n  ]\n}\n")},
		"NoList": {"Without a list any file can be replaced.", theirs, Options{Branch: "main", Path: "catalog", Prune: true}, contents("own.yaml", "ours"),
			Result{Branch: "main", Changed: []string{"catalog/own.yaml"}, Pushed: true}, with(theirs, "catalog/own.yaml", "ours")},
		"DryRun": {"A dry run changes nothing.", ours, Options{Branch: "main", Path: "catalog", Manifest: ".list.json", Prune: true, DryRun: true}, contents("a.yaml", "A", "c.yaml", "c"),
			Result{Branch: "main", Added: []string{"catalog/c.yaml"}, Changed: []string{"catalog/a.yaml"}, Removed: []string{"catalog/d/b.yaml"}}, ours},
	}
	for name, tc := range cases {
		for _, over := range []string{"Disk", "HTTP"} {
			t.Run(name+over, func(t *testing.T) {
				r := newRepo(t)
				old := plumbing.ZeroHash
				if tc.before != nil {
					old = r.commit("main", tc.before)
					r.commit("other", map[string]string{"x": "y"})
				}
				at := "file://" + filepath.ToSlash(r.dir)
				if over == "HTTP" {
					at = gitserver.Serve(t, r.dir, nil)
					if tc.before == nil && tc.want.Branch == "master" {
						// A server does not report the default branch of an empty repository.
						tc.want.Branch = first
					}
				}
				tc.opts.Now = clock
				got, err := New(at, tc.opts).Commit(t.Context(), tc.files)
				if err != nil {
					t.Fatalf("%s\n%v\n%s", tc.reason, err, hint(err))
				}
				commit, tip := got.Commit, got.Tip
				got.Commit, got.Tip = "", ""
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s\nresult (-want +got):\n%s", tc.reason, diff)
				}
				if diff := cmp.Diff(tc.after, r.files(got.Branch)); diff != "" {
					t.Errorf("%s\nfiles (-want +got):\n%s", tc.reason, diff)
				}
				now := r.head(got.Branch)
				if tip != strings.ReplaceAll(now.String(), plumbing.ZeroHash.String(), "") {
					t.Errorf("%s\ntip is %q, want %s", tc.reason, tip, now)
				}
				if !got.Pushed {
					if commit != "" || !now.IsZero() && now != old {
						t.Errorf("%s\ncommit %q, branch at %s", tc.reason, commit, now)
					}
					return
				}
				c := r.last(got.Branch)
				if now.String() != commit || !old.IsZero() && (c.NumParents() != 1 || c.ParentHashes[0] != old) {
					t.Errorf("%s\nbranch at %s, commit %s after %s, want after %s", tc.reason, now, commit, c.ParentHashes, old)
				}
				r.fsck()
			})
		}
	}
}

// TestRefused checks that a refused commit changes nothing.
func TestRefused(t *testing.T) {
	before := map[string]string{
		"README.md": "hello", "catalog/own.yaml": "mine", "catalog/way": link + "/etc", "out": link + "../..", "catalog/dir/x": "x",
		"bad/.list.json": "<<<<<<< HEAD\n", "evil/.list.json": `{"files":["../README.md"]}`, "odd/.list.json": link + "own.yaml",
	}
	list := func(o Options) Options { o.Manifest, o.Prune = ".list.json", true; return o }
	cases := map[string]struct {
		reason string
		opts   Options
		files  map[string][]byte
		err    string
		hint   string
	}{
		"Up":          {"A path traversal is refused.", Options{Path: "../x"}, contents("a", "a"), `"../x" is not a valid path in a repository`, "without .."},
		"Inner":       {"A path traversal within a path is refused.", Options{Path: "catalog/../../x"}, contents("a", "a"), "is not a valid path", ""},
		"GitFolder":   {"The .git folder is refused.", Options{Path: ".GIT/hooks"}, contents("a", "a"), "is not a valid path", ""},
		"FileUp":      {"A path traversal in the name of a file is refused.", Options{Path: "catalog"}, contents("../a", "a"), `"../a" is not a valid path`, ""},
		"FileAbs":     {"An absolute name of a file is refused.", Options{Path: "catalog"}, contents("/etc/passwd", "a"), "is not a valid path", ""},
		"FileGit":     {"The short name of .git on Windows is refused.", Options{}, contents("a/git~1/config", "a"), "is not a valid path", ""},
		"FileHidden":  {"A name that some systems treat as .git is refused.", Options{}, contents("a/.g\u200cit/config", "a"), "is not a valid path", ""},
		"Backslash":   {"A name with backslashes is refused.", Options{}, contents(`a\..\..\b`, "a"), "is not a valid path", ""},
		"Link":        {"A link is not followed.", Options{Path: "catalog/way"}, contents("a", "a"), `"catalog/way" is a link in the repository, not a folder`, "choose another path"},
		"LinkOut":     {"A link out of the repository is not followed.", Options{Path: "out/x"}, contents("a", "a"), `"out" is a link`, ""},
		"LinkFile":    {"A link in the path of a file is not followed.", Options{Path: "catalog"}, contents("way/a", "a"), `"catalog/way" is a link`, ""},
		"LinkItself":  {"A link is not replaced.", Options{Path: "catalog"}, contents("way", "a"), `"catalog/way" is a link in the repository, not a file`, "move it, or"},
		"File":        {"A file is not accepted as a folder.", Options{Path: "README.md"}, contents("a", "a"), `"README.md" is a file in the repository, not a folder`, ""},
		"Folder":      {"A folder is not accepted as a file.", Options{Path: "catalog"}, contents("dir", "a"), `"catalog/dir" is a folder in the repository, not a file`, ""},
		"Both":        {"A name cannot be both a file and a folder.", Options{}, contents("new", "a", "new/b", "b"), `"new" is a file in the repository, not a folder`, ""},
		"Foreign":     {"An unlisted file is not replaced.", list(Options{Path: "catalog"}), contents("own.yaml", "ours"), `file "catalog/own.yaml" exists and was not written by this program`, "overwriting"},
		"ListBroken":  {"A list with merge conflicts is refused.", list(Options{Path: "bad"}), contents("a", "a"), `cannot read the list of files "bad/.list.json"`, "earlier commit"},
		"ListEvil":    {"A list with a path out of its folder is refused.", list(Options{Path: "evil"}), contents("a", "a"), `"../README.md" is not a valid file name`, ""},
		"ListLink":    {"A list that is a link is refused.", list(Options{Path: "odd"}), contents("a", "a"), `"odd/.list.json" is a link`, ""},
		"ListItself":  {"A file with the name of the list is refused.", list(Options{}), contents(".list.json", "a"), "is reserved for the list of files", "another name"},
		"NoBase":      {"A missing base is reported.", Options{Branch: "new", Base: "nope"}, contents("a", "a"), `no branch or tag "nope" to start from`, "available: main, 1 in total"},
		"NoCommit":    {"A base that is not a commit is reported.", Options{Branch: "new", Base: strings.Repeat("1", 40)}, contents("a", "a"), "", ""},
		"BadBranch":   {"An invalid branch name is refused.", Options{Branch: "a..b"}, contents("a", "a"), `"a..b" is not a valid branch name`, "such as"},
		"NotABranch":  {"A tag is not accepted as a branch.", Options{Branch: "refs/tags/v1 "}, contents("a", "a"), "is not a valid branch name", ""},
		"Author":      {"An invalid author is refused.", Options{Author: "a\nb"}, contents("a", "a"), "are not a valid author name and e-mail address", "line breaks"},
		"Message":     {"A message with a NUL byte is refused.", Options{Message: "a\x00b"}, contents("a", "a"), "contains a NUL character", ""},
		"Disapproved": {"An error of Approve is returned.", Options{Approve: func(Result) error { return errNo }}, contents("a", "a"), "no, thank you", ""},
	}
	for name, tc := range cases {
		for _, over := range []string{"Disk", "HTTP"} {
			t.Run(name+over, func(t *testing.T) {
				r := newRepo(t)
				old := r.commit("main", before)
				if err := r.store.SetReference(plumbing.NewSymbolicReference(plumbing.HEAD, "refs/heads/main")); err != nil {
					t.Fatal(err)
				}
				at := r.dir
				if over == "HTTP" {
					at = gitserver.Serve(t, r.dir, nil)
				}
				got, err := New(at, tc.opts).Commit(t.Context(), tc.files)
				if err == nil || !strings.Contains(err.Error(), tc.err) || !strings.Contains(hint(err), tc.hint) {
					t.Errorf("%s\n%v, %q\nwant %q, %q", tc.reason, err, hint(err), tc.err, tc.hint)
				}
				if _, ok := errors.AsType[*Error](err); ok == errors.Is(err, errNo) {
					t.Errorf("%s\nerror has type %T", tc.reason, err)
				}
				if diff := cmp.Diff(Result{}, got); diff != "" {
					t.Errorf("%s\nresult:\n%s", tc.reason, diff)
				}
				if r.head("main") != old || !r.head("new").IsZero() {
					t.Errorf("%s\nrepository was changed", tc.reason)
				}
			})
		}
	}
}

var errNo = errors.New("no, thank you")

// TestCommitted checks author and message of a commit.
func TestCommitted(t *testing.T) {
	cases := map[string]struct {
		reason  string
		opts    Options
		author  string
		message string
	}{
		"Default": {"Author and message have defaults.", Options{}, "ingestor <ingestor@localhost>", "Update entities: 1 added, 1 changed\n"},
		"Given":   {"Author and message can be set.", Options{Author: " Ann Otter ", Email: "ann@example.com", Message: "one\n\ntwo\n\n"}, "Ann Otter <ann@example.com>", "one\n\ntwo\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			r.commit("master", map[string]string{"a": "a"})
			tc.opts.Now = clock
			if _, err := New(r.dir, tc.opts).Commit(t.Context(), contents("a", "b", "c", "c")); err != nil {
				t.Fatal(err)
			}
			c := r.last("master")
			if got := c.Author.String(); got != tc.author || c.Committer.String() != got || c.Message != tc.message || !c.Author.When.Equal(when) {
				t.Errorf("%s\n%s at %v: %q", tc.reason, got, c.Author.When, c.Message)
			}
		})
	}
}

// TestTag creates a branch from an annotated tag.
func TestTag(t *testing.T) {
	for _, over := range []string{"Disk", "HTTP"} {
		t.Run(over, func(t *testing.T) {
			r := newRepo(t)
			c := r.commit("master", map[string]string{"a": "a"})
			e := r.store.NewEncodedObject()
			tag := &object.Tag{Name: "v1", Message: "v1\n", TargetType: plumbing.CommitObject, Target: c,
				Tagger: object.Signature{Name: "someone", Email: "someone@example.com", When: when}}
			if err := tag.Encode(e); err != nil {
				t.Fatal(err)
			}
			h, err := r.store.SetEncodedObject(e)
			if err != nil {
				t.Fatal(err)
			}
			r.point("refs/tags/v1", h)
			r.commit("master", map[string]string{"later": "x"})
			at := r.dir
			if over == "HTTP" {
				at = gitserver.Serve(t, r.dir, nil)
			}
			if _, err := New(at, Options{Branch: "fix", Base: "v1"}).Commit(t.Context(), contents("b", "b")); err != nil {
				t.Fatal(err)
			}
			if got := r.last("fix"); got.NumParents() != 1 || got.ParentHashes[0] != c {
				t.Errorf("parents are %s, want %s", got.ParentHashes, c)
			}
			if diff := cmp.Diff(map[string]string{"a": "a", "b": "b"}, r.files("fix")); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			r.fsck()
		})
	}
}

func TestCancelled(t *testing.T) {
	r := newRepo(t)
	old := r.commit("master", map[string]string{"a": "a"})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errNo)
	if _, err := New(r.dir, Options{}).Commit(ctx, contents("b", "b")); !errors.Is(err, errNo) {
		t.Errorf("Commit: %v", err)
	}
	if r.head("master") != old {
		t.Error("branch was moved")
	}
}

// TestWrite writes entities.
func TestWrite(t *testing.T) {
	r := newRepo(t)
	e := &entity.Entity{APIVersion: "portal.io/v1alpha1", Kind: "API", Metadata: entity.Metadata{Name: "databases"}, Spec: tree.Obj(tree.F("type", tree.Str("openapi")))}
	s := New(r.dir, Options{Path: "catalog"})
	if err := s.Write(t.Context(), nil); err != nil || !r.head("master").IsZero() {
		t.Errorf("Write without entities: %v", err)
	}
	if err := s.Write(t.Context(), []*entity.Entity{e}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"catalog/API/databases.yaml": string(entity.AppendYAML(nil, e))}, r.files("master")); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
