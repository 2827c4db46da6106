package xrd

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
)

func TestReadChoices(t *testing.T) {
	name := []string{"metadata", "name"}
	cases := map[string]struct {
		reason string
		text   string
		want   Choices
		// problems are keys and the beginnings of messages; those of secrets begin with !.
		problems []string
	}{
		"Least":       {"Only the kind is required.", `{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass"}`, Choices{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass", ValuePath: name}, nil},
		"Selector":    {"A selector is a string.", `{"apiVersion":"v1","kind":"Namespace","labelSelector":"tier in (a, b),!old,x!=y"}`, Choices{APIVersion: "v1", Kind: "Namespace", ValuePath: name, LabelSelector: "tier in (a, b),!old,x!=y"}, nil},
		"MatchLabels": {"Labels are sorted.", `{"apiVersion":"v1","kind":"Node","labelSelector":{"matchLabels":{"b":"2","a.io/x":"1"}}}`, Choices{APIVersion: "v1", Kind: "Node", ValuePath: name, LabelSelector: "a.io/x=1,b=2"}, nil},
		"Paths": {"A step may be quoted.", `{"apiVersion":"a.io/v1","kind":"Net","valuePath":"status.id","labelPath":"metadata.labels[\"a.io/zone\"]","namespace":"form"}`,
			Choices{APIVersion: "a.io/v1", Kind: "Net", ValuePath: []string{"status", "id"}, LabelPath: []string{"metadata", "labels", "a.io/zone"}, Namespace: "form"}, nil},
		"NoObject":     {"It is an object.", `"StorageClass"`, Choices{}, []string{": x-ui-choices is not an object"}},
		"Missing":      {"Kind and version are required.", `{}`, Choices{}, []string{": x-ui-choices has no apiVersion", ": x-ui-choices has no kind"}},
		"Unknown":      {"A misspelt key is reported.", `{"apiVersion":"v1","kind":"Node","selector":"a"}`, Choices{}, []string{"selector: selector is not a key"}},
		"Traversal":    {"A version cannot lead elsewhere.", `{"apiVersion":"v1/../../apis","kind":"Node"}`, Choices{}, []string{"apiVersion: apiVersion of x-ui-choices is not valid"}},
		"BadKind":      {"A kind is not a path.", `{"apiVersion":"v1","kind":"nodes/x"}`, Choices{}, []string{"kind: kind of"}},
		"BadNamespace": {"A namespace is a name.", `{"apiVersion":"v1","kind":"Node","namespace":"a/b"}`, Choices{}, []string{"namespace: namespace of"}},
		"BadSelector":  {"A selector is checked.", `{"apiVersion":"v1","kind":"Node","labelSelector":"a=b&limit=1"}`, Choices{}, []string{"labelSelector: labelSelector of"}},
		"LabelNumber":  {"Labels are strings.", `{"apiVersion":"v1","kind":"Node","labelSelector":{"matchLabels":{"a":1}}}`, Choices{}, []string{"labelSelector: matchLabels of"}},
		"BadPath":      {"A path is checked.", `{"apiVersion":"a.io/v1","kind":"Net","valuePath":"spec..x"}`, Choices{}, []string{"valuePath: valuePath of"}},
		"EmptyPath":    {"A path is not empty.", `{"apiVersion":"a.io/v1","kind":"Net","labelPath":""}`, Choices{}, []string{"labelPath: labelPath of"}},
		"Secret":       {"Secrets are refused.", `{"apiVersion":"v1","kind":"Secret"}`, Choices{}, []string{"!kind: objects of kind Secret"}},
		"Token":        {"Tokens are refused.", `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest"}`, Choices{}, []string{"!kind: objects of kind TokenRequest"}},
		"ConfigMap":    {"Data of core kinds is refused.", `{"apiVersion":"v1","kind":"ConfigMap","valuePath":"data.region"}`, Choices{}, []string{"!valuePath: valuePath of kind ConfigMap"}},
		"Deployment":   {"Programs have secrets in their settings.", `{"apiVersion":"apps/v1","kind":"Deployment","labelPath":"spec.template"}`, Choices{}, []string{"!labelPath: labelPath of kind Deployment"}},
		"LastApplied":  {"kubectl keeps whole objects in an annotation.", `{"apiVersion":"a.io/v1","kind":"Net","labelPath":"metadata.annotations['kubectl.kubernetes.io/last-applied-configuration']"}`, Choices{}, []string{"!labelPath: labelPath of"}},
		"Password":     {"A password is refused.", `{"apiVersion":"a.io/v1","kind":"Db","valuePath":"spec.adminPassword"}`, Choices{}, []string{"!valuePath: valuePath of"}},
		"Annotation":   {"So is an annotation with one.", `{"apiVersion":"a.io/v1","kind":"Db","valuePath":"metadata.annotations[\"a.io/admin-password\"]"}`, Choices{}, []string{"!valuePath: valuePath of"}},
		"First":        {"The field may be outside of spec.", `{"apiVersion":"a.io/v1","kind":"Db","valuePath":"password"}`, Choices{}, []string{"!valuePath: valuePath of"}},
		"Words":        {"Words may be separated.", `{"apiVersion":"v1","kind":"ConfigMap","labelPath":"metadata.labels[\"a.io/api-key\"]"}`, Choices{}, []string{"!labelPath: labelPath of"}},
		"Prefix":       {"The domain of an annotation says nothing.", `{"apiVersion":"a.io/v1","kind":"Db","valuePath":"metadata.labels[\"secrets.a.io/zone\"]"}`, Choices{APIVersion: "a.io/v1", Kind: "Db", ValuePath: []string{"metadata", "labels", "secrets.a.io/zone"}}, nil},
		"SecretLabel":  {"The name of a secret may be an annotation.", `{"apiVersion":"a.io/v1","kind":"Db","valuePath":"metadata.annotations[\"a.io/secret-name\"]"}`, Choices{APIVersion: "a.io/v1", Kind: "Db", ValuePath: []string{"metadata", "annotations", "a.io/secret-name"}}, nil},
		"SecretName":   {"The name of a secret is none.", `{"apiVersion":"a.io/v1","kind":"Db","valuePath":"spec.secretName"}`, Choices{APIVersion: "a.io/v1", Kind: "Db", ValuePath: []string{"spec", "secretName"}}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			n, err := wire.Decoder{}.Decode([]byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			got, problems := ReadChoices(n)
			if len(problems) != len(tc.problems) {
				t.Fatalf("%s Got problems %+v", tc.reason, problems)
			}
			for i, p := range problems {
				said := p.Key + ": " + p.Message
				if p.Secret {
					said = "!" + said
				}
				if !strings.HasPrefix(said, tc.problems[i]) || p.Hint == "" {
					t.Errorf("%s Got %s (hint %q), want %s", tc.reason, said, p.Hint, tc.problems[i])
				}
			}
			if len(problems) > 0 {
				return
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s -want +got:\n%s", tc.reason, diff)
			}
			if again, problems := ReadChoices(got.Node()); len(problems) > 0 || !cmp.Equal(got, again) {
				t.Errorf("%s Its node is read as %+v with %v", tc.reason, again, problems)
			}
		})
	}
}

// FuzzReadChoices checks that what is accepted survives being written, and is never a
// Secret.
func FuzzReadChoices(f *testing.F) {
	f.Add("v1", "Secret", "a=b", `metadata.labels["a.b/c"]`, "form")
	f.Add("a.io/v1", "Net", "a in (b)", "spec['x\"y'].z", "team-a")
	f.Fuzz(func(t *testing.T, version, kind, selector, path, namespace string) {
		got, problems := ReadChoices(tree.Obj(tree.F("apiVersion", tree.Str(version)), tree.F("kind", tree.Str(kind)), tree.F("labelSelector", tree.OptStr(selector)),
			tree.F("valuePath", tree.Str(path)), tree.F("namespace", tree.OptStr(namespace))))
		if len(problems) > 0 {
			return
		}
		if got.APIVersion == "v1" && got.Kind == "Secret" || len(got.ValuePath) == 0 {
			t.Fatalf("accepted %+v", got)
		}
		if again, problems := ReadChoices(got.Node()); len(problems) > 0 || !cmp.Equal(got, again) {
			t.Fatalf("%+v is read again as %+v with %v", got, again, problems)
		}
	})
}
