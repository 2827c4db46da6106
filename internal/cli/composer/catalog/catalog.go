// Package catalog is the output directory of export: the files of this run and earlier
// ones, and the Location that lists them.
package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/sink/dir"
	"example.dev/ingestor/words"
)

const (
	// locationName is the name of the Location, and locationFile the name of its
	// file without the extension.
	locationName = "composer-ingestor"
	locationFile = "catalog-info"
)

// Catalog is the output directory of export. Paths are relative to it, with
// slashes.
type Catalog struct {
	dir string
	// listed and left are the files that an earlier run listed, and those that it
	// left behind, as far as they exist and an export wrote them.
	listed, left []string
	// foreign are targets that others have added; they stay.
	foreign []string
	// words is the vocabulary of the earlier Location, if there is one.
	words words.Vocabulary
	there bool
	// Made are the files of this run, and spared the files that this run does not
	// overwrite, because it read less than an earlier run did.
	Made   []string
	spared map[string]bool
	// seen caches the earlier files that were read; nil means that no export wrote
	// the file.
	seen map[string]*Earlier
}

// Open reads the result of an earlier run. It returns an error if the
// Location's file exists and was not written by export.
func Open(root string) (*Catalog, error) {
	c := &Catalog{dir: root, spared: map[string]bool{}, seen: map[string]*Earlier{}}
	in, err := os.OpenRoot(root)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, c.errorf("", err, "set --output to a directory")
	}
	defer func() { _ = in.Close() }() // It was only read.
	const name = locationFile + ".yaml"
	data, err := in.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, c.errorf(name, err, "move it away, or choose another path with --output")
	}
	docs, bad := parser.DecodeBytes(data)
	if len(docs) != 1 || len(bad) > 0 || docs[0].Get("kind").Str() != entity.KindLocation || docs[0].Get("metadata", "name").Str() != locationName {
		return nil, c.errorf(name, errors.New("file exists and was not written by export"), "move it away, or choose another path with --output")
	}
	c.there = true
	c.words = words.Of(docs[0].Get("apiVersion").Str())
	c.listed, c.foreign = ours(in, docs[0].Get("spec", "targets").Strings())
	annotations := words.KeysIn(docs[0].Get("metadata", "annotations").StringMap())
	c.left, _ = ours(in, strings.Fields(annotations[words.AnnotationLeftBehind]))
	return c, nil
}

func (c *Catalog) errorf(name string, err error, hint string) error {
	return &dir.Error{Path: filepath.Join(c.dir, name), Err: err, Hint: hint}
}

