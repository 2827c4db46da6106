package catalog

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/actiontest"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/identity"
)

// shelf is a catalog backed by a list.
type shelf struct {
	entities map[string]*tree.Node
	// hidden are entities that only the named user may see.
	hidden map[string]string
	// at are the entities of a target, and registered are the registered targets.
	at         map[string][]string
	registered []string
	broken     error
}

func (s *shelf) Entity(ctx context.Context, ref string) (*tree.Node, error) {
	if only := s.hidden[ref]; only != "" && only != identity.From(ctx).Subject {
		return nil, nil
	}
	return s.entities[ref], s.broken
}

func (s *shelf) Register(_ context.Context, target string, dry bool) ([]string, error) {
	refs, ok := s.at[target]
	if !ok {
		return nil, errors.New("there is no such file")
	}
	if !dry {
		s.registered = append(s.registered, target)
	}
	return refs, s.broken
}

func named(name string) *tree.Node {
	return tree.Obj(tree.F("metadata", tree.Obj(tree.F("name", tree.Str(name)))))
}

func newShelf() *shelf {
	return &shelf{
		entities: map[string]*tree.Node{
			"group:default/platform": named("platform"), "system:default/payments": named("payments"), "system:other/secret": named("secret"),
		},
		hidden: map[string]string{"system:other/secret": "user:default/boss"},
		at: map[string][]string{
			"https://github.com/platform/payments/blob/main/service/catalog-info.yaml":    {"api:default/a", "component:default/payments"},
			"https://git.example.com/platform/payments/src/branch/main/catalog-info.yaml": {"location:default/generated-x", "resource:default/db"},
			"https://gitlab.com/a/b/c/-/blob/main/catalog-info.yaml":                      {"location:default/generated-x"},
			"https://github.com/platform/payments/blob/HEAD/catalog-info.yaml":            nil,
			"https://github.com/a/b/blob/feature/one%20two.yaml":                          {"component:default/generated-y"},
		},
	}
}

func TestExamples(t *testing.T) {
	cat := newShelf()
	s := actiontest.New(t, Actions(Options{Catalog: cat}))
	s.Examples(func(a action.Action, in *tree.Node) {
		if _, err := s.Run(a.ID, string(tree.AppendYAML(nil, in)), nil); err != nil {
			t.Errorf("%s: %v", a.ID, err)
		}
	})
	if len(cat.registered) != 2 {
		t.Errorf("registered: %v", cat.registered)
	}
	if got := Actions(Options{}); len(got) != 1 || got[0].ID != ActionWrite {
		t.Errorf("%d actions without a catalog, want none", len(got))
	}
}

