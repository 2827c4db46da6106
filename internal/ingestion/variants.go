package ingestion

import (
	"context"
	"log/slog"
	"time"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/ingestion/marks"
	"example.dev/ingestor/internal/ingestion/unit"
	"example.dev/ingestor/internal/ingestion/variant"
	"example.dev/ingestor/source/file"
	"example.dev/ingestor/source/git"
)

// variants returns the variants of the configuration. The Crossplane ingestor comes first:
// definitions that it selects are left to it.
func (o *Options) variants() []variant.Options {
	return []variant.Options{o.composer(), o.cluster()}
}

func (o *Options) composer() variant.Options {
	c := &o.Config.Composer
	profile, filter := o.Config.Selection(engine.ComposerIngestor)
	p := variant.Options{
		Name: config.SectionComposer, Extension: o.Extension, Profile: profile, Engine: o.Config.EngineOptions(engine.ComposerIngestor),
		Filter: filter, Namespaces: c.Namespaces, Watch: c.Watch,
		NoCompositions: !c.Tracking.Compositions, NoComposites: !c.Tracking.Composites,
		Every: c.Schedule.Frequency, Timeout: c.Schedule.Timeout,
		Detection: o.detection(), MassRemoval: variant.MassRemoval(c.MassRemoval),
		Log: o.log(), Stacks: c.Logging.IncludeStackTraces,
		// The clusters of a disabled variant are still listed; without definitions nothing is
		// read from them.
		Clusters: c.Clusters,
	}
	if c.Logging.LogRequests {
		p.Requests = slog.New(leveled{o.Log.Handler(), c.Logging.Level, true})
	}
	if !c.Enabled {
		return p
	}
	p.Definitions = true
	for _, s := range c.Sources {
		p.Folders = append(p.Folders, folder(s, c.Watch, p.Log))
	}
	return p
}

// log returns the logger of the Crossplane ingestor and of what both variants share.
func (o *Options) log() *slog.Logger {
	return slog.New(leveled{o.Log.Handler(), o.Config.Composer.Logging.Level, false})
}

func (o *Options) cluster() variant.Options {
	c := &o.Config.ClusterIngestor
	profile, filter := o.Config.Selection(engine.ClusterIngestor)
	p := variant.Options{
		Name: config.SectionClusterIngestor, Extension: o.Extension, Profile: profile, Engine: o.Config.EngineOptions(engine.ClusterIngestor),
		Filter: filter, Watch: c.Watch, Every: c.XRDs.Frequency, WorkloadsEvery: c.Components.Frequency,
		// The contract has no separate settings for this variant.
		Timeout: o.Config.Composer.Schedule.Timeout, Detection: o.detection(), MassRemoval: variant.MassRemoval(o.Config.Composer.MassRemoval),
		NoCompositions: !c.Tracking.Compositions, NoComposites: !c.Tracking.Composites,
		Log: o.Log, Clusters: o.Config.Orchestrator.Clusters,
	}
	if !c.Enabled {
		return p
	}
	p.Definitions, p.Workloads = c.XRDs.Enabled, c.Components.Enabled
	return p
}

func (o *Options) detection() variant.Detection {
	c := o.Config.Composer.ChangeDetection
	return variant.Detection{Enabled: c.Enabled, Method: c.Method, Marks: o.marks(c.Storage)}
}

// marks returns the storage of change detection.
func (o *Options) marks(storage string) marks.Marks {
	switch {
	case storage == config.StorageDatabase:
		return marks.NewDatabase(o.Mirror)
	case storage == config.StorageRedis && o.Redis != nil:
		return o.Redis.Marks()
	}
	return marks.NewMemory()
}

func (o *Options) caching() unit.Caching {
	c := o.Config.Composer.Caching
	out := unit.Caching{Enabled: c.Enabled, TTL: c.TTL, MaxSize: c.MaxSize}
	if o.Redis != nil {
		out.Shared = o.Redis
	}
	return out
}

// folder returns a source that is not a cluster. A repository cannot be watched; it is
// polled on the schedule.
func folder(s config.Source, watch bool, log *slog.Logger) variant.Folder {
	skipped := func(path, why string) {
		log.Debug("file skipped", "source", config.SectionComposer+"/sources/"+s.Name, "file", path, "why", why)
	}
	if s.Type == config.SourceGit {
		opts := repository(s)
		opts.Skipped = skipped
		return variant.Folder{Name: s.Name, Source: git.New(s.Repo, opts)}
	}
	src := file.New([]string{s.Path}, file.Options{Recursive: s.Recursive, Skipped: skipped})
	f := variant.Folder{Name: s.Name, Source: src, Settle: Settle, Stamp: file.Stamp}
	if watch {
		f.Watch = src.Watch
	}
	return f
}

// Settle is how long a file that lost objects must be unchanged before they are
// removed.
const Settle = 2 * time.Second

// repository returns the options for reading a repository.
func repository(s config.Source) git.Options {
	return git.Options{Ref: s.Branch, Path: s.Path, Auth: git.Auth{
		Username: s.Username, Token: s.Token, TokenFile: s.TokenFile,
		SSHKeyFile: s.SSHKeyFile, KnownHostsFile: s.KnownHostsFile, CAFile: s.CAFile,
	}}
}

// leveled is a handler with its own level.
type leveled struct {
	slog.Handler
	least slog.Level
	// raised logs all records, with at least the level info.
	raised bool
}

// Enabled implements slog.Handler.
func (l leveled) Enabled(_ context.Context, level slog.Level) bool {
	return l.raised || level >= l.least
}

// Handle implements slog.Handler.
func (l leveled) Handle(ctx context.Context, r slog.Record) error {
	if l.raised && r.Level < slog.LevelInfo {
		r.Level = slog.LevelInfo
	}
	return l.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (l leveled) WithAttrs(attrs []slog.Attr) slog.Handler {
	l.Handler = l.Handler.WithAttrs(attrs)
	return l
}

// WithGroup implements slog.Handler.
func (l leveled) WithGroup(name string) slog.Handler {
	l.Handler = l.Handler.WithGroup(name)
	return l
}
