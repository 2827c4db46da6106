package rules

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
)

// A room is a folder of the plan with everything below it. Packages of one room
// may import each other.
type room struct {
	// ours are the other rooms it may import.
	ours []string
	// pure means that it only computes: it imports no package of sideEffects,
	// and no third-party package except those in outside.
	pure    bool
	outside []string
	// despite are packages of sideEffects that a pure room may import for their
	// types.
	despite []string
}

// public are the rooms of the library, which other programs may import.
var public = []string{"document", "words", "xrd", "entity", "template", "engine", "source", "sink", "action"}

// plan has all rooms, in the order of the data flow.
var plan = map[string]room{
	"cmd": {ours: []string{"internal/app", "internal/cli"}},
	// The backend, for use in other programs.
	"cmd/portal-backend/backend": {ours: []string{"action", "engine", "internal/app", "internal/cli"}},

	"document": {pure: true, outside: []string{"go.yaml.in/yaml/v3"}},
	"words":    {pure: true, ours: []string{"document"}},
	"xrd":      {pure: true, ours: []string{"words", "document", "internal/text"}, despite: []string{"time"}},
	// This room imports code of the API server to validate schemas.
	"xrd/structural": {ours: []string{"document", "xrd"}},
	// This room compares the CRDs of definitions, with rules of crdify.
	"xrd/diff": {ours: []string{"document", "xrd", "internal/text"}},
	"entity":   {pure: true, ours: []string{"words", "document"}},
	"template": {pure: true, ours: []string{"document", "internal/text"}, outside: []string{"github.com/grafana/sobek", "github.com/dlclark/regexp2"},
		// Rendering has a timeout.
		despite: []string{"time"}},
	"engine": {pure: true, ours: []string{"words", "document", "xrd", "entity", "template", "internal/text"},
		despite: []string{"time"}},

	"source": {ours: []string{"words", "document", "xrd", "internal/git/remote", "internal/secret"}},
	"sink":   {ours: []string{"document", "entity", "internal/git/remote", "internal/secret"}},
	"action": {ours: []string{"words", "document", "xrd", "entity", "template", "source", "sink",
		"internal/git/forge", "internal/secret"}},

	"internal/app":    {},
	"internal/term":   {},
	"internal/text":   {pure: true},
	"internal/report": {ours: []string{"document", "internal/term"}},
	// A text that is never shown.
	"internal/secret": {},
	// Mutual exclusion between processes.
	"internal/lock": {},
	// Texts that are buffered in a file.
	"internal/spool": {},
	// Sets of ids in rows of the database.
	"internal/idset": {},

	// Git servers: repositories, change requests, files.
	"internal/git":        {ours: []string{"action", "source", "sink", "internal/config", "internal/lock", "internal/secret"}},
	"internal/git/forge":  {ours: []string{"internal/secret"}},
	"internal/git/remote": {ours: []string{"internal/lock", "internal/secret"}},

	"internal/config": {ours: []string{"words", "document", "xrd", "entity", "engine", "source", "internal/secret", "internal/text"}},
	// The database layer for the slices; it has no tables of its own.
	"internal/db": {ours: []string{"internal/idset"}},
	// The only coordinator.
	"internal/jobs": {ours: []string{"internal/db"}},
	// Traces and metrics to a collector.
	"internal/telemetry": {ours: []string{"internal/config", "internal/text"}},
	// Building blocks of request handlers.
	"internal/rest": {ours: []string{"document", "internal/config", "internal/db", "internal/text"}},

	// The slices: one capability each, from SQL to HTTP.
	"internal/identity": {ours: []string{"document", "entity", "action", "internal/config", "internal/db", "internal/rest", "internal/secret"}},
	"internal/catalog": {ours: slices.Concat(public, []string{"internal/config", "internal/db", "internal/identity", "internal/idset",
		"internal/jobs", "internal/rest", "internal/spool", "internal/text"})},
	"internal/ingestion": {ours: slices.Concat(public, []string{"internal/config", "internal/db",
		"internal/identity", "internal/jobs", "internal/pipeline", "internal/rest"})},
	// What is stored does not depend on how it is read or built.
	"internal/ingestion/object": {ours: slices.Concat(public, []string{"internal/ingestion/mirror"})},
	"internal/ingestion/status": {ours: slices.Concat(public, []string{"internal/ingestion/mirror", "internal/ingestion/object"})},
	"internal/ingestion/once":   {},
	"internal/scaffolder": {ours: slices.Concat(public, []string{"internal/db", "internal/git/fetch", "internal/identity", "internal/jobs",
		"internal/rest", "internal/secret", "internal/text"})},
	"internal/scaffolder/validation": {pure: true, ours: []string{"document"}, outside: []string{"github.com/dlclark/regexp2"},
		// Matching a pattern has a timeout.
		despite: []string{"time"}},
	"internal/reading":  {ours: slices.Concat(public, []string{"internal/identity"})},
	"internal/resource": {ours: slices.Concat(public, []string{"internal/db", "internal/identity", "internal/reading", "internal/rest"})},
	"internal/plan":     {ours: slices.Concat(public, []string{"internal/identity", "internal/rest"})},
	"internal/workload": {ours: slices.Concat(public, []string{"internal/db", "internal/identity", "internal/reading", "internal/rest"})},
	"internal/choice":   {ours: slices.Concat(public, []string{"internal/db", "internal/identity", "internal/reading", "internal/rest"})},
	"internal/settings": {ours: slices.Concat(public, []string{"internal/db", "internal/identity", "internal/rest"})},
	// The only room that knows all slices.
	"internal/server": {ours: slices.Concat(public, []string{"web", "internal/catalog", "internal/choice", "internal/config", "internal/db", "internal/git", "internal/identity",
		"internal/ingestion", "internal/jobs", "internal/lock", "internal/plan", "internal/resource", "internal/rest", "internal/scaffolder", "internal/secret", "internal/settings", "internal/telemetry", "internal/workload"})},

	"internal/pipeline": {ours: []string{"words", "document", "xrd", "entity", "engine", "source", "sink", "internal/spool"}},
	"internal/cli": {ours: slices.Concat(public, []string{
		"internal/app", "internal/config", "internal/pipeline", "internal/plan", "internal/server", "internal/report", "internal/spool", "internal/term", "internal/text"})},
	"web": {},
	// The command-line programs, for use in other programs.
	".": {ours: []string{"engine", "internal/app", "internal/cli"}},

	// An example stands for a program outside of this project; a test may
	// import everything.
	"examples": {ours: slices.Concat(public, []string{"cmd/portal-backend/backend", "."})},
	"test":     {ours: slices.Concat(public, []string{"cmd", "internal", "web"})},
}

