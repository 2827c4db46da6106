package config

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
)

var update = flag.Bool("update", false, "rewrite api/config.schema.json")

// TestSchemaFile holds the copy that editors use against the code.
func TestSchemaFile(t *testing.T) {
	path := filepath.Join(top, "api", "config.schema.json")
	want := append(tree.AppendJSON(nil, Schema(), "  "), '\n')
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("api/config.schema.json is not what the code says; rewrite it with -update (-code +file):\n%s", cmp.Diff(string(want), string(got)))
	}
}

// compiled returns the schema, ready for use.
func compiled(t testing.TB) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(tree.AppendJSON(nil, Schema(), "")))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource("config.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// judged holds a configuration against the schema.
func judged(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	docs, errs := tree.DecodeBytes([]byte(text))
	if len(errs) > 0 || len(docs) != 1 {
		t.Fatalf("%d documents, %v in\n%s", len(docs), errs, text)
	}
	return judge(t, s, docs[0])
}

// judge holds a document against the schema.
func judge(t *testing.T, s *jsonschema.Schema, n *tree.Node) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(tree.AppendJSON(nil, n, "")))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}

// TestSchemaAccepts wants right configurations to be right.
func TestSchemaAccepts(t *testing.T) {
	s := compiled(t)
	texts := map[string]string{
		"Everything": everything, "Upstream": upstream(everything), "Portal": portal, "PortalURL": portalURL, "Making": making, "Foreign": "techdocs: { builder: local }\n",
		"Empty": "{}", "Null": "backend:\ncatalog: { rules: ~, locations: ~ }\napp: { title: ~ }\n",
		"Elsewhere":   "backend: { rateLimit: '${LIMIT}', maxBody: { $env: SIZE }, database: { client: '${CLIENT:-pg}', connection: { $file: url } } }\n",
		"Environment": "auth: { providers: { guest: { development: { userEntityRef: 'user:default/x' } } } }\n",
		"Plugins":     "app: { analytics: {} }\ncatalog: { providers: { github: { x: 1 } }, orphanStrategy: delete }\n",
		"Duration":    "catalog: { processingInterval: { minutes: '${N}' } }\nbackend: { reading: { timeout: PT1M } }\n",
		"Effective":   string(tree.AppendYAML(nil, loadPortal(t, portal).Effective())),
		"Defaults":    string(tree.AppendYAML(nil, mustLoad(t, "", nil).Effective())),
	}
	files, err := filepath.Glob(filepath.Join(top, "examples", "config", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no examples: %v", err)
	}
	for _, path := range append(files, filepath.Join(top, "app-config.yaml")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path)] = string(text)
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			if err := judged(t, s, text); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
}

// TestSchemaRefuses wants the mistakes that an editor can see to be seen, and
// to be mistakes for Load too.
func TestSchemaRefuses(t *testing.T) {
	s := compiled(t)
	cases := map[string]struct{ reason, text string }{
		"Unknown":      {"a key that is not there", "backend: { databse: {} }"},
		"Upstream":     {"the other spelling is as strict", "crossplaneIngestor: { cachng: {} }"},
		"Inner":        {"so is a key with another spelling", "kubernetesIngestor: { crossplane: { xrd: {} } }"},
		"InList":       {"and entries of lists", "composerIngestor: { clusters: [ { name: a, addresses: x } ] }"},
		"Environment":  {"and a provider's environment", "auth: { providers: { guest: { development: { user: x } } } }"},
		"Provider":     {"a provider that is not supported", "auth: { providers: { github: {} } }"},
		"Boolean":      {"text is no boolean", "permission: { enabled: 'yes' }"},
		"Number":       {"text is no number", "composerIngestor: { caching: { ttl: 5m } }"},
		"Bounds":       {"a number has bounds", "backend: { rateLimit: { incomingRequestLimit: 0 } }"},
		"Choice":       {"one of several words", "backend: { logger: { level: verbose } }"},
		"Client":       {"a database that is not there", "backend: { database: { client: mysql } }"},
		"Duration":     {"a duration has a unit", "catalog: { processingInterval: 100 }"},
		"DurationUnit": {"that is known", "catalog: { processingInterval: { minute: 1 } }"},
		"DurationText": {"also in text", "catalog: { processingInterval: soon }"},
		"Size":         {"a size is a number with a unit", "backend: { maxBody: huge }"},
		"URL":          {"an address begins with its scheme", "app: { baseUrl: localhost }"},
		"Empty":        {"text is not empty", "app: { title: '' }"},
		"List":         {"a list is a list", "catalog: { locationTypes: url }"},
		"ListEntry":    {"of text", "catalog: { locationTypes: [1] }"},
		"ListMap":      {"or of maps", "catalog: { locations: { type: url } }"},
		"Required":     {"entries of lists have what they need", "catalog: { locations: [ { type: url } ] }"},
		"Permission":   {"permissions have names", "permission: { rules: [ { permissions: [catalog.entity.raed], result: allow } ] }"},
		"Map":          {"a section is a map", "backend: 7"},
		"Listen":       {"a part of an address", "backend: { listen: { hots: x } }"},
		"Secret":       {"a secret is text", "auth: { session: { secret: 12 } }"},
		"Workers":      {"somebody has to do it", "scaffolder: { concurrentTasksLimit: 0 }"},
		"Apps":         {"what is not supported is not there", "integrations: { github: [ { apps: [] } ] }"},
		"Host":         {"a server has a name", "integrations: { gitea: [ { username: me } ] }"},
		"Audit":        {"one of the destinations", "audit: { to: syslog }"},
		"Words":        {"also at the top", "words: german"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if judged(t, s, tc.text) == nil {
				t.Errorf("%s: the schema accepts %s", tc.reason, tc.text)
			}
			if _, fs := load(tc.text, nil); finding.Count(fs, finding.Error) == 0 {
				t.Errorf("%s: Load accepts %s", tc.reason, tc.text)
			}
		})
	}
}
