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
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

var update = flag.Bool("update", false, "rewrite api/config.schema.json")

// TestSchemaFile compares the schema file with the code.
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
		t.Errorf("api/config.schema.json differs from the code; run the test with -update (-code +file):\n%s", cmp.Diff(string(want), string(got)))
	}
}

// compiled returns the compiled schema.
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

// judged validates a configuration against the schema.
func judged(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	docs, errs := parser.DecodeBytes([]byte(text))
	if len(errs) > 0 || len(docs) != 1 {
		t.Fatalf("%d documents, %v in\n%s", len(docs), errs, text)
	}
	return judge(t, s, docs[0])
}

// judge validates a document against the schema.
func judge(t *testing.T, s *jsonschema.Schema, n *tree.Node) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(tree.AppendJSON(nil, n, "")))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}

// TestSchemaAccepts checks that the schema accepts valid configurations.
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
		t.Fatalf("no examples were found: %v", err)
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

// TestSchemaRefuses checks that the schema refuses mistakes that Load refuses
// too.
func TestSchemaRefuses(t *testing.T) {
	s := compiled(t)
	cases := map[string]struct{ reason, text string }{
		"Unknown":      {"An unknown key is refused.", "backend: { databse: {} }"},
		"Upstream":     {"An unknown key in the other vocabulary is refused.", "crossplaneIngestor: { cachng: {} }"},
		"Inner":        {"An unknown key below an alternative spelling is refused.", "kubernetesIngestor: { crossplane: { xrd: {} } }"},
		"InList":       {"An unknown key in a list is refused.", "composerIngestor: { clusters: [ { name: a, addresses: x } ] }"},
		"Environment":  {"An unknown key of a provider's environment is refused.", "auth: { providers: { guest: { development: { user: x } } } }"},
		"Provider":     {"An unsupported provider is refused.", "auth: { providers: { github: {} } }"},
		"Boolean":      {"A text is not a boolean.", "permission: { enabled: 'yes' }"},
		"Number":       {"A text is not a number.", "composerIngestor: { caching: { ttl: 5m } }"},
		"Bounds":       {"A number out of range is refused.", "backend: { rateLimit: { incomingRequestLimit: 0 } }"},
		"Choice":       {"An unknown value is refused.", "backend: { logger: { level: verbose } }"},
		"Client":       {"An unknown database client is refused.", "backend: { database: { client: mysql } }"},
		"Duration":     {"A duration needs a unit.", "catalog: { processingInterval: 100 }"},
		"DurationUnit": {"A duration needs a known unit.", "catalog: { processingInterval: { minute: 1 } }"},
		"DurationText": {"A duration in text must be valid.", "catalog: { processingInterval: soon }"},
		"Size":         {"A size is a number with a unit.", "backend: { maxBody: huge }"},
		"URL":          {"A URL needs a scheme.", "app: { baseUrl: localhost }"},
		"Empty":        {"A text must not be empty.", "app: { title: '' }"},
		"List":         {"A text is not a list.", "catalog: { locationTypes: url }"},
		"ListEntry":    {"A list of texts has text items.", "catalog: { locationTypes: [1] }"},
		"ListMap":      {"A map is not a list of maps.", "catalog: { locations: { type: url } }"},
		"Required":     {"Required keys in lists must exist.", "catalog: { locations: [ { type: url } ] }"},
		"Permission":   {"An unknown permission is refused.", "permission: { rules: [ { permissions: [catalog.entity.raed], result: allow } ] }"},
		"Map":          {"A section must be a map.", "backend: 7"},
		"Listen":       {"An unknown part of a listen address is refused.", "backend: { listen: { hots: x } }"},
		"Secret":       {"A secret must be text.", "auth: { session: { secret: 12 } }"},
		"Workers":      {"A limit of zero workers is refused.", "scaffolder: { concurrentTasksLimit: 0 }"},
		"Apps":         {"An unsupported key is refused.", "integrations: { github: [ { apps: [] } ] }"},
		"Host":         {"A server needs a host.", "integrations: { gitea: [ { username: me } ] }"},
		"Audit":        {"An unknown destination is refused.", "audit: { to: syslog }"},
		"Words":        {"An unknown vocabulary is refused.", "words: german"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if judged(t, s, tc.text) == nil {
				t.Errorf("%s: schema accepts %s", tc.reason, tc.text)
			}
			if _, fs := load(tc.text, nil); finding.Count(fs, finding.Error) == 0 {
				t.Errorf("%s: Load accepts %s", tc.reason, tc.text)
			}
		})
	}
}
