// Package config reads the configuration: YAML and JSON files are merged in order,
// environment variables are substituted, and the result becomes typed values. It is
// strict. All errors are returned at once as findings, each with file, line and column
// and a hint.
//
// The files are shared with a portal, so unknown top-level keys are ignored; inside our
// sections an unknown key is an error. The environment and the files of the process are
// passed in as Options.
//
// # Adding a section
//
// A section is a struct and one function that reads it, such as
//
//	func (p *Provider) read(m *keys.Map) {
//		p.Enabled = m.Given() // a missing section does nothing
//		m.Flag("enabled", &p.Enabled)
//		m.FilePath("sourceDirectory", &p.Directory)
//		m.Map("schedule", func(m *keys.Map) {
//			m.Duration("frequency", &p.Frequency, time.Second)
//		})
//	}
//
// The function defines which keys exist, their types, and where their values go. From
// it follow the checks for unknown keys, the hints, the printed configuration, the list
// of keys that docs/configuration.md is checked against, and the JSON Schema for
// editors.
//
//  1. Write the struct, a field for each key, and add it to Config.
//  2. Put its defaults into the function defaults: the value of a field before it
//     is read is its default.
//  3. Write the function, in its own file, and add it to sections. If the
//     vocabularies name the section differently, add a row in words.
//  4. Run the tests: one reports which lines docs/configuration.md lacks. With
//     -update they rewrite api/config.schema.json.
//
// The function is called even if the section is absent, so that defaults can be listed;
// checks that involve several keys (one of two, both or none) must call m.Given and
// m.Has first. A value is only stored if it is valid. Secrets are read with m.Secret,
// which never shows them. A new kind of error gets an id in the package rule.
//
// It is one package because sections refer to each other and are resolved together; each
// file has the types, defaults and checks of one section.
package config

import (
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/config/input"
	"example.dev/ingestor/internal/config/keys"
	"example.dev/ingestor/internal/config/schema"
	"example.dev/ingestor/source"
	"example.dev/ingestor/words"
)

// Config is the configuration of all programs.
type Config struct {
	// Words selects the vocabulary of the output.
	Words words.Choice
	// Composer is variant A of the service, ClusterIngestor variant B, and Orchestrator
	// the clusters of the latter.
	Composer        Composer
	ClusterIngestor ClusterIngestor
	Orchestrator    Orchestrator

	// These belong to the portal.
	App        App
	Backend    Backend
	Auth       Auth
	Permission Permission
	Audit      Audit
	Catalog    Catalog
	Scaffolder Scaffolder
	// Integrations are the Git servers.
	Integrations Integrations
	Plan         Plan

	effective *tree.Node
	// written has the positions of the given keys, and first is the first file.
	written map[string]keys.Written
	first   string
}

// Options are what Load needs from the process, and what it may skip.
type Options struct {
	// Lookup returns an environment variable and whether it is set. Nil means that none
	// is.
	Lookup func(name string) (string, bool)
	// ReadFile reads a file. Nil means from disk, up to the maximum size of a
	// configuration file.
	ReadFile func(path string) ([]byte, error)
	// Sections are those that the program needs, by their names in the contract's
	// vocabulary; nil means all. Other sections are not read, so that their variables need
	// not be set.
	Sections []string
	// UseCluster reports which clusters the program will connect to; nil means all. In the
	// settings of other clusters, a variable that is not set or a file that cannot be read
	// is not an error, and leaves the setting empty.
	UseCluster func(name string) bool
	// UseSource is the same for the sources of composerIngestor.
	UseSource func(name string) bool
	// NoTasks reports that the program runs no tasks, with the same effect for the section
	// scaffolder.
	NoTasks bool
}

