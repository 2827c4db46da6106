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
			reason: "without a path all is read, folders below included, in order",
			files:  files("b.yaml", "a/c.yml", "a/b/d.json", "A.YAML", "e.txt", "a.yaml"),
			want:   []string{"A.YAML", "a.yaml", "a/b/d.json", "a/c.yml", "b.yaml"},
		},
		"Hidden": {
			reason: "what begins with a dot is passed over",
			files:  files("a.yaml", ".b.yaml", ".github/c.yaml", "d/.e/f.yaml"),
			want:   []string{"a.yaml"},
		},
		"Folder": {
			reason: "a path may be a folder; its files are known from the top of the repository",
			files:  files("a.yaml", "d/b.yaml", "d/e/c.yaml", "de/f.yaml"),
			opts:   Options{Path: "d"},
			want:   []string{"d/b.yaml", "d/e/c.yaml"},
		},
		"Slashes": {
			reason: "slashes around a path mean nothing, nor does a dot",
			files:  files("d/b.yaml", "d/e/c.yaml"),
			opts:   Options{Path: "/./d//e/"},
			want:   []string{"d/e/c.yaml"},
		},
		"HiddenNamed": {
			reason: "a hidden folder named outright is read",
			files:  files(".d/a.yaml"),
			opts:   Options{Path: ".d"},
			want:   []string{".d/a.yaml"},
		},
		"File": {
			reason: "a path may be a file of any name",
			files:  files("a.yaml", "d/notes.txt"),
			opts:   Options{Path: "d/notes.txt"},
			want:   []string{"d/notes.txt"},
		},
		"Missing": {
			reason: "a path that is not there is told with what is",
			files:  files("a.yaml", "defs/b.yaml"),
			opts:   Options{Path: "definitions"},
			err:    `the path "definitions" cannot be read: it leads nowhere`,
			hint:   "write it from the top of the repository, where there are a.yaml, defs",
		},
		"ThroughFile": {
			reason: "there is nothing below a file",
			files:  files("a.yaml"),
			opts:   Options{Path: "a.yaml/b"},
			err:    `the path "a.yaml/b" cannot be read: it leads nowhere`,
			hint:   "write it from the top of the repository, where there are a.yaml",
		},
		"Out": {
			reason: "a path stays in the repository",
			files:  files("d/a.yaml"),
			opts:   Options{Path: "d/../../etc"},
			err:    `the path "d/../../etc" cannot be read: it leads out of the repository`,
			hint:   "write it from the top of the repository, where there are d",
		},
		"Empty": {
			reason:  "a folder without definitions is worth a word, not an error",
			files:   files("a.txt"),
			skipped: []string{".: it holds no .yaml, .yml or .json file"},
		},
		"Links": {
			reason: "links inside are followed, whatever they lead to is read once, by its own path if it can be",
			files: with(files("d/z.yaml", "d/sub/x.yaml", "other/o.yaml", "other/f.txt"),
				"d/a.yaml", link+"z.yaml", "d/b", link+"sub", "d/c", link+"../other", "d/n.yaml", link+"../other/f.txt", "d/t.txt", link+"z.yaml"),
			opts: Options{Path: "d"},
			want: []string{"d/c/o.yaml", "d/n.yaml", "d/sub/x.yaml", "d/z.yaml"},
		},
		"LinksOut": {
			reason: "links that lead out, nowhere or in circles are passed over with a word",
			files: with(files("d/a.yaml"), "d/b.yaml", link+"../../../etc/passwd", "d/c.yaml", link+"/etc/passwd",
				"d/e.yaml", link+"gone.yaml", "d/long.yaml", link+strings.Repeat("./", 1<<12)+"a.yaml", "d/f", link+"g", "d/g", link+"f", "d/self", link+".", "d/up", link+".."),
			want: []string{"d/a.yaml"},
			skipped: []string{
				"d/b.yaml: it is a link, and it leads out of the repository",
				"d/c.yaml: it is a link, and it leads out of the repository",
				"d/e.yaml: it is a link, and it leads nowhere",
				"d/f: it is a link, and it leads in circles",
				"d/g: it is a link, and it leads in circles",
				"d/long.yaml: it is a link, and it leads nowhere",
			},
		},
		"PathThroughLink": {
			reason: "a path may lead through links, and files keep it",
			files:  with(files("v2/defs/a.yaml"), "current", link+"./v2"),
			opts:   Options{Path: "current/defs"},
			want:   []string{"current/defs/a.yaml"},
		},
		"Submodule": {
			reason:  "what is in another repository is not here",
			files:   with(files("a.yaml"), "lib", module, "l", link+"lib/x", "m.yaml", link+"lib"),
			want:    []string{"a.yaml"},
			skipped: []string{"lib: it is a submodule; read its repository as a source of its own", "l: it is a link, and it leads into a submodule, whose repository is a source of its own", "m.yaml: it is a link, and it leads into a submodule, whose repository is a source of its own"},
		},
		"SubmoduleNamed": {
			reason: "a submodule named outright is an error",
			files:  with(files("a.yaml"), "lib", module),
			opts:   Options{Path: "lib"},
			err:    `the path "lib" cannot be read: it leads into a submodule, whose repository is a source of its own`,
			hint:   "write it from the top of the repository, where there are a.yaml, lib",
		},
		"NotUTF8": {
			reason: "a path may be any bytes",
			files:  map[string]string{"d\xff/a.yaml": definition("a")},
			want:   []string{"d\uFFFD/a.yaml"},
		},
		"TooManyFiles": {
			reason: "the number of files is bounded",
			files:  files("a.yaml", "b.yaml", "c.yaml"),
			opts:   Options{MaxFiles: 2},
			err:    "it holds more than the 2 files that are allowed",
			hint:   "name the folder the definitions are in, or allow more",
		},
		"TooManyDocuments": {
			reason: "the number of documents is bounded, and empty ones count",
			files:  with(files("a.yaml"), "b.yaml", strings.Repeat("---\n", maxDocuments)),
			want:   []string{"a.yaml"},
			err:    "b.yaml: line 250000, column 1: there are more than 250000 documents, empty ones included",
			hint:   "name the folder the definitions are in",
		},
		"TooManyBytes": {
			reason: "the number of bytes is bounded; what was read before is kept",
			files:  with(files("a.yaml"), "b.yaml", strings.Repeat("# long\n", 100)),
			opts:   Options{MaxBytes: 512},
			want:   []string{"a.yaml"},
			err:    "it holds more than is allowed: 512 bytes",
			hint:   "name the folder the definitions are in, or allow more",
		},
		"Large": {
			reason: "only what is read counts",
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

// TestRef names the same repository in all ways there are.
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
	// As the large hosts have it.
	r.configure("[uploadpack]\n\tallowReachableSHA1InWant = true\n")

	cases := map[string]struct {
		reason string
		ref    string
		commit plumbing.Hash
		file   string
		shown  string // The name in the location.
		err    string
	}{
		"Default":   {"the repository says what comes first", "", second, "second.yaml", "master", ""},
		"HEAD":      {"it has a name too", "HEAD", second, "second.yaml", "master", ""},
		"Branch":    {"a branch with a slash", "feature/x", third, "third.yaml", "feature/x", ""},
		"Full":      {"a full name is that name", "refs/heads/feature/x", third, "third.yaml", "feature/x", ""},
		"Light":     {"a tag that is only a name", "light", first, "first.yaml", "light", ""},
		"Annotated": {"a tag with words of its own", "annotated", first, "first.yaml", "annotated", ""},
		"Twice":     {"a tag of a tag", "twice", first, "first.yaml", "twice", ""},
		"Both":      {"a branch goes before a tag", "both", second, "second.yaml", "both", ""},
		"BothTag":   {"the full name tells them apart", "refs/tags/both", first, "first.yaml", "both", ""},
		"Other":     {"a name that is neither branch nor tag", "refs/pull/7/head", third, "third.yaml", "refs/pull/7/head", ""},
		"Tip":       {"a commit that a name points at", third.String(), third, "third.yaml", third.String(), ""},
		"Commit":    {"a commit no name points at", second.String(), second, "second.yaml", second.String(), ""},
		"Upper":     {"digits have no case", strings.ToUpper(second.String()), second, "second.yaml", second.String(), ""},
		"DigitName": {"a branch may look like a commit", first.String()[:8], third, "third.yaml", first.String()[:8], ""},
		"Unknown":   {"names that are there are told", "nope", plumbing.ZeroHash, "", "", `it has no branch, tag or commit "nope"`},
		"Digits":    {"the first digits are not enough", second.String()[:12], plumbing.ZeroHash, "", "", "it has no branch, tag or commit"},
		"Tree":      {"a tag need not lead to a commit", "tree", plumbing.ZeroHash, "", "", "is no commit, or is not there"},
		"Pattern":   {"names are no patterns, nor paths", "../../config", plumbing.ZeroHash, "", "", `it has no branch, tag or commit "../../config"`},
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
					if name == "Unknown" && (headErr == nil || !strings.Contains(hints(headErr), "there are ") || !strings.Contains(hints(headErr), "feature/x, master, annotated")) {
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
					t.Errorf("%s\nlocation %q, want %q in it", tc.reason, at, tc.shown)
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

// TestMoved sees a branch that moves.
func TestMoved(t *testing.T) {
	r := newRepo(t)
	r.commit("master", files("a.yaml"))
	for name, at := range map[string]string{"Local": r.dir, "HTTP": gitserver.Serve(t, r.dir, nil)} {
		t.Run(name, func(t *testing.T) {
			s := New(at, Options{})
			if s.Commit() != "" {
				t.Errorf("Commit() = %q before anything was read", s.Commit())
			}
			if _, err := s.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
			if head, err := s.Head(t.Context()); err != nil || head != s.Commit() {
				t.Errorf("nothing moved: Head() = %q, %v, Commit() = %q", head, err, s.Commit())
			}
			want := r.commit("master", files("b.yaml", name+".yaml"))
			head, err := s.Head(t.Context())
			if err != nil || head != want.String() || s.Commit() == head {
				t.Errorf("the branch moved: Head() = %q, %v, Commit() = %q, want %s", head, err, s.Commit(), want)
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
		t.Errorf("want one finding in d/bad.yaml of two documents, got %+v", set)
	}
}

// TestPointer meets a file that Git LFS keeps elsewhere.
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
