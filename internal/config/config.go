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
//	func (p *Provider) read(o *object) {
//		p.Enabled = o.given() // a missing section does nothing
//		o.flag("enabled", &p.Enabled)
//		o.filePath("sourceDirectory", &p.Directory)
//		o.object("schedule", func(o *object) {
//			o.duration("frequency", &p.Frequency, time.Second)
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
// checks that involve several keys (one of two, both or none) must call o.given and
// o.has first. A value is only stored if it is valid. Secrets are read with o.secret,
// which never shows them. A new kind of error gets an id in rules.go.
package config

import (
	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
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

	effective *tree.Node
	// written has the positions of the given keys, and first is the first file.
	written map[string]written
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
)

// PortalSections are those of the portal's backend.
var PortalSections = []string{
	SectionApp, SectionBackend, SectionAuth, SectionPermission, SectionAudit, SectionCatalog,
	SectionComposer, SectionClusterIngestor, SectionOrchestrator, SectionScaffolder, SectionIntegrations,
}

// sections are all sections, in the order in which they are read.
var sections = []struct {
	name string
	read func(*Config, *object)
}{
	{SectionComposer, func(c *Config, o *object) { c.Composer.read(o) }},
	{SectionClusterIngestor, func(c *Config, o *object) { c.ClusterIngestor.read(o) }},
	{SectionOrchestrator, func(c *Config, o *object) { c.Orchestrator.read(o) }},
	{SectionApp, func(c *Config, o *object) { c.App.read(o) }},
	{SectionBackend, func(c *Config, o *object) { c.Backend.read(o) }},
	{SectionAuth, func(c *Config, o *object) { c.Auth.read(o) }},
	{SectionPermission, func(c *Config, o *object) { c.Permission.read(o, c.subjects(o.r)) }},
	{SectionAudit, func(c *Config, o *object) { c.Audit.read(o) }},
	{SectionCatalog, func(c *Config, o *object) { c.Catalog.read(o) }},
	{SectionScaffolder, func(c *Config, o *object) { c.Scaffolder.read(o) }},
	{SectionIntegrations, func(c *Config, o *object) { c.Integrations.read(o) }},
}

// Load reads the files at paths. Later files override earlier ones: maps are merged,
// anything else is replaced, and null removes a value. The Config is never nil; it can
// be used if no finding is an error. Findings are in reading order.
func Load(paths []string, opts Options) (*Config, []finding.Finding) {
	r := newReader(opts)
	c := defaults()
	if len(paths) > 0 {
		r.first = paths[0]
	}
	root, ok := r.readFiles(paths)
	if ok {
		r.config(c, root)
	}
	return c, r.findings()
}

// config reads the merged files into c.
func (r *reader) config(c *Config, root *tree.Node) {
	o := &object{r: r, node: root, at: r.placeOf(root), out: tree.Obj()}
	o.words("words", &c.Words)
	if f := c.Words.Fixed; f != nil && *f == words.Upstream {
		// As in Backstage, only catalog.locations may have files.
		c.Catalog.LocationTypes = []string{LocationURL}
	}
	for _, s := range sections {
		if other := words.Upstream.Out(words.Root, s.name); other != s.name {
			o.also(s.name, other)
		}
		if !r.wants(s.name) {
			o.known = append(o.known, s.name)
			continue
		}
		o.object(s.name, func(o *object) { s.read(c, o) })
	}
	r.checkMarks(c)
	r.checkGuests(c)
	o.slips()
	c.effective, c.written, c.first = o.out, r.written, r.first
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
	return engine.Options{
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

// Key is a key of the configuration.
type Key struct {
	// Path is the key in the contract's vocabulary; entries of a list are "[]".
	Path string
	// Type is the type of the value, Default the default; empty is none.
	Type, Default string
	// Least and Most are the bounds of a number; nil for anything else.
	Least, Most *int64
}

// Keys returns all keys, in the order in which they are read.
func Keys() []Key {
	return describe().keys
}

// describe lists all keys instead of reading values.
func describe() *reader {
	r := newReader(Options{})
	r.describing = true
	r.config(defaults(), nil)
	return r
}
