package config

import (
	"log/slog"
	"regexp"
	"time"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/source"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/selector"
)

// Composer is the section composerIngestor: variant A of the service.
type Composer struct {
	// Enabled is true if the section exists and does not disable it.
	Enabled                     bool
	DefaultOwner, DefaultSystem string
	Schedule                    Schedule
	// Watch enables watches in addition to scheduled scans.
	Watch    bool
	Clusters []source.Cluster
	Sources  []Source
	// Filter selects definitions.
	Filter xrd.Filter
	// IngestAll also ingests definitions without the label.
	IngestAll bool
	Tracking  Tracking
	// Namespaces are those whose composites and claims are read; none means all.
	Namespaces []string
	Templates  TemplateGeneration
	// DayTwo generates Templates that update and delete existing resources.
	DayTwo          bool
	Caching         Caching
	Processing      Processing
	ChangeDetection ChangeDetection
	MassRemoval     MassRemoval
	Logging         Logging
}

// Tracking defines what is read from a source besides definitions.
type Tracking struct {
	// Compositions and Composites enable reading of those; composites include claims.
	Compositions, Composites bool
}

func (t *Tracking) read(o *object) {
	o.object("compositions", func(o *object) { o.flag("enabled", &t.Compositions) })
	o.object("composites", func(o *object) { o.flag("enabled", &t.Composites) })
}

// Schedule is the interval and the timeout of a job.
type Schedule struct {
	Frequency, Timeout time.Duration
}

// TemplateGeneration defines what is generated from a definition.
type TemplateGeneration struct {
	GenerateAPIEntities       bool
	IncludeCompositionDetails bool
	AddGitOpsActions          bool
	// DefaultNamespace is the default in a form.
	DefaultNamespace string
}

// Caching configures a cache.
type Caching struct {
	Enabled bool
	TTL     time.Duration
	// MaxSize is the maximum number of entries.
	MaxSize int
}

// Processing configures batches, concurrency and retries.
type Processing struct {
	BatchSize, Parallelism, RetryAttempts int
	RetryDelay                            time.Duration
}

// MassRemoval defines how many objects of a source may disappear at once without a
// confirmation: at most Percent of them, or fewer than Minimum.
type MassRemoval struct {
	Percent, Minimum int
	// Wait is the minimum time until the next scan can confirm the removal.
	Wait time.Duration
}

// The methods of change detection.
const (
	MethodResourceVersion = "resourceVersion"
	MethodHash            = "hash"
	MethodTimestamp       = "timestamp"
)

// The storages of change detection.
const (
	StorageMemory   = "memory"
	StorageDatabase = "database"
	StorageRedis    = "redis"
)

// ChangeDetection configures how changes of objects are detected.
type ChangeDetection struct {
	Enabled bool
	// Method and Storage are each one of the constants.
	Method, Storage string
}

// Logging configures the log.
type Logging struct {
	Level              slog.Level
	IncludeStackTraces bool
	LogRequests        bool
}

// day is the number of seconds in a day.
const day = 24 * 60 * 60

func (c *Composer) read(o *object) {
	c.Enabled = o.given()
	o.flag("enabled", &c.Enabled)
	o.reference("defaultOwner", &c.DefaultOwner, "Group")
	o.reference("defaultSystem", &c.DefaultSystem, entity.KindSystem)
	o.object("schedule", func(o *object) {
		o.duration("frequency", &c.Schedule.Frequency, time.Second)
		o.duration("timeout", &c.Schedule.Timeout, time.Second)
	})
	o.flag("watch", &c.Watch)
	o.clusters("clusters", &c.Clusters, map[string]place{})
	o.sources("sources", &c.Sources)
	o.flag("ingestAll", &c.IngestAll)
	c.Tracking.read(o)
	o.object("xrdFilters", func(o *object) {
		o.selector("labelSelector", &c.Filter.Labels, selector.Parse)
		o.selector("annotationSelector", &c.Filter.Annotations, selector.ParseAnnotations)
		o.strings("groups", &c.Filter.Groups, nil)
		o.strings("exclude", &c.Filter.Exclude, nil)
		o.strings("namespaces", &c.Namespaces, wantNamespace)
	})
	o.object("templateGeneration", func(o *object) {
		o.flag("generateApiEntities", &c.Templates.GenerateAPIEntities)
		o.flag("includeCompositionDetails", &c.Templates.IncludeCompositionDetails)
		o.flag("addGitOpsActions", &c.Templates.AddGitOpsActions)
		o.text("defaultNamespace", &c.Templates.DefaultNamespace, wantNamespace)
	})
	o.flag("generateDayTwoTemplates", &c.DayTwo)
	o.object("caching", func(o *object) {
		o.flag("enabled", &c.Caching.Enabled)
		o.units("ttl", &c.Caching.TTL, time.Second, 1, 366*day)
		o.number("maxSize", &c.Caching.MaxSize, 1, 1_000_000)
	})
	o.object("processing", func(o *object) {
		o.number("batchSize", &c.Processing.BatchSize, 1, 10_000)
		o.number("parallelism", &c.Processing.Parallelism, 1, 1000)
		o.number("retryAttempts", &c.Processing.RetryAttempts, 0, 100)
		o.units("retryDelay", &c.Processing.RetryDelay, time.Millisecond, 0, 1000*60*60)
	})
	o.object("changeDetection", func(o *object) {
		o.flag("enabled", &c.ChangeDetection.Enabled)
		o.choice("method", &c.ChangeDetection.Method, MethodResourceVersion, MethodHash, MethodTimestamp)
		o.choice("storage", &c.ChangeDetection.Storage, StorageMemory, StorageDatabase, StorageRedis)
		o.r.marks = marks{o.keyAt("storage"), o.pathTo("storage")}
	})
	o.object("massRemoval", func(o *object) {
		o.number("percent", &c.MassRemoval.Percent, 1, 100)
		o.number("minimum", &c.MassRemoval.Minimum, 1, 1_000_000)
		o.duration("wait", &c.MassRemoval.Wait, 0)
	})
	o.object("logging", func(o *object) {
		o.level("level", &c.Logging.Level)
		o.flag("includeStackTraces", &c.Logging.IncludeStackTraces)
		o.flag("logRequests", &c.Logging.LogRequests)
	})
}

// namespaceName matches the name of a Kubernetes namespace.
var namespaceName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// wantNamespace returns what a valid name of a namespace looks like, "" if s is one.
func wantNamespace(s string) string {
	if namespaceName.MatchString(s) {
		return ""
	}
	return "the name of a namespace (lower-case letters, digits and dashes, at most 63)"
}
