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

// variant is a variant that runs.
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

// target is one source: what a part sees of a cluster or a folder.
type target struct {
	name    string
	variant *variant
	// at is what people call the cluster or folder; cluster says that it is one.
	at      string
	cluster bool
	// url is the cluster's.
	url string
	// sealed is a hash of the settings, and of where the place is.
	sealed string
	every  time.Duration
	// settle is how long files are waited for.
	settle time.Duration
	// often says that it is scanned so often that nobody wants to read of scans
	// that brought nothing new.
	often bool
	// scan reads the place; follow, which may be nil, reads on as it changes
	// until ctx ends.
	scan   func(ctx context.Context, s *scan) error
	follow func(ctx context.Context)
	// busy is held while the place is read: whoever comes next finds the marks
	// of what was seen.
	busy chan struct{}
	// away is when the memory of change detection last did not answer; it
	// belongs to whoever holds busy.
	away time.Time
	// heard counts how often a list was found to be readable by following it.
	heard atomic.Int64
	// asking says that somebody sees to it that the place is scanned.
	asking atomic.Bool
}

// lock waits until nobody else reads the place.
func (p *target) lock(ctx context.Context) error {
	select {
	case p.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *target) unlock() { <-p.busy }

// caught keeps a panic while a place is followed from ending the process. It is
// deferred.
func (in *Ingest) caught(p *target) {
	if v := recover(); v != nil {
		in.warn(p.variant.Log, "panic "+p.name, "following a source failed; the schedule goes on", "source", p.name, "error", fmt.Sprint(v))
	}
}

// The names of places behind the part's own.
const (
	folders   = "sources/"
	workloads = "/workloads"
)

// unanswered is how long a server that does not answer is waited for within a
// scan. The queue tries again, and health is to tell the truth soon.
const unanswered = 5 * time.Second

// targets returns the places of a part.
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

// inCluster makes it a place in a cluster, which is nil if there is no way to it.
func (p *target) inCluster(c *cluster.Cluster) {
	p.cluster = true
	if c != nil {
		p.url = c.URL()
		p.sealed = short(p.variant.sealed + p.url)[:8]
	}
}

// unless makes a place that cannot be reached say so at every scan.
func (p *target) unless(err error) *target {
	if err != nil {
		p.scan = func(context.Context, *scan) error { return err }
		p.follow = nil
	}
	return p
}

// refuse says why the part does not take a definition; empty if it does.
func (p *variant) refuse(d *xrd.Definition) string {
	if ok, why := p.Profile.Admit(d); !ok {
		return why
	}
	if ok, why := p.Filter.Admit(d); !ok {
		return why
	}
	return ""
}

// refuseAt is refuse for a definition of which no more than the metadata is
// known: it says nothing where the rest would have to be seen.
func (p *variant) refuseAt(res cluster.Resource, item cluster.Item) string {
	n := metadata(item)
	// It tells in which words the definition speaks.
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

// settings are what the entities of the part depend on besides the objects.
func (p *variant) settings() string {
	o := p.Engine
	o.Now, o.Forms = time.Time{}, nil
	return fmt.Sprintf("%s %+v %+v %v %s", p.in.Build, o, p.Profile, p.Namespaces, p.filterText())
}

func (p *variant) filterText() string {
	f := &p.Filter
	return fmt.Sprintf("%s|%s|%v|%v", f.Labels, f.Annotations, f.Groups, f.Exclude)
}

// engine returns an engine for what was found at a moment, and what transforms.
func (p *variant) engine(found time.Time, forms engine.FormCache) (*engine.Engine, engine.Transformer) {
	o := p.Engine
	o.Now, o.Forms = found, forms
	return p.Extension.Engine(p.Profile, o)
}
