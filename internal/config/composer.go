package config

import (
	"log/slog"
	"regexp"
	"strings"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/config/input"
	"example.dev/ingestor/internal/config/keys"
	"example.dev/ingestor/internal/config/rule"
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

func (t *Tracking) read(m *keys.Map) {
	m.Map("compositions", func(m *keys.Map) { m.Flag("enabled", &t.Compositions) })
	m.Map("composites", func(m *keys.Map) { m.Flag("enabled", &t.Composites) })
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
	// Delivery is one of the constants.
	Delivery string
	// GitProvider is where Templates for Backstage open a change request.
	GitProvider form.GitProvider
}

// Whose actions and fields Templates use.
const (
	DeliveryPortal    = "portal"
	DeliveryBackstage = "backstage"
)

func (t *TemplateGeneration) read(m *keys.Map) {
	m.Flag("generateApiEntities", &t.GenerateAPIEntities)
	m.Flag("includeCompositionDetails", &t.IncludeCompositionDetails)
	m.Flag("addGitOpsActions", &t.AddGitOpsActions)
	m.Text("defaultNamespace", &t.DefaultNamespace, wantNamespace)
	m.Choice("delivery", &t.Delivery, DeliveryPortal, DeliveryBackstage)
	provider := string(t.GitProvider)
	m.Choice("gitProvider", &provider, string(form.GitHub), string(form.GitLab), string(form.BitbucketServer), string(form.BitbucketCloud))
	t.GitProvider = form.GitProvider(provider)
	if t.Delivery == DeliveryBackstage && t.AddGitOpsActions {
		m.ReportKey(rule.NoEffect, "addGitOpsActions", "remove it", "%s has no effect with delivery: %s, which always opens a change request", m.PathTo("addGitOpsActions"), DeliveryBackstage)
	}
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

func (c *Composer) read(m *keys.Map, clusters *clusters, useSource func(name string) bool) {
	c.Enabled = m.Given()
	m.Flag("enabled", &c.Enabled)
	m.Text("defaultOwner", &c.DefaultOwner, func(s string) string { return wantReference(s, "Group") })
	m.Text("defaultSystem", &c.DefaultSystem, func(s string) string { return wantReference(s, entity.KindSystem) })
	m.Map("schedule", func(m *keys.Map) {
		m.Duration("frequency", &c.Schedule.Frequency, time.Second)
		m.Duration("timeout", &c.Schedule.Timeout, time.Second)
	})
	m.Flag("watch", &c.Watch)
	clusters.readList(m, "clusters", &c.Clusters, map[string]input.Place{})
	readSources(m, "sources", &c.Sources, useSource)
	m.Flag("ingestAll", &c.IngestAll)
	c.Tracking.read(m)
	m.Map("xrdFilters", func(m *keys.Map) {
		readSelector(m, "labelSelector", &c.Filter.Labels, selector.Parse)
		readSelector(m, "annotationSelector", &c.Filter.Annotations, selector.ParseAnnotations)
		m.Strings("groups", &c.Filter.Groups, nil)
		m.Strings("exclude", &c.Filter.Exclude, nil)
		m.Strings("namespaces", &c.Namespaces, wantNamespace)
	})
	m.Map("templateGeneration", c.Templates.read)
	m.Flag("generateDayTwoTemplates", &c.DayTwo)
	if c.DayTwo && c.Templates.Delivery == DeliveryBackstage {
		m.ReportKey(rule.NoEffect, "generateDayTwoTemplates", "remove it, or use the package for Backstage with delivery: "+DeliveryPortal,
			"%s has no effect with templateGeneration.delivery: %s: actions of Backstage cannot read a resource", m.PathTo("generateDayTwoTemplates"), DeliveryBackstage)
	}
	m.Map("caching", func(m *keys.Map) {
		m.Flag("enabled", &c.Caching.Enabled)
		m.Seconds("ttl", &c.Caching.TTL, 1, 366*day)
		m.Number("maxSize", &c.Caching.MaxSize, 1, 1_000_000)
	})
	m.Map("processing", func(m *keys.Map) {
		m.Number("batchSize", &c.Processing.BatchSize, 1, 10_000)
		m.Number("parallelism", &c.Processing.Parallelism, 1, 1000)
		m.Number("retryAttempts", &c.Processing.RetryAttempts, 0, 100)
		m.Milliseconds("retryDelay", &c.Processing.RetryDelay, 0, 1000*60*60)
	})
	m.Map("changeDetection", func(m *keys.Map) {
		m.Flag("enabled", &c.ChangeDetection.Enabled)
		m.Choice("method", &c.ChangeDetection.Method, MethodResourceVersion, MethodHash, MethodTimestamp)
		m.Choice("storage", &c.ChangeDetection.Storage, StorageMemory, StorageDatabase, StorageRedis)
	})
	m.Map("massRemoval", func(m *keys.Map) {
		m.Number("percent", &c.MassRemoval.Percent, 1, 100)
		m.Number("minimum", &c.MassRemoval.Minimum, 1, 1_000_000)
		m.Duration("wait", &c.MassRemoval.Wait, 0)
	})
	m.Map("logging", func(m *keys.Map) {
		readLevel(m, "level", &c.Logging.Level)
		m.Flag("includeStackTraces", &c.Logging.IncludeStackTraces)
		m.Flag("logRequests", &c.Logging.LogRequests)
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

// readLevel reads the log level.
func readLevel(m *keys.Map, key string, to *slog.Level) {
	name := strings.ToLower(to.String())
	m.Choice(key, &name, "debug", "info", "warn", "error")
	// slog accepts all of these words.
	_ = to.UnmarshalText([]byte(name))
}

// readSelector reads a selector of labels or annotations; an empty one selects
// everything.
func readSelector(m *keys.Map, key string, to *selector.Selector, parse func(string) (selector.Selector, error)) {
	const hint = "write it as in team=payments,env in (dev, test),!legacy"
	v := m.Get(key)
	if v.Node != nil && v.Node.Kind != tree.String {
		v.WrongType("a selector", "write it as text, such as team=payments,env in (dev, test),!legacy")
		v.Node = nil
	}
	if v.Node != nil {
		s, err := parse(v.Node.Text)
		switch {
		case err == nil:
			*to = s
		case v.Origin() != "":
			v.Wrong("a selector", hint)
		default:
			v.Report(rule.Value, hint, "%s: %v", v.Path, err)
		}
	}
	m.Done(key, "selector", tree.OptStr(to.String()))
}
