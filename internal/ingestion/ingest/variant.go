package ingest

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// variant is a running variant.
type variant struct {
	*Variant
	in *Ingest
	// sealed is a hash of the settings.
	sealed string
}

func newVariant(in *Ingest, p *Variant) *variant {
	if p.Log == nil {
		p.Log = slog.New(slog.DiscardHandler)
	}
	if p.Detection.Method == "" {
		p.Detection.Method = ByVersion
	}
	out := &variant{Variant: p, in: in}
	out.sealed = short(out.settings())[:8]
	return out
}

// target is one source: a cluster or a folder as a variant reads it.
type target struct {
	name    string
	variant *variant
	// at is the display name of the cluster or folder; cluster says that it is a cluster.
	at      string
	cluster bool
	// url is that of the cluster.
	url string
	// sealed is a hash of the settings and of the cluster's URL.
	sealed string
	every  time.Duration
	// settle is how long a file must be unchanged before missing objects are removed.
	settle time.Duration
	// often says that it is scanned so often that scans without changes are not recorded.
	often bool
	// scan reads the target. follow, which may be nil, watches it until ctx ends.
	scan   func(ctx context.Context, s *scan) error
	follow func(ctx context.Context)
	// busy is held while the target is read, so that the next reader finds the marks of
	// what was seen.
	busy chan struct{}
	// away is when the marks could last not be loaded or saved; guarded by busy.
	away time.Time
	// heard counts how often a watch found a list to be readable.
	heard atomic.Int64
}

// lock waits until no other goroutine reads the target.
func (p *target) lock(ctx context.Context) error {
	select {
	case p.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *target) unlock() { <-p.busy }

// caught keeps a panic while watching a target from ending the process. It is deferred.
func (in *Ingest) caught(p *target) {
	if v := recover(); v != nil {
		in.warn(p.variant.Log, "panic "+p.name, "watch panicked; changes wait for the next scheduled scan", "source", p.name, "error", fmt.Sprint(v))
	}
}

// The parts of target names after the variant's name.
const (
	folders   = "sources/"
	workloads = "/workloads"
)

// unanswered is how long a scan waits for an unresponsive server. The queue retries,
// and health is to be right soon.
const unanswered = 5 * time.Second

// targets returns the targets of a variant.
func (p *variant) targets() []*target {
	var out []*target
	for i := range p.Clusters {
		settings := &p.Clusters[i]
		c, err := cluster.Connect(*settings, cluster.Options{Log: p.Requests, Patience: unanswered, PageSize: pageSize, Decoding: p.in.decoding})
		if p.Definitions {
			pl := p.target(settings.Name, "", p.Every)
			pl.inCluster(c)
			d := &definitions{target: pl, cluster: c, served: make(chan []list, 1)}
			pl.scan, pl.follow = d.scan, d.follow
			out = append(out, pl.unless(err))
		}
		if p.Workloads {
			pl := p.target(settings.Name, workloads, p.WorkloadsEvery)
			pl.often = true
			pl.inCluster(c)
			w := &labelled{target: pl, cluster: c}
			pl.scan = w.scan
			out = append(out, pl.unless(err))
		}
	}
	for i := range p.Folders {
		f := &folder{Folder: &p.Folders[i]}
		pl := p.target(f.Name, "", p.Every)
		pl.name = p.Name + "/" + folders + f.Name
		f.place, pl.settle = pl, f.Settle
		pl.scan = f.scan
		if f.Watch != nil {
			pl.follow = f.follow
		}
		out = append(out, pl)
	}
	return out
}

func (p *variant) target(at, suffix string, every time.Duration) *target {
	return &target{name: p.Name + "/" + at + suffix, variant: p, at: at, every: every, busy: make(chan struct{}, 1), sealed: p.sealed}
}

// inCluster makes p a target in a cluster; c is nil if the cluster cannot be connected
// to.
func (p *target) inCluster(c *cluster.Cluster) {
	p.cluster = true
	if c != nil {
		p.url = c.URL()
		p.sealed = short(p.variant.sealed + p.url)[:8]
	}
}

// unless makes a target with a connection error return it from every scan.
func (p *target) unless(err error) *target {
	if err != nil {
		p.scan = func(context.Context, *scan) error { return err }
		p.follow = nil
	}
	return p
}

// refuse returns why the variant does not select a definition; empty if it does.
func (p *variant) refuse(d *xrd.Definition) string {
	if ok, why := p.Profile.Admit(d); !ok {
		return why
	}
	if ok, why := p.Filter.Admit(d); !ok {
		return why
	}
	return ""
}

// refuseAt is refuse for a definition of which only the metadata is known: it returns
// an empty reason where the rest would be needed.
func (p *variant) refuseAt(res cluster.Resource, item cluster.Item) string {
	n := metadata(item)
	// The API group determines the vocabulary of the definition.
	n.Set("apiVersion", tree.Str(res.Group+"/"+res.Version))
	if _, group, ok := cut(item.Name); ok {
		n.Set("spec", tree.Obj(tree.F("group", tree.Str(group))))
	}
	d := xrd.NewDefinition(n, xrd.Origin{})
	profile := p.Profile
	profile.Modern = false
	if ok, why := profile.Admit(d); !ok {
		return why
	}
	if ok, why := p.Filter.Admit(d); !ok {
		return why
	}
	return ""
}

// settings returns everything, besides the objects, that the entities of the variant
// depend on.
func (p *variant) settings() string {
	o := p.Engine
	o.Now, o.Forms = time.Time{}, nil
	return fmt.Sprintf("%s %+v %+v %v %s", p.in.Build, o, p.Profile, p.Namespaces, p.filterText())
}

func (p *variant) filterText() string {
	f := &p.Filter
	return fmt.Sprintf("%s|%s|%v|%v", f.Labels, f.Annotations, f.Groups, f.Exclude)
}

// engine returns an engine for objects found at the given time, and its transformer.
func (p *variant) engine(found time.Time, forms engine.FormCache) (*engine.Engine, engine.Transformer) {
	o := p.Engine
	o.Now, o.Forms = found, forms
	return p.Extension.Engine(p.Profile, o)
}
