package config

import (
	"path"
	"path/filepath"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/input"
	"example.dev/ingestor/internal/config/keys"
	"example.dev/ingestor/internal/config/rule"
)

// Catalog is the section catalog.
type Catalog struct {
	// Rules are the kinds of entity that locations may provide.
	Rules []CatalogRule
	// Locations are the configured locations.
	Locations []CatalogLocation
	// Interval is the time between two reads of a location.
	Interval time.Duration
	// LocationTypes are the types that may be registered over HTTP.
	LocationTypes []string
	// XRDTemplates is the provider of entities that generators wrote to files.
	XRDTemplates XRDTemplates
	// UIDRetention is how long after its removal an entity gets its uid back if it is
	// added again.
	UIDRetention time.Duration
}

// CatalogRule allows kinds of entity.
type CatalogRule struct{ Allow []string }

// The types of locations.
const (
	LocationFile = "file"
	LocationURL  = "url"
)

// CatalogLocation is a location in the configuration.
type CatalogLocation struct {
	// Type is one of the constants; Target is absolute for a file, and may have patterns.
	Type, Target string
	// Rules, if not empty, replace those of the catalog for this location.
	Rules []CatalogRule
}

// XRDTemplates is the provider of entities that generators wrote to files.
type XRDTemplates struct {
	Enabled bool
	// Directory is the folder with the files.
	Directory string
	// Watch enables watching the files for changes.
	Watch bool
	// Frequency is the time between two reads.
	Frequency time.Duration
}

func (c *Catalog) read(m *keys.Map) {
	readCatalogRules(m, "rules", &c.Rules)
	m.List("locations", func(m *keys.Map) {
		if l, ok := readLocation(m); ok {
			c.Locations = append(c.Locations, l)
		}
	})
	c.interval(m)
	m.Duration("uidRetention", &c.UIDRetention, 0)
	m.Strings("locationTypes", &c.LocationTypes, func(s string) string {
		if s == LocationFile || s == LocationURL {
			return ""
		}
		return LocationFile + " or " + LocationURL
	})
	m.Never("readonly", "write locationTypes: [], and permission.rules that deny catalog.entity.delete and catalog.location.delete")
	m.Map("providers", func(m *keys.Map) {
		m.Map("xrdTemplates", c.XRDTemplates.read)
		m.NoEffect(m.Rest("provider")...)
	})
	m.PassOver("import")
	m.NoEffect("orphanStrategy", "orphanProviderStrategy", "stitchingStrategy", "disableRelationsCompatibility", "useUrlReadersSearch",
		"processors", "defaultOwner")
}

// interval reads how often locations are read. Backstage can disable it.
func (c *Catalog) interval(m *keys.Map) {
	const key = "processingInterval"
	if n := m.Raw(key); n != nil && n.Kind == tree.Bool && n.Text == "false" {
		m.ReportValue(rule.Unsupported, key, "write a long time, such as { days: 1 }",
			"%s: locations that are never read again are not supported", m.PathTo(key))
		m.Ignore(key)
		return
	}
	m.Duration(key, &c.Interval, time.Second)
}

// readCatalogRules reads which kinds of entity are allowed. A list in the configuration
// replaces the default.
func readCatalogRules(m *keys.Map, key string, to *[]CatalogRule) {
	if m.Raw(key).IsList() {
		*to = nil
	}
	if m.Describing() {
		*to = nil
	}
	m.List(key, func(m *keys.Map) {
		rule := CatalogRule{}
		m.Require("allow", "write a list of kinds, such as [Component, API]")
		m.Strings("allow", &rule.Allow, wantKind)
		m.Unsupported("move the rule to its entry in catalog.locations", "locations")
		*to = append(*to, rule)
	})
	if m.Out.Has(key) || len(*to) == 0 {
		return
	}
	out := tree.Arr()
	for _, rule := range *to {
		out.Items = append(out.Items, tree.Obj(tree.F("allow", keys.List(rule.Allow))))
	}
	m.Out.Set(key, out)
}

// readLocation reads one location. It returns false if the location cannot be used.
func readLocation(m *keys.Map) (CatalogLocation, bool) {
	l := CatalogLocation{}
	m.Require("type", "write type: "+LocationFile+" or type: "+LocationURL)
	m.Choice("type", &l.Type, LocationFile, LocationURL)
	m.Require("target", "write the path of a file, or an address")
	v, text, ok := m.Str("target")
	if ok {
		ok = l.Type == LocationFile && isPattern(v, text) || l.Type == LocationURL && isLocationURL(v, text)
	}
	if ok {
		l.Target = text
		if l.Type == LocationFile {
			l.Target = v.At.Absolute(text)
		}
	}
	m.Done("target", "path or url", tree.OptStr(l.Target))
	readCatalogRules(m, "rules", &l.Rules)
	return l, ok
}

// isPattern checks a path, and reports invalid patterns.
func isPattern(v input.Value, text string) bool {
	if _, err := path.Match(filepath.ToSlash(text), ""); err != nil {
		v.Wrong("a path or pattern", "close each [ with ], or write \\[ for a literal [")
		return false
	}
	return v.IsPath(text)
}

func (x *XRDTemplates) read(m *keys.Map) {
	x.Enabled = m.Given()
	m.Flag("enabled", &x.Enabled)
	m.FilePath("sourceDirectory", &x.Directory)
	m.Flag("watchForChanges", &x.Watch)
	m.Map("schedule", func(m *keys.Map) {
		m.Duration("frequency", &x.Frequency, time.Second)
		m.NoEffect("timeout", "initialDelay", "scope")
	})
	if x.Enabled && m.Present() {
		m.Require("sourceDirectory", "write the path of the folder that generators write entities to")
	}
}
