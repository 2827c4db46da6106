package git

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEdit checks edits that read existing files.
func TestEdit(t *testing.T) {
	before := map[string]string{"README.md": "hello", "d/list": "a\n", "d/old": "old", "d/way": link + "list"}
	type reader = func(string) ([]byte, error)
	cases := map[string]struct {
		reason string
		edit   func(read reader) (map[string][]byte, error)
		files  map[string][]byte
		want   Result
		after  map[string]string
		err    string
	}{
		"Append": {"An edit can append to the existing content.", func(read reader) (map[string][]byte, error) {
			old, err := read("list")
			return map[string][]byte{"list": append(bytes.Clone(old), "b\n"...)}, err
		}, contents("b", "b"), Result{Branch: "main", Added: []string{"d/b"}, Changed: []string{"d/list"}, Pushed: true}, with(before, "d/list", "a\nb\n", "d/b", "b"), ""},
		"Given": {"An edit reads files that the same commit writes.", func(read reader) (map[string][]byte, error) {
			old, err := read("b")
			return map[string][]byte{"b": bytes.ToUpper(old)}, err
		}, contents("b", "b"), Result{Branch: "main", Added: []string{"d/b"}, Pushed: true}, with(before, "d/b", "B"), ""},
		"Missing": {"An edit can detect that a file does not exist.", func(read reader) (map[string][]byte, error) {
			if _, err := read("nope"); !errors.Is(err, fs.ErrNotExist) {
				return nil, errors.New("it is there")
			}
			return map[string][]byte{"nope": {}}, nil
		}, nil, Result{Branch: "main", Added: []string{"d/nope"}, Pushed: true}, with(before, "d/nope", ""), ""},
		"Remove": {"A nil content removes a file; removing a missing file is not an error.", func(reader) (map[string][]byte, error) {
			return map[string][]byte{"old": nil, "nope": nil}, nil
		}, nil, Result{Branch: "main", Removed: []string{"d/old"}, Pushed: true}, map[string]string{"README.md": "hello", "d/list": "a\n", "d/way": link + "list"}, ""},
		"Nothing": {"An edit without changes makes no commit.", func(reader) (map[string][]byte, error) { return nil, nil }, nil, Result{Branch: "main"}, before, ""},
		"Link": {"Links are not followed.", func(read reader) (map[string][]byte, error) {
			_, err := read("way")
			return nil, err
		}, nil, Result{}, before, `"d/way" is a link in the repository, not a file`},
		"Up": {"A path out of the repository cannot be read.", func(read reader) (map[string][]byte, error) {
			_, err := read("../README.md")
			return nil, err
		}, nil, Result{}, before, "is not a valid path"},
		"Out": {"A path out of the repository cannot be written.", func(reader) (map[string][]byte, error) { return contents("../x", "x"), nil }, nil, Result{}, before, "is not a valid path"},
		"Error": {"An error of the edit is returned.", func(reader) (map[string][]byte, error) { return nil, errors.New("not today") }, nil, Result{}, before,
			"cannot write to repository", // and the reason
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			r.commit("main", before)
			got, err := New(r.dir, Options{Branch: "main", Path: "d", Edit: tc.edit, Now: clock}).Commit(t.Context(), tc.files)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("%s\n%v, want %q", tc.reason, err, tc.err)
			}
			if err == nil && got.Tip != r.head("main").String() {
				t.Errorf("%s\ntip is %q", tc.reason, got.Tip)
			}
			got.Commit, got.Tip = "", ""
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nresult (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.after, r.files("main")); diff != "" {
				t.Errorf("%s\nfiles (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCompare checks that exactly the changed files are reported.
func TestCompare(t *testing.T) {
	r := newRepo(t)
	r.commit("main", map[string]string{"d/same": "same", "d/list": "a\n", "d/old": "old", "d/empty": "", "else": "else"})
	type pair struct{ Before, After *string }
	text := func(data []byte) *string {
		if data == nil {
			return nil
		}
		s := string(data)
		return &s
	}
	got := map[string]pair{}
	opts := Options{
		Branch: "new", Base: "main", Path: "d", DryRun: true, Now: clock,
		Edit: func(func(string) ([]byte, error)) (map[string][]byte, error) {
			return map[string][]byte{"old": nil, "nope": nil}, nil
		},
		Compare: func(path string, before, after []byte) { got[path] = pair{text(before), text(after)} },
	}
	if _, err := New(r.dir, opts).Commit(t.Context(), contents("same", "same", "list", "b\n", "empty", "not", "new", "new")); err != nil {
		t.Fatal(err)
	}
	at := func(s string) *string { return &s }
	want := map[string]pair{
		"d/list": {at("a\n"), at("b\n")}, "d/old": {at("old"), nil}, "d/empty": {at(""), at("not")}, "d/new": {nil, at("new")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}
