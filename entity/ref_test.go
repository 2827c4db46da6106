package entity

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseRef(t *testing.T) {
	cases := map[string]struct {
		reason    string
		in        string
		kind      string
		namespace string
		want      Ref
		canonical string
		err       string
	}{
		"full": {
			reason:    "A complete reference is kept as written.",
			in:        "Component:Team-A/Web",
			want:      Ref{"Component", "Team-A", "Web"},
			canonical: "component:team-a/web",
		},
		"name only": {
			reason:    "Missing parts are filled in from the defaults.",
			in:        "web",
			kind:      KindComponent,
			namespace: "a",
			want:      Ref{KindComponent, "a", "web"},
			canonical: "component:a/web",
		},
		"no default namespace": {
			reason:    "Without a default namespace that of the catalog is used.",
			in:        "group:team",
			want:      Ref{"group", "default", "team"},
			canonical: "group:default/team",
		},
		"namespace and name": {
			reason:    "Only the kind may be missing.",
			in:        "ops/team",
			kind:      "Group",
			want:      Ref{"Group", "ops", "team"},
			canonical: "group:ops/team",
		},
		"no kind":         {reason: "dependsOn implies no kind.", in: "web", err: `cannot read entity reference "web": kind is missing`},
		"empty kind":      {reason: "A colon must follow a kind.", in: ":web", kind: KindAPI, err: `cannot read entity reference ":web": kind is missing`},
		"empty namespace": {reason: "A slash must follow a namespace.", in: "api:/web", err: `cannot read entity reference "api:/web": namespace is empty`},
		"empty name":      {reason: "A name is required.", in: "api:a/", err: `cannot read entity reference "api:a/": name is missing`},
		"empty":           {reason: "A name is required.", in: "", kind: KindAPI, err: `cannot read entity reference "": name is missing`},
		"two slashes":     {reason: "A name must not contain a slash.", in: "api:a/b/c", err: `cannot read entity reference "api:a/b/c": too many parts; want kind, namespace and name`},
		"two colons":      {reason: "A name must not contain a colon.", in: "api:a:b", err: `cannot read entity reference "api:a:b": too many parts; want kind, namespace and name`},
		"slash first":     {reason: "A kind must not contain a slash.", in: "a/api:b", err: `cannot read entity reference "a/api:b": too many parts; want kind, namespace and name`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseRef(tc.in, tc.kind, tc.namespace)
			if msg := errorText(err); msg != tc.err {
				t.Fatalf("%s\ngot error %q, want %q", tc.reason, msg, tc.err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Fatalf("%s\n-want +got:\n%s", tc.reason, diff)
			}
			if err == nil && got.String() != tc.canonical {
				t.Errorf("%s\ngot %s, want %s", tc.reason, got, tc.canonical)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestRefReadsItsCanonicalForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, err := ParseRef(anyText().Draw(t, "s"), KindAPI, "")
		if err != nil {
			return
		}
		again, err := ParseRef(r.String(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		if again.String() != r.String() {
			t.Fatalf("%q was parsed back as %q", r, again)
		}
	})
}

func TestKey(t *testing.T) {
	e := &Entity{Kind: KindAPI, Metadata: Metadata{Name: "Db"}}
	if got := e.Key(); got != "api:default/db" {
		t.Errorf("key without a namespace is %s, want the default namespace", got)
	}
	e.Metadata.Namespace = "ops"
	if got := e.Key(); got != "api:ops/db" {
		t.Errorf("key is %s, want the namespace in it", got)
	}
	if got := (Ref{Kind: "A", Name: "b"}).String(); got != "a:default/b" || strings.ToLower(got) != got {
		t.Errorf("Ref without a namespace is %s, want the default namespace", got)
	}
}
