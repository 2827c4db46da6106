package git

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/test/gitserver"
	"example.dev/ingestor/xrd"
)

func TestRead(t *testing.T) {
	cases := map[string]struct {
		reason  string
		files   map[string]string
		opts    Options
		want    []string
		skipped []string
		err     string
		hint    string
	}{
		"Whole": {
			reason: "Without a path everything is read in order, including subfolders.",
			files:  files("b.yaml", "a/c.yml", "a/b/d.json", "A.YAML", "e.txt", "a.yaml"),
			want:   []string{"A.YAML", "a.yaml", "a/b/d.json", "a/c.yml", "b.yaml"},
		},
		"Hidden": {
			reason: "Hidden files are skipped.",
			files:  files("a.yaml", ".b.yaml", ".github/c.yaml", "d/.e/f.yaml"),
			want:   []string{"a.yaml"},
		},
		"Folder": {
			reason: "A path can be a folder; paths of files are relative to the root of the repository.",
			files:  files("a.yaml", "d/b.yaml", "d/e/c.yaml", "de/f.yaml"),
			opts:   Options{Path: "d"},
			want:   []string{"d/b.yaml", "d/e/c.yaml"},
		},
		"Slashes": {
			reason: "Leading and trailing slashes and dots in a path are ignored.",
			files:  files("d/b.yaml", "d/e/c.yaml"),
			opts:   Options{Path: "/./d//e/"},
			want:   []string{"d/e/c.yaml"},
		},
		"HiddenNamed": {
			reason: "A hidden folder that is named is read.",
			files:  files(".d/a.yaml"),
			opts:   Options{Path: ".d"},
			want:   []string{".d/a.yaml"},
		},
		"File": {
			reason: "A path can be a file of any name.",
			files:  files("a.yaml", "d/notes.txt"),
			opts:   Options{Path: "d/notes.txt"},
			want:   []string{"d/notes.txt"},
		},
		"Missing": {
			reason: "The hint for a missing path lists the existing entries.",
			files:  files("a.yaml", "defs/b.yaml"),
			opts:   Options{Path: "definitions"},
			err:    `cannot read path "definitions": path does not exist`,
			hint:   "write the path from the root of the repository, which has a.yaml, defs",
		},
		"ThroughFile": {
			reason: "A file has no entries.",
			files:  files("a.yaml"),
			opts:   Options{Path: "a.yaml/b"},
			err:    `cannot read path "a.yaml/b": path does not exist`,
			hint:   "write the path from the root of the repository, which has a.yaml",
		},
		"Out": {
			reason: "A path traversal is refused.",
			files:  files("d/a.yaml"),
			opts:   Options{Path: "d/../../etc"},
			err:    `cannot read path "d/../../etc": path is outside the repository`,
			hint:   "write the path from the root of the repository, which has d",
		},
		"Empty": {
			reason:  "A folder without definitions is reported as skipped, not as an error.",
			files:   files("a.txt"),
			skipped: []string{".: no .yaml, .yml or .json file"},
		},
		"Links": {
			reason: "Links within the repository are followed; each target is read once, by its own path if possible.",
			files: with(files("d/z.yaml", "d/sub/x.yaml", "other/o.yaml", "other/f.txt"),
				"d/a.yaml", link+"z.yaml", "d/b", link+"sub", "d/c", link+"../other", "d/n.yaml", link+"../other/f.txt", "d/t.txt", link+"z.yaml"),
			opts: Options{Path: "d"},
			want: []string{"d/c/o.yaml", "d/n.yaml", "d/sub/x.yaml", "d/z.yaml"},
		},
		"LinksOut": {
			reason: "Links that are broken, cyclic or lead out of the repository are reported as skipped.",
			files: with(files("d/a.yaml"), "d/b.yaml", link+"../../../etc/passwd", "d/c.yaml", link+"/etc/passwd",
				"d/e.yaml", link+"gone.yaml", "d/long.yaml", link+strings.Repeat("./", 1<<12)+"a.yaml", "d/f", link+"g", "d/g", link+"f", "d/self", link+".", "d/up", link+".."),
			want: []string{"d/a.yaml"},
			skipped: []string{
				"d/b.yaml: cannot follow link: path is outside the repository",
				"d/c.yaml: cannot follow link: path is outside the repository",
				"d/e.yaml: cannot follow link: path does not exist",
				"d/f: cannot follow link: path has a loop of links",
				"d/g: cannot follow link: path has a loop of links",
				"d/long.yaml: cannot follow link: path does not exist",
			},
		},
		"PathThroughLink": {
			reason: "A path can contain links, and paths of files keep it.",
			files:  with(files("v2/defs/a.yaml"), "current", link+"./v2"),
			opts:   Options{Path: "current/defs"},
			want:   []string{"current/defs/a.yaml"},
		},
		"Submodule": {
			reason:  "Submodules are not read.",
			files:   with(files("a.yaml"), "lib", module, "l", link+"lib/x", "m.yaml", link+"lib"),
			want:    []string{"a.yaml"},
			skipped: []string{"lib: is a submodule; add its repository as a separate source", "l: cannot follow link: path is in a submodule; add its repository as a separate source", "m.yaml: cannot follow link: path is in a submodule; add its repository as a separate source"},
		},
		"SubmoduleNamed": {
			reason: "A submodule that is named is an error.",
			files:  with(files("a.yaml"), "lib", module),
			opts:   Options{Path: "lib"},
			err:    `cannot read path "lib": path is in a submodule; add its repository as a separate source`,
			hint:   "write the path from the root of the repository, which has a.yaml, lib",
		},
		"NotUTF8": {
			reason: "A path can contain any bytes.",
			files:  map[string]string{"d\xff/a.yaml": definition("a")},
			want:   []string{"d\uFFFD/a.yaml"},
		},
		"TooManyFiles": {
			reason: "The number of files is limited.",
			files:  files("a.yaml", "b.yaml", "c.yaml"),
			opts:   Options{MaxFiles: 2},
			err:    "more than 2 files",
			hint:   "set the path to the folder with the definitions, or raise the limit",
		},
		"TooManyDocuments": {
			reason: "The number of documents is limited, including empty ones.",
			files:  with(files("a.yaml"), "b.yaml", strings.Repeat("---\n", maxDocuments)),
			want:   []string{"a.yaml"},
			err:    "b.yaml: line 250000, column 1: input has more than 250000 documents, including empty ones",
			hint:   "set the path to the folder with the definitions",
		},
		"TooManyBytes": {
			reason: "The number of bytes is limited; definitions that were read before are kept.",
			files:  with(files("a.yaml"), "b.yaml", strings.Repeat("# long\n", 100)),
			opts:   Options{MaxBytes: 512},
			want:   []string{"a.yaml"},
			err:    "size limit exceeded: 512 bytes",
			hint:   "set the path to the folder with the definitions, or raise the limit",
		},
		"Large": {
			reason: "Only files that are read count towards the limit.",
			files:  with(files("a.yaml"), "b.bin", strings.Repeat("# long\n", 100)),
			opts:   Options{MaxBytes: 512},
			want:   []string{"a.yaml"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			want := r.commit("master", tc.files)
			var skipped []string
			tc.opts.Skipped = func(path, why string) { skipped = append(skipped, path+": "+why) }
			s := New(r.dir, tc.opts)
			set, err := s.Read(t.Context())
			message := ""
			if err != nil {
				message = strings.TrimPrefix(err.Error(), fmt.Sprintf("cannot read repository %q: ", r.dir))
			}
			if message != tc.err || hints(err) != tc.hint {
				t.Errorf("%s\nRead: %q, %q\nwant: %q, %q", tc.reason, message, hints(err), tc.err, tc.hint)
			}
			if diff := cmp.Diff(tc.want, origins(set)); diff != "" {
				t.Errorf("%s\nfiles read (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.skipped, skipped); diff != "" {
				t.Errorf("%s\nskipped (-want +got):\n%s", tc.reason, diff)
			}
			if got := s.Commit(); (got == want.String()) != (err == nil) || got != "" && err != nil {
				t.Errorf("%s\nCommit() = %q after %v", tc.reason, got, err)
			}
		})
	}
}

// TestRef checks all ways to name a commit.
func TestRef(t *testing.T) {
	r := newRepo(t)
	first := r.commit("master", files("first.yaml"))
	second := r.commit("master", files("second.yaml"))
	third := r.commit("feature/x", files("third.yaml"))
	r.point("refs/tags/light", first)
	annotated := r.tag("annotated", plumbing.CommitObject, first)
	r.tag("twice", plumbing.TagObject, annotated)
	r.point("refs/heads/both", second)
	r.point("refs/tags/both", first)
	r.point("refs/pull/7/head", third)
	r.tag("tree", plumbing.TreeObject, r.tree(files("x.yaml")))
	r.point(plumbing.NewBranchReferenceName(first.String()[:8]), third)
	// A ref like those of large hosts for pull requests.
	r.configure("[uploadpack]\n\tallowReachableSHA1InWant = true\n")

	cases := map[string]struct {
		reason string
		ref    string
		commit plumbing.Hash
		file   string
		shown  string // the name in the location
		err    string
	}{
		"Default":   {"The default is the default branch.", "", second, "second.yaml", "master", ""},
		"HEAD":      {"HEAD is the default branch.", "HEAD", second, "second.yaml", "master", ""},
		"Branch":    {"The name of a branch can have a slash.", "feature/x", third, "third.yaml", "feature/x", ""},
		"Full":      {"A full ref name is supported.", "refs/heads/feature/x", third, "third.yaml", "feature/x", ""},
		"Light":     {"A lightweight tag is resolved.", "light", first, "first.yaml", "light", ""},
		"Annotated": {"An annotated tag is resolved.", "annotated", first, "first.yaml", "annotated", ""},
		"Twice":     {"A tag of a tag is resolved.", "twice", first, "first.yaml", "twice", ""},
		"Both":      {"A branch is preferred to a tag.", "both", second, "second.yaml", "both", ""},
		"BothTag":   {"The full name selects the tag.", "refs/tags/both", first, "first.yaml", "both", ""},
		"Other":     {"A ref that is neither branch nor tag is supported.", "refs/pull/7/head", third, "third.yaml", "refs/pull/7/head", ""},
		"Tip":       {"A commit that a ref points to is supported.", third.String(), third, "third.yaml", third.String(), ""},
		"Commit":    {"A commit without a ref is supported.", second.String(), second, "second.yaml", second.String(), ""},
		"Upper":     {"The hash of a commit can be upper case.", strings.ToUpper(second.String()), second, "second.yaml", second.String(), ""},
		"DigitName": {"A branch that looks like a hash is a branch.", first.String()[:8], third, "third.yaml", first.String()[:8], ""},
		"Unknown":   {"A missing ref is reported.", "nope", plumbing.ZeroHash, "", "", `no branch, tag or commit "nope"`},
		"Digits":    {"An abbreviated hash is not supported.", second.String()[:12], plumbing.ZeroHash, "", "", "no branch, tag or commit"},
		"Tree":      {"A tag of a tree is refused.", "tree", plumbing.ZeroHash, "", "", "is not a commit, or does not exist"},
		"Pattern":   {"A ref name with a path is refused.", "../../config", plumbing.ZeroHash, "", "", `no branch, tag or commit "../../config"`},
	}
	check := func(t *testing.T, repository string, opts Options) {
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				opts.Ref = tc.ref
				s := New(repository, opts)
				head, headErr := s.Head(t.Context())
				set, err := s.Read(t.Context())
				if tc.err != "" {
					if err == nil || !strings.Contains(err.Error(), tc.err) {
						t.Errorf("%s\nRead: %v, want %q", tc.reason, err, tc.err)
					}
					if name == "Unknown" && (headErr == nil || !strings.Contains(hints(headErr), "available: ") || !strings.Contains(hints(headErr), "feature/x, master, annotated")) {
						t.Errorf("%s\nHead: %v, %q", tc.reason, headErr, hints(headErr))
					}
					return
				}
				if err != nil || headErr != nil {
					t.Fatalf("%s\nRead: %v\nHead: %v", tc.reason, err, headErr)
				}
				if head != tc.commit.String() || s.Commit() != head {
					t.Errorf("%s\nHead() = %s, Commit() = %s, want %s", tc.reason, head, s.Commit(), tc.commit)
				}
				if diff := cmp.Diff([]string{tc.file}, origins(set)); diff != "" {
					t.Errorf("%s\nfiles read (-want +got):\n%s", tc.reason, diff)
				}
				if at := set.Definitions[0].Origin.SourceLocation(); s.at.URL != nil && !strings.Contains(at, "/"+tc.shown+"/"+tc.file) {
					t.Errorf("%s\nlocation is %q, want %q in it", tc.reason, at, tc.shown)
				}
			})
		}
	}
	t.Run("Path", func(t *testing.T) { check(t, r.dir, Options{}) })
	t.Run("FileURL", func(t *testing.T) { check(t, "file://"+filepath.ToSlash(r.dir), Options{}) })
	t.Run("HTTP", func(t *testing.T) { check(t, gitserver.Serve(t, r.dir, nil), Options{}) })
	t.Run("SSH", func(t *testing.T) {
		srv := gitserver.ServeSSH(t, r.dir)
		check(t, srv.URL, Options{Auth: sshAuth(srv)})
	})
}