// homes are the only rooms that may import a heavy package, or one below it; a
// package with an empty list may not be imported at all. The depguard rules of
// .golangci.yml are the same.
var homes = map[string][]string{
	"k8s.io":                   {"source/cluster", "action/cluster", "xrd/structural", "xrd/diff"},
	"sigs.k8s.io/crdify":       {"xrd/diff"},
	"github.com/go-git":        {"internal/git/remote", "source/git", "sink/git"},
	"github.com/grafana/sobek": {"template/eta"},
	"github.com/spf13/cobra":   {"internal/cli"},
	"github.com/spf13/pflag":   {"internal/cli"},
	"database/sql":             {"internal/db", "internal/jobs", "internal/catalog/store", "internal/identity/auth", "internal/ingestion/mirror", "internal/scaffolder/taskstore", "test/database"},
	"github.com/jackc/pgx":     {"internal/db", "internal/jobs"},
	"modernc.org/sqlite":       {"internal/db", "internal/jobs"},
	"github.com/riverqueue":    {"internal/jobs"},
	"github.com/redis":         {"internal/ingestion/marks"},
	// Other packages get a trace.Tracer, and count with Prometheus.
	"go.opentelemetry.io/otel/sdk":       {"internal/telemetry"},
	"go.opentelemetry.io/otel/exporters": {"internal/telemetry"},
	"go.opentelemetry.io/otel/metric":    nil,
	"go.opentelemetry.io/contrib":        {"internal/telemetry"},
	"go.opentelemetry.io/proto":          {"test/collector"},
	"github.com/stretchr/testify":        nil,
	"github.com/onsi/gomega":             nil,
	"sigs.k8s.io/yaml":                   nil,
	"gopkg.in/yaml.v2":                   nil,
	"gopkg.in/yaml.v3":                   nil,
}