// The sections.
const (
	SectionComposer        = "composerIngestor"
	SectionClusterIngestor = "clusterIngestor"
	SectionOrchestrator    = "orchestrator"

	SectionApp        = "app"
	SectionBackend    = "backend"
	SectionAuth       = "auth"
	SectionPermission = "permission"
	SectionAudit      = "audit"
	SectionCatalog    = "catalog"

	SectionScaffolder   = "scaffolder"
	SectionIntegrations = "integrations"
	SectionPlan         = "plan"
)

// PortalSections are those of the portal's backend.
var PortalSections = []string{
	SectionApp, SectionBackend, SectionAuth, SectionPermission, SectionAudit, SectionCatalog,
	SectionComposer, SectionClusterIngestor, SectionOrchestrator, SectionScaffolder, SectionIntegrations, SectionPlan,
}

// sections are all sections, in the order in which they are read.
var sections = []struct {
	name string
	read func(*loader, *keys.Map)
}{
	{SectionComposer, func(l *loader, m *keys.Map) { l.c.Composer.read(m, l.clusters, l.UseSource) }},
	{SectionClusterIngestor, func(l *loader, m *keys.Map) { l.c.ClusterIngestor.read(m) }},
	{SectionOrchestrator, func(l *loader, m *keys.Map) { l.c.Orchestrator.read(m, l.clusters) }},
	{SectionApp, func(l *loader, m *keys.Map) { l.c.App.read(m) }},
	{SectionBackend, func(l *loader, m *keys.Map) { l.c.Backend.read(m, input.Place{File: l.c.first}) }},
	{SectionAuth, func(l *loader, m *keys.Map) { l.c.Auth.read(m) }},
	{SectionPermission, func(l *loader, m *keys.Map) { l.c.Permission.read(m, l.subjects()) }},
	{SectionAudit, func(l *loader, m *keys.Map) { l.c.Audit.read(m) }},
	{SectionCatalog, func(l *loader, m *keys.Map) { l.c.Catalog.read(m) }},
	{SectionScaffolder, func(l *loader, m *keys.Map) {
		m.Lenient(l.NoTasks)
		l.c.Scaffolder.read(m, l.clusters)
	}},
	{SectionIntegrations, func(l *loader, m *keys.Map) { l.c.Integrations.read(m) }},
	{SectionPlan, func(l *loader, m *keys.Map) { l.c.Plan.read(m, l.clusters) }},
}

// Load reads the files at paths. Later files override earlier ones: maps are merged,
// anything else is replaced, and null removes a value. The Config is never nil; it can
// be used if no finding is an error. Findings are in reading order.
func Load(paths []string, opts Options) (*Config, []finding.Finding) {
	c := defaults()
	if len(paths) > 0 {
		c.first = paths[0]
	}
	r := input.New(opts.Lookup, opts.ReadFile)
	if root, ok := r.ReadFiles(paths); ok {
		newLoader(opts, c).read(keys.Read(r, root))
	}
	return c, r.Findings()
}

// loader reads the sections into a Config.
type loader struct {
	Options
	c        *Config
	clusters *clusters
}

func newLoader(opts Options, c *Config) *loader {
	l := &loader{Options: opts, c: c}
	l.clusters = &clusters{
		use: opts.UseCluster, at: map[string]described{}, partial: !l.wants(SectionComposer) || !l.wants(SectionOrchestrator),
	}
	return l
}

// wants reports whether the program needs a section.
func (l *loader) wants(section string) bool {
	return l.Sections == nil || slices.Contains(l.Sections, section)
}

// read reads the merged files.
func (l *loader) read(m *keys.Map) {
	vocabulary := "auto"
	m.Choice("words", &vocabulary, "auto", words.Portal.String(), words.Upstream.String())
	// ParseChoice accepts all of these words.
	l.c.Words, _ = words.ParseChoice(vocabulary)
	if f := l.c.Words.Fixed; f != nil && *f == words.Upstream {
		// As in Backstage, only catalog.locations may have files.
		l.c.Catalog.LocationTypes = []string{LocationURL}
	}
	for _, s := range sections {
		if other := words.Upstream.Out(words.Root, s.name); other != s.name {
			m.Also(s.name, other)
		}
		if !l.wants(s.name) {
			m.Accept(s.name)
			continue
		}
		m.Map(s.name, func(m *keys.Map) { s.read(l, m) })
	}
	l.checkMarks(m)
	l.checkGuests(m)
	m.CheckSections()
	l.c.effective, l.c.written = m.Out, m.Written()
}

