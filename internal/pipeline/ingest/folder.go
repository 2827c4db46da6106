package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"example.dev/ingestor/finding"
	"example.dev/ingestor/internal/state"
	"example.dev/ingestor/tree"
	"example.dev/ingestor/xrd"
)

// folder reads a source without a cluster. It has neither versions nor times of
// objects, so that change detection goes by their content.
type folder struct {
	*Folder
	place *place
}

// scan reads the whole source. If anything of it cannot be read, nothing is
// taken for gone.
func (f *folder) scan(ctx context.Context, s *scan) error {
	set, err := f.Source.Read(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.note(set.Findings)
	s.found = len(set.Definitions)
	objects := f.objects(set)
	if err == nil && finding.Count(set.Findings, finding.Error) > 0 {
		err = fmt.Errorf("cannot read all of source %q: %s", f.Name, firstError(set.Findings))
	}
	if e := f.take(ctx, s, objects, err == nil); e != nil {
		return e
	}
	s.ended(listFolder, listed{count: len(objects), err: err})
	return nil
}

// firstError is what is wrong, with its place.
func firstError(fs []finding.Finding) string {
	for _, f := range fs {
		if f.Severity == finding.Error {
			return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Pos.Line, f.Pos.Column, f.Message)
		}
	}
	return ""
}

// objects makes objects of what was read.
func (f *folder) objects(set *xrd.Set) []state.Object {
	var out []state.Object
	seen := map[string]int{}
	add := func(o state.Object, about *xrd.Object) {
		key := strings.Join([]string{about.Kind, about.Namespace, about.Name}, " ")
		if about.Kind != xrd.KindDefinition {
			key = about.Group() + " " + key
		}
		if n := seen[key]; n > 0 {
			// Of two of one name both are kept, and the engine chooses.
			key = fmt.Sprintf("%s #%d", key, n+1)
		}
		seen[key]++
		o.Source, o.List, o.Key = f.place.name, listFolder, key
		out = append(out, o)
	}
	for _, d := range set.Definitions {
		// It cannot fail: nothing of it is asked of a server.
		o, _ := f.place.part.definition(d.Node, d.Origin)
		if o.Unit == "" {
			sum := sha256.Sum256(tree.AppendCanonical(nil, d.Node))
			o.Unit = "unnamed-" + hex.EncodeToString(sum[:8])
		}
		add(o, &d.Object)
	}
	for _, c := range set.Compositions {
		add(composition(c.Node, c.Origin), &c.Object)
	}
	for _, o := range set.Others {
		add(composite(o.Node, o.Origin), o)
	}
	return out
}

// take has the mirror know what was read.
func (f *folder) take(ctx context.Context, s *scan, objects []state.Object, complete bool) error {
	known, err := f.place.part.in.Memory.Known(ctx, s.name, listFolder)
	if err != nil {
		return err
	}
	o := state.Observation{Source: s.name, List: listFolder, Complete: complete}
	set := map[string]string{}
	for _, x := range objects {
		mark := s.seal(short(string(x.Note) + string(x.Body)))
		o.Keys = append(o.Keys, x.Key)
		set[x.Key] = mark
		delete(known, x.Key)
		if s.part.Detection.Enabled && s.marks[markKey(listFolder, x.Key)] == mark {
			continue
		}
		o.Put = append(o.Put, x)
	}
	s.dirty, err = f.place.part.in.Memory.Observe(ctx, o)
	if err != nil {
		return err
	}
	var gone []string
	for key := range known {
		if complete {
			gone = append(gone, key)
		}
	}
	s.remember(listFolder, set, gone)
	return nil
}

// follow scans again whenever something changed.
func (f *folder) follow(ctx context.Context) {
	in := f.place.part.in
	changed := func() {
		if _, err := in.Scan(ctx, f.place.name, TriggerWatch); err != nil && ctx.Err() == nil {
			in.again(ctx, f.place)
		}
	}
	for ctx.Err() == nil {
		err := f.Watch(ctx, changed)
		if ctx.Err() != nil {
			return
		}
		in.warn(f.place.part.Log, "watch "+f.place.name, "source cannot be watched, so changes wait for the schedule",
			"source", f.place.name, "error", err)
		pause(ctx, f.place.every)
	}
}
