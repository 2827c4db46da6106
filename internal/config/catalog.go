package config

import (
	"path"
	"path/filepath"
	"time"

	"example.dev/ingestor/document/tree"
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

func (c *Catalog) read(o *object) {
	o.catalogRules("rules", &c.Rules)
	o.list("locations", func(o *object) {
		if l, ok := o.location(); ok {
			c.Locations = append(c.Locations, l)
		}
	})
	c.interval(o)
	o.duration("uidRetention", &c.UIDRetention, 0)
	o.strings("locationTypes", &c.LocationTypes, func(s string) string {
		if s == LocationFile || s == LocationURL {
			return ""
		}
		return LocationFile + " or " + LocationURL
	})
	o.never("readonly", "write locationTypes: [], and permission.rules that deny catalog.entity.delete and catalog.location.delete")
	o.object("providers", func(o *object) {
		o.object("xrdTemplates", c.XRDTemplates.read)
		o.noEffect(o.rest("provider")...)
	})
	o.passOver("import")
	o.noEffect("orphanStrategy", "orphanProviderStrategy", "stitchingStrategy", "disableRelationsCompatibility", "useUrlReadersSearch",
		"processors", "defaultOwner")
}

// interval reads how often locations are read. Backstage can disable it.
func (c *Catalog) interval(o *object) {
	const key = "processingInterval"
	if f := o.field(key); f != nil && f.Value.Kind == tree.Bool && f.Value.Text == "false" {
		o.r.report(RuleUnsupported, o.r.placeOf(f.Value), o.pathTo(key), "write a long time, such as { days: 1 }",
			"%s: locations that are never read again are not supported", o.pathTo(key))
		o.idle = append(o.idle, key)
		return
	}
	o.duration(key, &c.Interval, time.Second)
}

// catalogRules reads which kinds of entity are allowed. A list in the configuration
// replaces the default.
func (o *object) catalogRules(key string, to *[]CatalogRule) {
	if o.has(key) && o.field(key).Value.IsList() {
		*to = nil
	}
	if o.r.describing {
		*to = nil
	}
	o.list(key, func(o *object) {
		rule := CatalogRule{}
		o.require("allow", "write a list of kinds, such as [Component, API]")
		o.strings("allow", &rule.Allow, wantKind)
		o.unsupported("move the rule to its entry in catalog.locations", "locations")
		*to = append(*to, rule)
	})
	if o.out.Has(key) || len(*to) == 0 {
		return
	}
	out := tree.Arr()
	for _, rule := range *to {
		out.Items = append(out.Items, tree.Obj(tree.F("allow", list(rule.Allow))))
	}
	o.out.Set(key, out)
}

// location reads one location. It returns false if the location cannot be used.
func (o *object) location() (CatalogLocation, bool) {
	l := CatalogLocation{}
	o.require("type", "write type: "+LocationFile+" or type: "+LocationURL)
	o.choice("type", &l.Type, LocationFile, LocationURL)
	o.require("target", "write the path of a file, or an address")
	v, text, ok := o.str("target")
	if ok {
		ok = l.Type == LocationFile && o.r.isPattern(v, text) || l.Type == LocationURL && o.r.isLocationURL(v, text)
	}
	if ok {
		l.Target = text
		if l.Type == LocationFile {
			l.Target = o.r.absolute(text, v.at)
		}
	}
	o.done("target", "path or url", tree.OptStr(l.Target))
	o.catalogRules("rules", &l.Rules)
	return l, ok
}

// isPattern checks a path, and reports invalid patterns.
func (r *reader) isPattern(v value, text string) bool {
	if _, err := path.Match(filepath.ToSlash(text), ""); err != nil {
		r.wrong(v, "a path or pattern", "close each [ with ], or write \\[ for a literal [")
		return false
	}
	return r.isPath(v, text)
}

func (x *XRDTemplates) read(o *object) {
	x.Enabled = o.given()
	o.flag("enabled", &x.Enabled)
	o.filePath("sourceDirectory", &x.Directory)
	o.flag("watchForChanges", &x.Watch)
	o.object("schedule", func(o *object) {
		o.duration("frequency", &x.Frequency, time.Second)
		o.noEffect("timeout", "initialDelay", "scope")
	})
	if x.Enabled && o.node != nil {
		o.require("sourceDirectory", "write the path of the folder that generators write entities to")
	}
}