func TestFetch(t *testing.T) {
	cases := map[string]struct {
		reason, input, user string
		want, err, hint     string
	}{
		"One":       {"An entity is read by its reference.", "entityRef: Group:platform", "", `{"entity":{"metadata":{"name":"platform"}}}`, "", ""},
		"Several":   {"Several entities keep the order of their references.", "entityRefs: [system:payments, group:platform]", "", `{"entities":[{"metadata":{"name":"payments"}},{"metadata":{"name":"platform"}}]}`, "", ""},
		"None":      {"An empty list of references returns an empty list.", "entityRefs: []", "", `{"entities":[]}`, "", ""},
		"Defaults":  {"References without kind and namespace get the defaults.", "entityRefs: [payments, other/secret]\ndefaultKind: System\n", "user:default/boss", `{"entities":[{"metadata":{"name":"payments"}},{"metadata":{"name":"secret"}}]}`, "", ""},
		"Namespace": {"The default namespace applies.", "entityRef: system:secret\ndefaultNamespace: other\n", "user:default/boss", `{"entity":{"metadata":{"name":"secret"}}}`, "", ""},
		"Hidden":    {"An entity that the user may not see is not found.", "entityRef: system:other/secret", "user:default/me", `{}`, `cannot read entity "system:other/secret": not found`, "your permissions"},
		"Optional":  {"A missing optional entity is null.", "entityRefs: [system:nope, system:payments]\nentityRef: x:y\noptional: true\n", "", `{"entity":null,"entities":[null,{"metadata":{"name":"payments"}}]}`, "", ""},
		"Missing":   {"A missing entity in a list is an error.", "entityRefs: [system:payments, system:nope]", "", `{}`, `cannot read entity "system:default/nope": not found`, "check the spelling"},
		"NoKind":    {"A reference without a kind is an error.", "entityRef: payments", "", `{}`, `cannot read entity reference "payments": kind is missing`, "set defaultKind"},
		"Nothing":   {"An input without references is an error.", "{}", "", `{}`, "cannot read entities: neither entityRef nor entityRefs is set", "set entityRef"},
		"NoMatter":  {"An optional input without references is accepted.", "optional: true", "", `{}`, "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := actiontest.New(t, Actions(Options{Catalog: newShelf()}))
			s.Context = identity.With(t.Context(), identity.Caller{Kind: identity.User, Subject: tc.user})
			out, err := s.Run(ActionFetch, tc.input, nil)
			checkError(t, tc.reason, err, tc.err, tc.hint)
			if diff := cmp.Diff(tc.want, string(tree.AppendJSON(nil, out, ""))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	t.Run("Broken", func(t *testing.T) {
		s := actiontest.New(t, Actions(Options{Catalog: &shelf{broken: errors.New("the database is gone")}}))
		_, err := s.Run(ActionFetch, "entityRef: a:b\noptional: true\n", nil)
		checkError(t, "A catalog that cannot be read is an error, not an empty catalog.", err, `cannot read entity "a:default/b": the database is gone`, "")
	})
}

// TestFetchBound checks the size limit of a step's output, also when the same
// entity is named many times.
func TestFetchBound(t *testing.T) {
	cat := newShelf()
	cat.entities["system:default/large"] = tree.Obj(tree.F("text", tree.Str(strings.Repeat("x", maxEntities/4))))
	s := actiontest.New(t, Actions(Options{Catalog: cat}))
	names := func(n int) string { return "entityRefs: [" + strings.Repeat("'system:large', ", n) + "]" }
	if _, err := s.Run(ActionFetch, names(3), nil); err != nil {
		t.Errorf("fetch of three entities returned %v", err)
	}
	if _, err := s.Run(ActionFetch, names(10_000), nil); err == nil || err.Error() != "cannot read entities: larger than 4 MiB in total" {
		t.Errorf("fetch of too many entities returned %v", err)
	}
}

func TestRegister(t *testing.T) {
	const github = "https://github.com/platform/payments/blob/main/service/catalog-info.yaml"
	cases := map[string]struct {
		reason, input string
		dry           bool
		registered    []string
		want, log     string
		err, hint     string
	}{
		"File":      {"A file is registered by its URL; the output is its Component if it has one.", "catalogInfoUrl: " + github, false, []string{github}, `{"catalogInfoUrl":"` + github + `","entityRef":"component:default/payments"}`, "found api:default/a, component:default/payments", "", ""},
		"Path":      {"A path is relative to the root of the repository.", "repoContentsUrl: https://github.com/platform/payments/tree/main/docs\ncatalogInfoPath: /service/catalog-info.yaml\n", false, []string{github}, `{"catalogInfoUrl":"` + github + `","entityRef":"component:default/payments"}`, "", "", ""},
		"GitLab":    {"A URL in the format of GitLab is supported; without a Component another entity is the output.", "repoContentsUrl: https://gitlab.com/a/b/c/-/tree/main", false, []string{"https://gitlab.com/a/b/c/-/blob/main/catalog-info.yaml"}, `{"catalogInfoUrl":"https://gitlab.com/a/b/c/-/blob/main/catalog-info.yaml","entityRef":"location:default/generated-x"}`, "", "", ""},
		"Gitea":     {"A URL in the format of Gitea is supported.", "repoContentsUrl: https://git.example.com/platform/payments/src/branch/main", false, []string{"https://git.example.com/platform/payments/src/branch/main/catalog-info.yaml"}, `{"catalogInfoUrl":"https://git.example.com/platform/payments/src/branch/main/catalog-info.yaml","entityRef":"resource:default/db"}`, "", "", ""},
		"Escaped":   {"A path with a space is escaped.", "repoContentsUrl: https://github.com/a/b/tree/feature/x\ncatalogInfoPath: one two.yaml\n", false, []string{"https://github.com/a/b/blob/feature/one%20two.yaml"}, `{"catalogInfoUrl":"https://github.com/a/b/blob/feature/one%20two.yaml","entityRef":"component:default/generated-y"}`, "", "", ""},
		"Head":      {"A repository without a branch and an empty file are accepted.", "repoContentsUrl: https://github.com/platform/payments", false, []string{"https://github.com/platform/payments/blob/HEAD/catalog-info.yaml"}, `{"catalogInfoUrl":"https://github.com/platform/payments/blob/HEAD/catalog-info.yaml"}`, "", "", ""},
		"Missing":   {"A missing file is an error.", "catalogInfoUrl: https://github.com/x", false, nil, `{"catalogInfoUrl":"https://github.com/x"}`, "", `cannot register "https://github.com/x": there is no such file`, ""},
		"Optional":  {"A missing optional file is registered.", "catalogInfoUrl: https://github.com/x\noptional: true\n", false, nil, `{"catalogInfoUrl":"https://github.com/x"}`, "skipped optional registration: there is no such file", "", ""},
		"Dry":       {"A dry run registers nothing.", "catalogInfoUrl: " + github, true, nil, `{"catalogInfoUrl":"` + github + `","entityRef":"component:default/payments"}`, "dry run: not registered", "", ""},
		"DryAbsent": {"A dry run accepts a file that an earlier step would create.", "catalogInfoUrl: https://github.com/x", true, nil, `{"catalogInfoUrl":"https://github.com/x"}`, "registration would fail now", "", ""},
		"Away":      {"A path out of the repository is refused.", "repoContentsUrl: https://github.com/a/b/tree/main\ncatalogInfoPath: ../../c/blob/main/x.yaml\n", false, nil, `{}`, "", "cannot use path: it escapes the repository", "write https://"},
		"NoURL":     {"A URL with another scheme is refused, and its password is not shown.", "repoContentsUrl: 'ftp://me:s3cr3t@host/x'", false, nil, `{}`, "", "cannot parse address: not an https or ssh URL of a repository, or of a page in one", "write https://"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cat := newShelf()
			s := actiontest.New(t, Actions(Options{Catalog: cat}))
			out, err := s.Run(ActionRegister, tc.input, func(c *action.Call) { c.DryRun = tc.dry })
			checkError(t, tc.reason, err, tc.err, tc.hint)
			if diff := cmp.Diff(tc.want, string(tree.AppendJSON(nil, out, ""))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.registered, cat.registered); diff != "" {
				t.Errorf("%s: registered (-want +got):\n%s", tc.reason, diff)
			}
			if log := s.Log(); !strings.Contains(log, tc.log) {
				t.Errorf("%s: log is %q, want %q", tc.reason, log, tc.log)
			}
		})
	}
}

func TestWrite(t *testing.T) {
	s := actiontest.New(t, Actions(Options{}))
	out, err := s.Run(ActionWrite, "filePath: a/b.yaml\nentity: {kind: Component, metadata: {name: x}}\n", nil)
	checkError(t, "The file name can be chosen.", err, "", "")
	if diff := cmp.Diff(map[string]string{"a/b.yaml": "kind: Component\nmetadata:\n  name: x\n"}, s.Files()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := out.Get("path").Str(); got != "a/b.yaml" {
		t.Errorf("path: %q", got)
	}
	_, err = s.Run(ActionWrite, "filePath: ../b.yaml\nentity: {}\n", nil)
	checkError(t, "A path out of the workspace is refused.", err, `cannot use path "../b.yaml": outside the workspace`, "")
}

// checkError compares an error and its hint with the expected ones.
func checkError(t *testing.T, reason string, err error, want, hint string) {
	t.Helper()
	got, out := "", ""
	if err != nil {
		got = err.Error()
	}
	if e, ok := errors.AsType[*action.Error](err); ok {
		out = e.Hint
	}
	if got != want || !strings.Contains(out, hint) {
		t.Errorf("%s: %q, %q\nwant %q, %q", reason, got, out, want, hint)
	}
}