// TestMoved checks a branch that moves.
func TestMoved(t *testing.T) {
	r := newRepo(t)
	r.commit("master", files("a.yaml"))
	for name, at := range map[string]string{"Local": r.dir, "HTTP": gitserver.Serve(t, r.dir, nil)} {
		t.Run(name, func(t *testing.T) {
			s := New(at, Options{})
			if s.Commit() != "" {
				t.Errorf("Commit() = %q before the first read", s.Commit())
			}
			if _, err := s.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
			if head, err := s.Head(t.Context()); err != nil || head != s.Commit() {
				t.Errorf("unchanged branch: Head() = %q, %v, Commit() = %q", head, err, s.Commit())
			}
			want := r.commit("master", files("b.yaml", name+".yaml"))
			head, err := s.Head(t.Context())
			if err != nil || head != want.String() || s.Commit() == head {
				t.Errorf("moved branch: Head() = %q, %v, Commit() = %q, want %s", head, err, s.Commit(), want)
			}
			set, err := s.Read(t.Context())
			if err != nil || s.Commit() != want.String() {
				t.Errorf("Read: %v, Commit() = %q, want %s", err, s.Commit(), want)
			}
			if diff := cmp.Diff([]string{name + ".yaml", "b.yaml"}, origins(set)); diff != "" {
				t.Errorf("files read (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOrigin(t *testing.T) {
	r := newRepo(t)
	r.commit("master", with(files("d/a b.yaml"), "d/bad.yaml", "a: [\n"))
	set, err := New(r.dir, Options{}).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := xrd.Origin{Source: xrd.SourceGit, File: "d/a b.yaml", Location: "url:file://" + filepath.ToSlash(r.dir) + "/d/a%20b.yaml"}
	if diff := cmp.Diff(want, set.Definitions[0].Origin); diff != "" {
		t.Errorf("origin (-want +got):\n%s", diff)
	}
	if len(set.Findings) != 1 || set.Findings[0].File != "d/bad.yaml" || set.Findings[0].Rule != xrd.RuleSyntax || set.Documents != 2 {
		t.Errorf("got %+v, want one finding in d/bad.yaml of two documents", set)
	}
}

// TestPointer checks a Git LFS pointer file.
func TestPointer(t *testing.T) {
	r := newRepo(t)
	r.commit("master", with(files("a.yaml"), "b.yaml", "version https://git-lfs.github.com/spec/v1\noid sha256:"+strings.Repeat("a", 64)+"\nsize 12345\n"))
	set, err := New(r.dir, Options{}).Read(t.Context())
	if err != nil || len(set.Definitions) != 1 || set.Documents != 2 || len(set.Findings) != 1 {
		t.Fatalf("Read: %+v, %v", set, err)
	}
	f := set.Findings[0]
	if f.File != "b.yaml" || f.Severity != finding.Error || !strings.Contains(f.Message, "Git LFS") {
		t.Errorf("finding %+v", f)
	}
}