// without has programs that must not link a package, even indirectly.
var without = map[string][]string{
	"cmd/xrd-transform": {"k8s.io/client-go", exporters, grpc},
	// It reads clusters for the blast radius of diff.
	"cmd/ingestor-cli":      {exporters, grpc},
	"cmd/xrd-extract":       {exporters, grpc},
	"cmd/composer-ingestor": {exporters, grpc},
	"cmd/portal-provide":    {exporters, grpc},
}

// exporters and grpc are what the export of traces and metrics links.
const (
	exporters = "go.opentelemetry.io/otel/exporters"
	grpc      = "google.golang.org/grpc"
)

// sideEffects are packages that access the machine, the network, the clock or
// random numbers.
var sideEffects = []string{
	"crypto/rand", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http",
	"os", "os/exec", "os/signal", "os/user", "syscall", "time",
}

// corridors are names that say nothing about the contents.
var corridors = []string{"util", "utils", "common", "helpers", "models", "types", "manager", "misc"}

// within reports whether pkg is dir or below it.
func within(pkg, dir string) bool {
	return pkg == dir || strings.HasPrefix(pkg, dir+"/")
}

func withinAny(pkg string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return within(pkg, dir) })
}

// roomOf returns the room of the package in folder dir.
func roomOf(dir string) (string, bool) {
	for d := dir; ; d = path.Dir(d) {
		// The root package is a room of its own, without the packages below it.
		if _, ok := plan[d]; ok && (d != "." || dir == ".") {
			return d, true
		}
		if d == "." {
			return "", false
		}
	}
}

// judge returns why the package in folder dir may not import imp, or "".
func judge(dir, imp string) string {
	name, ok := roomOf(dir)
	if !ok {
		return fmt.Sprintf("%s is in no room of the plan: add it to docs/design/ and to the plan in test/rules", dir)
	}
	r := plan[name]
	ours, ok := strings.CutPrefix(imp, module+"/")
	if imp == module {
		ours, ok = ".", true
	}
	if ok {
		if within(ours, name) || withinAny(ours, r.ours) {
			return ""
		}
		return fmt.Sprintf("%s may import of ours only [%s]", name, strings.Join(r.ours, " "))
	}
	if why := judgeHeavy(dir, imp); why != "" || !r.pure {
		return why
	}
	if slices.Contains(sideEffects, imp) && !slices.Contains(r.despite, imp) {
		return fmt.Sprintf("%s is pure: what it needs of %s comes in as an argument", name, imp)
	}
	// The first element of a standard library path has no dot.
	first, _, _ := strings.Cut(imp, "/")
	if strings.Contains(first, ".") && !withinAny(imp, r.outside) {
		return fmt.Sprintf("%s is pure: beside the standard library it may import only [%s]", name, strings.Join(r.outside, " "))
	}
	return ""
}

// judgeHeavy returns why the package in folder dir may not import the heavy
// package imp, or "". This rule also applies to tests.
func judgeHeavy(dir, imp string) string {
	for heavy, at := range homes {
		if !within(imp, heavy) || withinAny(dir, at) {
			continue
		}
		if len(at) == 0 {
			return fmt.Sprintf("%s is not used in this project", heavy)
		}
		return fmt.Sprintf("%s lives only in %s", heavy, strings.Join(at, " and "))
	}
	return ""
}