// ours splits targets into the paths of files where an export would write them,
// and other targets, unchanged. Such a file that no longer exists is in neither
// list.
func ours(in *os.Root, targets []string) (files, others []string) {
	for _, t := range targets {
		name := path.Clean(t)
		kind, _, nested := strings.Cut(name, "/")
		switch {
		case !nested || !filepath.IsLocal(filepath.FromSlash(name)) || path.Dir(name) != kind || path.Ext(name) != ".yaml":
			others = append(others, t)
		case isRegular(in, name):
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return slices.Compact(files), others
}

// Earlier is an entity that an earlier export wrote.
type Earlier struct {
	key string
	// From are the clusters in which it was found.
	From []string
	// Composite reports whether it is a composite or a claim, which are read only on
	// request.
	Composite bool
}

// earlier returns the entity that an export wrote to a file, cached; nil if the
// file was not written by export, although it has a path that an export would use.
func (c *Catalog) earlier(in *os.Root, name string) *Earlier {
	e, ok := c.seen[name]
	if !ok {
		e = readEarlier(in, name)
		c.seen[name] = e
	}
	return e
}

func readEarlier(in *os.Root, name string) *Earlier {
	f, err := in.Open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // It was only read.
	const most = 16 << 20
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil
	}
	docs, bad := parser.DecodeBytes(data)
	if len(docs) != 1 || len(bad) > 0 {
		return nil
	}
	e, err := entity.Parse(docs[0])
	if err != nil || e.Kind != path.Dir(name) {
		return nil
	}
	annotations := words.KeysIn(e.Metadata.Annotations)
	from := strings.FieldsFunc(annotations[words.AnnotationDiscoveredFrom], func(r rune) bool { return r == ',' || r == ' ' })
	workload := e.Kind == entity.KindComponent && annotations[words.AnnotationClusterID] != "" && slices.ContainsFunc(e.Metadata.Tags, isOurs)
	if annotations[words.AnnotationXRDName] == "" && !workload {
		return nil
	}
	return &Earlier{key: e.Key(), From: from, Composite: annotations[words.AnnotationXRName] != ""}
}

// isOurs reports whether a tag marks an entity as generated by the ingestor.
func isOurs(tag string) bool { return words.In(words.Tag, tag) == words.TagSource }

// Spare removes the entities whose earlier version came from a cluster that could
// not be read completely in this run, which failed reports, so that they are not
// overwritten.
func (c *Catalog) Spare(es []*entity.Entity, failed func(cluster string) bool) ([]*entity.Entity, error) {
	if !c.there {
		return es, nil
	}
	in, err := os.OpenRoot(c.dir)
	if err != nil {
		return nil, c.errorf("", err, "")
	}
	defer func() { _ = in.Close() }() // It was only read.
	spared := map[string]bool{}
	for _, name := range c.listed {
		e := c.earlier(in, name)
		if e != nil && slices.ContainsFunc(e.From, failed) {
			spared[e.key] = true
			c.spared[name] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(es), func(e *entity.Entity) bool { return spared[e.Key()] }), nil
}

func isRegular(in *os.Root, name string) bool {
	info, err := in.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}

// Add records a file that was written.
func (c *Catalog) Add(file string) {
	// Both paths have the same base, so file is below dir.
	rel, err := filepath.Rel(c.dir, file)
	if err == nil {
		c.Made = append(c.Made, filepath.ToSlash(rel))
	}
}

// Plan is what happens to the files.
type Plan struct {
	// targets are the files to list; Kept are those among them that this run did not
	// write.
	targets, Kept []string
	// foreign are targets of others, to list unchanged.
	foreign []string
	// Left are the files to leave behind, Remove the files to delete.
	Left, Remove []string
}

// Plan decides about files that this run did not write: a file whose entity is
// gone leaves the list, any other stays.
func (c *Catalog) Plan(gone func(*Earlier) bool, prune bool) (Plan, error) {
	if !c.there {
		return Plan{targets: c.Made}, nil
	}
	in, err := os.OpenRoot(c.dir)
	if err != nil {
		return Plan{}, c.errorf("", err, "")
	}
	defer func() { _ = in.Close() }() // It was only read.
	p := Plan{targets: slices.Clone(c.Made), foreign: c.foreign}
	made := map[string]bool{}
	for _, name := range c.Made {
		made[name] = true
	}
	for _, name := range c.listed {
		if made[name] {
			continue
		}
		switch e := c.earlier(in, name); {
		case e == nil:
			p.foreign = append(p.foreign, "./"+name)
		case !c.spared[name] && gone(e):
			p.Left = append(p.Left, name)
		default:
			p.Kept = append(p.Kept, name)
		}
	}
	for _, name := range c.left {
		if !made[name] && c.earlier(in, name) != nil {
			p.Left = append(p.Left, name)
		}
	}
	p.targets = append(p.targets, p.Kept...)
	if prune {
		p.Remove, p.Left = p.Left, nil
	}
	for _, files := range []*[]string{&p.targets, &p.Left, &p.Remove} {
		slices.Sort(*files)
		*files = slices.Compact(*files)
	}
	return p, nil
}

// Write writes the Location. If there is nothing to list and no earlier Location,
// it writes nothing.
func (c *Catalog) Write(ctx context.Context, p Plan, v words.Vocabulary) error {
	if len(p.targets)+len(p.foreign) == 0 && !c.there {
		return nil
	}
	targets := tree.Arr()
	for _, t := range p.targets {
		targets.Items = append(targets.Items, tree.Str("./"+t))
	}
	for _, t := range p.foreign {
		targets.Items = append(targets.Items, tree.Str(t))
	}
	e := &entity.Entity{
		APIVersion: words.EntityVersion, Kind: entity.KindLocation,
		Metadata: entity.Metadata{Name: locationName, Description: "Entities of composite resource definitions"},
		Spec:     tree.Obj(tree.F("targets", targets)),
	}
	if len(p.Left) > 0 {
		e.Metadata.Annotations = map[string]string{words.AnnotationLeftBehind: strings.Join(p.Left, " ")}
	}
	entity.Speak(e, v)
	return dir.New(c.dir, dir.Options{Layout: dir.Named, File: func(*entity.Entity) string { return locationFile }}).Write(ctx, []*entity.Entity{e})
}

// Remove deletes files that are no longer generated.
func (c *Catalog) Remove(files []string) error {
	if len(files) == 0 {
		return nil
	}
	in, err := os.OpenRoot(c.dir)
	if err != nil {
		return c.errorf("", err, "")
	}
	defer func() { _ = in.Close() }() // Nothing was written through it.
	for _, name := range files {
		if !isRegular(in, name) {
			continue
		}
		if err := in.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot remove %q: %w", filepath.Join(c.dir, filepath.FromSlash(name)), err)
		}
	}
	return nil
}

// Spoken returns the vocabulary of the Location: upstream if all entities use it,
// including those that were kept. Without entities it is the earlier one.
func (c *Catalog) Spoken(es []*entity.Entity, kept bool) words.Vocabulary {
	if len(es) == 0 || kept && c.words != words.Upstream {
		return c.words
	}
	if slices.ContainsFunc(es, func(e *entity.Entity) bool { return words.Of(e.APIVersion) != words.Upstream }) {
		return words.Portal
	}
	return words.Upstream
}
