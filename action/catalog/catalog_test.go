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

// shelf is a catalog that is a list.
type shelf struct {
	entities map[string]*tree.Node
	// hidden are those that only the user of that name may see.
	hidden map[string]string
	// at are what is at a target, and registered what is registered.
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
		t.Errorf("without a catalog there are %d actions", len(got))
	}
}

func TestFetch(t *testing.T) {
	cases := map[string]struct {
		reason, input, user string
		want, err, hint     string
	}{
		"One":       {"by its reference", "entityRef: Group:platform", "", `{"entity":{"metadata":{"name":"platform"}}}`, "", ""},
		"Several":   {"in the order they are named in", "entityRefs: [system:payments, group:platform]", "", `{"entities":[{"metadata":{"name":"payments"}},{"metadata":{"name":"platform"}}]}`, "", ""},
		"None":      {"an empty list is one", "entityRefs: []", "", `{"entities":[]}`, "", ""},
		"Defaults":  {"kind and namespace of those that name none", "entityRefs: [payments, other/secret]\ndefaultKind: System\n", "user:default/boss", `{"entities":[{"metadata":{"name":"payments"}},{"metadata":{"name":"secret"}}]}`, "", ""},
		"Namespace": {"the namespace too", "entityRef: system:secret\ndefaultNamespace: other\n", "user:default/boss", `{"entity":{"metadata":{"name":"secret"}}}`, "", ""},
		"Hidden":    {"what one may not see is not there", "entityRef: system:other/secret", "user:default/me", `{}`, `cannot read entity "system:other/secret": there is none`, "that you may see it"},
		"Optional":  {"what need not be there is null", "entityRefs: [system:nope, system:payments]\nentityRef: x:y\noptional: true\n", "", `{"entity":null,"entities":[null,{"metadata":{"name":"payments"}}]}`, "", ""},
		"Missing":   {"the second of two", "entityRefs: [system:payments, system:nope]", "", `{}`, `cannot read entity "system:default/nope": there is none`, "check the spelling"},
		"NoKind":    {"a reference without a kind", "entityRef: payments", "", `{}`, `cannot read entity reference "payments": it has no kind`, "give defaultKind"},
		"Nothing":   {"nothing is asked for", "{}", "", `{}`, "there is no entity to read", "give entityRef"},
		"NoMatter":  {"nothing is asked for, which is fine", "optional: true", "", `{}`, "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := actiontest.New(t, Actions(Options{Catalog: newShelf()}))
			s.Context = identity.With(t.Context(), identity.Caller{Kind: identity.User, Subject: tc.user})
			out, err := s.Run(ActionFetch, tc.input, nil)
			hold(t, tc.reason, err, tc.err, tc.hint)
			if diff := cmp.Diff(tc.want, string(tree.AppendJSON(nil, out, ""))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	t.Run("Broken", func(t *testing.T) {
		s := actiontest.New(t, Actions(Options{Catalog: &shelf{broken: errors.New("the database is gone")}}))
		_, err := s.Run(ActionFetch, "entityRef: a:b\noptional: true\n", nil)
		hold(t, "a catalog that cannot be read is not an empty one", err, `cannot read entity "a:default/b": the database is gone`, "")
	})
}

// TestFetchBound reads no more than a step hands on, however often the same entity
// is named.
func TestFetchBound(t *testing.T) {
	cat := newShelf()
	cat.entities["system:default/large"] = tree.Obj(tree.F("text", tree.Str(strings.Repeat("x", maxEntities/4))))
	s := actiontest.New(t, Actions(Options{Catalog: cat}))
	names := func(n int) string { return "entityRefs: [" + strings.Repeat("'system:large', ", n) + "]" }
	if _, err := s.Run(ActionFetch, names(3), nil); err != nil {
		t.Errorf("three are %v", err)
	}
	if _, err := s.Run(ActionFetch, names(10_000), nil); err == nil || err.Error() != "cannot read so many entities: they are larger than 4 MiB" {
		t.Errorf("many are %v", err)
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
		"File":      {"by its URL; a Component comes first", "catalogInfoUrl: " + github, false, []string{github}, `{"catalogInfoUrl":"` + github + `","entityRef":"component:default/payments"}`, "found api:default/a, component:default/payments", "", ""},
		"Path":      {"from the top of the repository", "repoContentsUrl: https://github.com/platform/payments/tree/main/docs\ncatalogInfoPath: /service/catalog-info.yaml\n", false, []string{github}, `{"catalogInfoUrl":"` + github + `","entityRef":"component:default/payments"}`, "", "", ""},
		"GitLab":    {"as GitLab writes it; what has no name of its own will do", "repoContentsUrl: https://gitlab.com/a/b/c/-/tree/main", false, []string{"https://gitlab.com/a/b/c/-/blob/main/catalog-info.yaml"}, `{"catalogInfoUrl":"https://gitlab.com/a/b/c/-/blob/main/catalog-info.yaml","entityRef":"location:default/generated-x"}`, "", "", ""},
		"Gitea":     {"as Gitea does", "repoContentsUrl: https://git.example.com/platform/payments/src/branch/main", false, []string{"https://git.example.com/platform/payments/src/branch/main/catalog-info.yaml"}, `{"catalogInfoUrl":"https://git.example.com/platform/payments/src/branch/main/catalog-info.yaml","entityRef":"resource:default/db"}`, "", "", ""},
		"Escaped":   {"a path with a space in it", "repoContentsUrl: https://github.com/a/b/tree/feature/x\ncatalogInfoPath: one two.yaml\n", false, []string{"https://github.com/a/b/blob/feature/one%20two.yaml"}, `{"catalogInfoUrl":"https://github.com/a/b/blob/feature/one%20two.yaml","entityRef":"component:default/generated-y"}`, "", "", ""},
		"Head":      {"a repository without a branch; an empty file", "repoContentsUrl: https://github.com/platform/payments", false, []string{"https://github.com/platform/payments/blob/HEAD/catalog-info.yaml"}, `{"catalogInfoUrl":"https://github.com/platform/payments/blob/HEAD/catalog-info.yaml"}`, "", "", ""},
		"Missing":   {"nothing is there", "catalogInfoUrl: https://github.com/x", false, nil, `{"catalogInfoUrl":"https://github.com/x"}`, "", `cannot register "https://github.com/x": there is no such file`, ""},
		"Optional":  {"nothing is there, and need not be", "catalogInfoUrl: https://github.com/x\noptional: true\n", false, nil, `{"catalogInfoUrl":"https://github.com/x"}`, "it is not registered, which is optional: there is no such file", "", ""},
		"Dry":       {"nothing is registered", "catalogInfoUrl: " + github, true, nil, `{"catalogInfoUrl":"` + github + `","entityRef":"component:default/payments"}`, "only tried out: nothing is registered", "", ""},
		"DryAbsent": {"a step before would have made it", "catalogInfoUrl: https://github.com/x", true, nil, `{"catalogInfoUrl":"https://github.com/x"}`, "nothing could be yet", "", ""},
		"Away":      {"a path out of the repository", "repoContentsUrl: https://github.com/a/b/tree/main\ncatalogInfoPath: ../../c/blob/main/x.yaml\n", false, nil, `{}`, "", "cannot use the path: it leads out of the repository", "write https://"},
		"NoURL":     {"an address that is none, whatever is in it", "repoContentsUrl: 'ftp://me:s3cr3t@host/x'", false, nil, `{}`, "", "cannot read the address: it is not the https or ssh URL of a repository, or of a page of one", "write https://"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cat := newShelf()
			s := actiontest.New(t, Actions(Options{Catalog: cat}))
			out, err := s.Run(ActionRegister, tc.input, func(c *action.Call) { c.DryRun = tc.dry })
			hold(t, tc.reason, err, tc.err, tc.hint)
			if diff := cmp.Diff(tc.want, string(tree.AppendJSON(nil, out, ""))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.registered, cat.registered); diff != "" {
				t.Errorf("%s: registered (-want +got):\n%s", tc.reason, diff)
			}
			if log := s.Log(); !strings.Contains(log, tc.log) {
				t.Errorf("%s: the log is %q, want %q", tc.reason, log, tc.log)
			}
		})
	}
}

func TestWrite(t *testing.T) {
	s := actiontest.New(t, Actions(Options{}))
	out, err := s.Run(ActionWrite, "filePath: a/b.yaml\nentity: {kind: Component, metadata: {name: x}}\n", nil)
	hold(t, "to a file of one's choice", err, "", "")
	if diff := cmp.Diff(map[string]string{"a/b.yaml": "kind: Component\nmetadata:\n  name: x\n"}, s.Files()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := out.Get("path").Str(); got != "a/b.yaml" {
		t.Errorf("path: %q", got)
	}
	_, err = s.Run(ActionWrite, "filePath: ../b.yaml\nentity: {}\n", nil)
	hold(t, "not out of the workspace", err, `cannot use the path "../b.yaml": it leads out of the workspace`, "")
}

// hold compares an error and its way out with what is wanted.
func hold(t *testing.T, reason string, err error, want, hint string) {
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