// Clusters returns all clusters of the sections that were read. A cluster in two
// sections is returned once, as in composerIngestor.
func (c *Config) Clusters() []source.Cluster {
	var out []source.Cluster
	seen := map[string]bool{}
	for _, list := range [][]source.Cluster{c.Composer.Clusters, c.Orchestrator.Clusters} {
		for _, cluster := range list {
			if !seen[cluster.Name] {
				seen[cluster.Name] = true
				out = append(out, cluster)
			}
		}
	}
	return out
}

// EngineOptions returns the engine's options for a profile. Variant B has no
// configuration for the engine, except for the vocabulary, day-two Templates and the
// clusters.
func (c *Config) EngineOptions(p engine.Profile) engine.Options {
	if p.Name == engine.ClusterIngestor.Name {
		return engine.Options{Words: c.Words, DayTwo: c.ClusterIngestor.XRDs.DayTwo, Clusters: c.choosable()}
	}
	t := c.Composer.Templates
	stock := t.GitProvider
	if t.Delivery != DeliveryBackstage {
		stock = ""
	}
	return engine.Options{
		Stock:                stock,
		Owner:                c.Composer.DefaultOwner,
		System:               c.Composer.DefaultSystem,
		Words:                c.Words,
		ResourceNamespace:    t.DefaultNamespace,
		NoAPI:                !t.GenerateAPIEntities,
		NoCompositionDetails: !t.IncludeCompositionDetails,
		GitOps:               t.AddGitOpsActions,
		DayTwo:               c.Composer.DayTwo,
		Clusters:             c.choosable(),
	}
}

// choosable returns the clusters that a form offers: all that steps may write to,
// unless there is a default cluster.
func (c *Config) choosable() []string {
	if c.Scaffolder.DefaultCluster != "" {
		return nil
	}
	var names []string
	for _, cluster := range c.WritableClusters() {
		names = append(names, cluster.Name)
	}
	return names
}

// Effective returns the effective configuration, including defaults, as a document in
// the contract's vocabulary. Secrets are masked, paths are resolved. It is empty if the
// files could not be read.
func (c *Config) Effective() *tree.Node {
	if c.effective == nil {
		return tree.Obj()
	}
	return c.effective.Clone()
}

// Written reports whether a key is given. Entries of lists have their index.
func (c *Config) Written(key string) bool {
	_, ok := c.written[key]
	return ok
}

// Locate returns the path of a key as it is written, and its position. If the key is not
// given, that is the position of the nearest map that would contain it, or else the
// first file.
func (c *Config) Locate(key string) (path string, at input.Place) {
	path = key
	if w, ok := c.written[key]; ok {
		path = w.Path
	}
	for in := key; in != ""; in = in[:max(strings.LastIndexAny(in, ".["), 0)] {
		if w, ok := c.written[in]; ok {
			return path, w.Place
		}
	}
	return path, input.Place{File: c.first}
}

// Keys returns all keys, in the order in which they are read.
func Keys() []keys.Key {
	all, _ := describe().Keys()
	return all
}

// Schema returns a JSON Schema (draft 2020-12) of a configuration file, for editors. It
// has the keys and their types, but cannot detect conflicts between keys or missing
// files.
func Schema() *tree.Node {
	all, required := describe().Keys()
	return schema.Of(all, required, Permissions)
}

// describe lists all keys instead of reading values.
func describe() *keys.Map {
	m := keys.Describe()
	newLoader(Options{}, defaults()).read(m)
	return m
}