func TestJudge(t *testing.T) {
	cases := map[string]struct {
		reason string
		dir    string
		imp    string
		want   string // A part of the result; "" allows the import.
	}{
		"Down":            {"The engine may import definitions.", "engine", module + "/xrd", ""},
		"Up":              {"Definitions may not import the engine.", "xrd", module + "/engine", "xrd may import of ours only"},
		"Inside":          {"Packages of a room may import each other.", "engine/form", module + "/engine", ""},
		"SubFolder":       {"A rule also applies to subfolders.", "source/cluster", module + "/entity", "source may import"},
		"SameBeginning":   {"A longer name is another room.", "document/finding", module + "/documentary", "document may import"},
		"Skipped":         {"A main package only imports its command.", "cmd/ingestor-cli", module + "/engine", "cmd may import"},
		"ExampleInternal": {"An example may not import internal packages.", "examples/extending", module + "/internal/pipeline", "examples may"},
		"UnknownRoom":     {"A new room must be added to the plan first.", "attic", "fmt", "attic is in no room of the plan"},
		"UnknownInternal": {"A folder below internal is not a room by itself.", "internal/attic", "fmt", "no room of the plan"},
		"RootPackage":     {"The root package exports the programs.", ".", module + "/internal/cli/composer", ""},
		"RootStore":       {"The root package may not import the storage.", ".", module + "/internal/catalog/store", "may import of ours only"},
		"RootForTheHouse": {"No package of the project may import the root package.", "internal/cli", module, "may import of ours only"},
		"OtherSlice":      {"A slice may not import another one.", "internal/scaffolder", module + "/internal/catalog", "internal/scaffolder may import"},
		"HeavyHome":       {"client-go may be imported in its home.", "source/cluster", "k8s.io/client-go/dynamic", ""},
		"HeavyNextDoor":   {"client-go may not be imported elsewhere.", "source/file", "k8s.io/client-go/dynamic", "lives only in source/cluster"},
		"HeavyStandard":   {"Packages of the standard library can be heavy.", "internal/server", "database/sql", "internal/db and internal/jobs"},
		"HeavyInTests":    {"Test programs may not import heavy packages either.", "test/bench", "github.com/spf13/cobra", "lives only in internal/cli"},
		"LightBeginning":  {"A package whose path only begins alike is not heavy.", "source/git", "github.com/go-git-like/x", ""},
		"LightTrace":      {"The API of traces is light.", "internal/jobs", "go.opentelemetry.io/otel/trace", ""},
		"HeavyTrace":      {"The SDK of traces is not, in tests either.", "internal/jobs", "go.opentelemetry.io/otel/sdk/trace", "lives only in internal/telemetry"},
		"Nowhere":         {"Assertion libraries are not used.", "test/script", "github.com/stretchr/testify/assert", "not used in this project"},
		"PureStandard":    {"A pure room may import packages that only compute.", "words", "strings", ""},
		"PureURL":         {"A pure room may import net/url, which only handles text.", "entity", "net/url", ""},
		"PureDisk":        {"A pure room gets file systems as arguments.", "template/eta", "os", "template is pure"},
		"PureNetwork":     {"Subfolders of a pure room are pure too.", "engine/openapi", "net/http", "engine is pure"},
		"PureClock":       {"A pure room does not use the clock.", "entity", "time", "entity is pure"},
		"PureTimeType":    {"A pure room may be allowed to use the types of time.", "engine", "time", ""},
		"PureChance":      {"A pure room does not use random numbers.", "xrd", "math/rand/v2", "xrd is pure"},
		"PureOutside":     {"Only document may import the YAML package.", "xrd", "go.yaml.in/yaml/v3", "xrd is pure"},
		"PureOutsideHome": {"A package of document may import the YAML package.", "document/syntax", "go.yaml.in/yaml/v3", ""},
		"Impure":          {"A source may access the machine.", "source/file", "os", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := judge(tc.dir, tc.imp)
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("%s\njudge(%q, %q) = %q, want %q in it", tc.reason, tc.dir, tc.imp, got, tc.want)
			}
		})
	}
}
