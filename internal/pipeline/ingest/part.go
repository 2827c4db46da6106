package ingest

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/tree"
	"example.dev/ingestor/xrd"
)

// part is a variant that runs.
type part struct {
	*Part
	in *Ingest
	// sealed is a hash of the settings.
	sealed string
}

func newPart(in *Ingest, p *Part) *part {
	if p.Log == nil {
		p.Log = slog.New(slog.DiscardHandler)
	}
	if p.Detection.Method == "" {
		p.Detection.Method = ByVersion
	}
	out := &part{Part: p, in: in}
	out.sealed = short(out.settings())[:8]
	return out
}

// place is one source: what a part sees of a cluster or a folder.
type place struct {
	name string
	part *part
	// at is what people call the cluster or folder; cluster says that it is one.
	at      string
	cluster bool
	// url is the cluster's.
	url   string
	every time.Duration
	// scan reads the place; follow, which may be nil, reads on as it changes
	// until ctx ends.
	scan   func(ctx context.Context, s *scan) error
	follow func(ctx context.Context)
	// busy is held while the place is read: whoever comes next finds the marks
	// of what was seen.
	busy sync.Mutex
}

// The names of places behind the part's own.
const (
	folders   = "sources/"
	workloads = "/workloads"
)

// places returns the places of a part.
func (p *part) places() []*place {
	var out []*place
	for i := range p.Clusters {
		settings := &p.Clusters[i]
		c, err := cluster.Connect(*settings, cluster.Options{Log: p.Requests})
		if p.Definitions {
			pl := &place{name: p.Name + "/" + settings.Name, part: p, at: settings.Name, cluster: true, url: address(c), every: p.Every}
			d := &definitions{place: pl, cluster: c}
			pl.scan, pl.follow = d.scan, d.follow
			out = append(out, pl.unless(err))
		}
		if p.Workloads {
			pl := &place{name: p.Name + "/" + settings.Name + workloads, part: p, at: settings.Name, cluster: true, url: address(c), every: p.WorkloadsEvery}
			w := &labelled{place: pl, cluster: c}
			pl.scan = w.scan
			out = append(out, pl.unless(err))
		}
	}
	for i := range p.Folders {
		f := &folder{Folder: &p.Folders[i]}
		pl := &place{name: p.Name + "/" + folders + f.Name, part: p, at: f.Name, every: p.Every}
		f.place = pl
		pl.scan = f.scan
		if f.Watch != nil {
			pl.follow = f.follow
		}
		out = append(out, pl)
	}
	return out
}

// unless makes a place that cannot be reached say so at every scan.
func (p *place) unless(err error) *place {
	if err != nil {
		p.scan = func(context.Context, *scan) error { return err }
		p.follow = nil
	}
	return p
}

// refuse says why the part does not take a definition; empty if it does.
func (p *part) refuse(d *xrd.Definition) string {
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
func (p *part) refuseAt(item cluster.Item) string {
	n := metadata(item)
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
func (p *part) settings() string {
	o := p.Engine
	o.Now, o.Forms = time.Time{}, nil
	return fmt.Sprintf("%s %+v %+v %v %s", p.in.Build, o, p.Profile, p.Namespaces, p.filterText())
}

func (p *part) filterText() string {
	f := &p.Filter
	return fmt.Sprintf("%s|%s|%v|%v", f.Labels, f.Annotations, f.Groups, f.Exclude)
}

// engine returns an engine for work that begins now.
func (p *part) engine(now time.Time, forms engine.FormCache) *engine.Engine {
	o := p.Engine
	o.Now, o.Forms = now, forms
	return engine.New(p.Profile, o, engine.Hooks{})
}
