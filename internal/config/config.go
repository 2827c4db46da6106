// Package config reads the configuration: YAML and JSON files, merged in
// order, with variables of the environment filled in, become typed values. It
// is strict. Whatever is wrong, all of it, is returned at once as findings,
// each with file, line and column and the way out.
//
// The files are shared with a portal, so keys at the top that are not ours are
// left alone; inside our sections a key that is not known is a mistake. What is
// needed of the process (environment, files) comes in as Options.
//
// # Adding a section
//
// A section is a struct and one function that reads it, such as
//
//	func (p *Provider) read(o *object) {
//		p.Enabled = o.given() // a section that is not there does nothing
//		o.flag("enabled", &p.Enabled)
//		o.filePath("sourceDirectory", &p.Directory)
//		o.object("schedule", func(o *object) {
//			o.duration("frequency", &p.Frequency, time.Second)
//		})
//	}
//
// The function says which keys exist, of which type, and where they go. From it
// follow the checks for unknown keys, the hints, the printed configuration, the
// list of keys that docs/configuration.md is held against, and the JSON Schema
// for editors.
//
//  1. Write the struct, a field for each key, and add it to Config.
//  2. Put its defaults into the function defaults: what a field holds before it
//     is read is its default.
//  3. Write the function, in a file of its own, and add it to sections. If the
//     vocabularies call the section differently, that is a row in words.
//  4. Run the tests: one says which lines docs/configuration.md lacks. With
//     -update they rewrite api/config.schema.json.
//
// The function is called even if the section is absent, so that defaults can be
// listed; checks beyond those of single keys (one of two, both or none) ask
// o.given and o.has first. A value is only stored if it is right. Secrets are
// read with o.secret, which shows them to nobody. A mistake of a new kind gets
// an id in rules.go.
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
	// Words chooses the vocabulary of what is written.
	Words words.Choice
	// Composer is variant A of the service, ClusterIngestor variant B, and
	// Orchestrator the clusters of the latter.
	Composer        Composer
	ClusterIngestor ClusterIngestor
	Orchestrator    Orchestrator

	// These are the portal's.
	App        App
	Backend    Backend
	Auth       Auth
	Permission Permission
	Audit      Audit
	Catalog    Catalog
	Scaffolder Scaffolder
	// Integrations are the servers of repositories.
	Integrations Integrations

	effective *tree.Node
	// written is where the keys are that are given, and first the file that is
	// named first.
	written map[string]written
	first   string
}

// Options are what Load takes from the process, and what it may leave out.
type Options struct {
	// Lookup returns a variable of the environment and whether it is set. Nil
	// means that none is.
	Lookup func(name string) (string, bool)
	// ReadFile reads a file. Nil means from the disk, as much of it as a
	// configuration may have.
	ReadFile func(path string) ([]byte, error)
	// Sections are those that the program needs, by their names in the
	// contract's words; nil means all. The others are not looked at, so that
	// nobody must set variables for them.
	Sections []string
	// UseCluster tells which clusters the program will speak to; nil means
	// all. In the settings of the others a variable that is not set, or a file
	// that cannot be read, is no mistake, and leaves the setting empty.
	UseCluster func(name string) bool
	// UseSource is the same for the sources of composerIngestor.
	UseSource func(name string) bool
	// NoTasks says that the program runs no tasks, which is the same for the
	// section scaffolder.
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

// Load reads the files at paths, each of which goes before those named earlier:
// maps are merged, anything else is replaced, and null takes a value away. The
// Config is never nil; it is one to work with if no finding is an error.
// Findings are in reading order.
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
		// As Backstage has it: files are for catalog.locations.
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

// Clusters returns all clusters of the sections that were read. A cluster that
// stands in two of them is returned once, as composerIngestor has it.
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

// EngineOptions returns what the engine is told when it works for a profile.
// Variant B has no keys that the engine knows, so only the words, and the clusters
// that there are, count there.
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

// choosable are the clusters that a form lets one choose from: all that steps may
// write to, unless one of them is meant where none is named.
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

// Effective returns what holds, defaults included, as a document in the
// contract's words. Secrets are masked, paths as they are resolved. It is
// empty if the files could not be read.
func (c *Config) Effective() *tree.Node {
	if c.effective == nil {
		return tree.Obj()
	}
	return c.effective.Clone()
}

// Key is a key of the configuration.
type Key struct {
	// Path is the key in the contract's words; entries of a list are "[]".
	Path string
	// Type says what it holds, Default what holds without it; empty is none.
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
