package composer

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

// catalog is the output directory of export. Paths are relative to it, with
// slashes.
type catalog struct {
	dir string
	// listed and left are the files that an earlier run listed, and those that it
	// left behind, as far as they exist and an export wrote them.
	listed, left []string
	// foreign are targets that others have added; they stay.
	foreign []string
	// words is the vocabulary of the earlier Location, if there is one.
	words words.Vocabulary
	there bool
	// made are the files of this run, and spared the files that this run does not
	// overwrite, because it read less than an earlier run did.
	made   []string
	spared map[string]bool
	// seen caches the earlier files that were read; nil means that no export wrote
	// the file.
	seen map[string]*earlier
}

// openCatalog reads the result of an earlier run. It returns an error if the
// Location's file exists and was not written by export.
func openCatalog(root string) (*catalog, error) {
	c := &catalog{dir: root, spared: map[string]bool{}, seen: map[string]*earlier{}}
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

func (c *catalog) errorf(name string, err error, hint string) error {
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

// earlier is an entity that an earlier export wrote.
type earlier struct {
	key string
	// from are the clusters in which it was found.
	from []string
	// composite reports whether it is a composite or a claim, which are read only on
	// request.
	composite bool
}

// earlier returns the entity that an export wrote to a file, cached; nil if the
// file was not written by export, although it has a path that an export would use.
func (c *catalog) earlier(in *os.Root, name string) *earlier {
	e, ok := c.seen[name]
	if !ok {
		e = readEarlier(in, name)
		c.seen[name] = e
	}
	return e
}

func readEarlier(in *os.Root, name string) *earlier {
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
	return &earlier{key: e.Key(), from: from, composite: annotations[words.AnnotationXRName] != ""}
}

// isOurs reports whether a tag marks an entity as generated by the ingestor.
func isOurs(tag string) bool { return words.In(words.Tag, tag) == words.TagSource }

// spare removes the entities whose earlier version came from a cluster that could
// not be read completely in this run, so that they are not overwritten.
func (c *catalog) spare(f *fleet, es []*entity.Entity) ([]*entity.Entity, error) {
	if f.verdict() == nil || !c.there {
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
		if e != nil && slices.ContainsFunc(e.from, func(cluster string) bool { _, failed := f.complete(cluster); return failed }) {
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

// add records a file that was written.
func (c *catalog) add(file string) {
	// Both paths have the same base, so file is below dir.
	rel, err := filepath.Rel(c.dir, file)
	if err == nil {
		c.made = append(c.made, filepath.ToSlash(rel))
	}
}

// plan is what happens to the files.
type plan struct {
	// targets are the files to list; kept are those among them that this run did not
	// write.
	targets, kept []string
	// foreign are targets of others, to list unchanged.
	foreign []string
	// left are the files to leave behind, remove the files to delete.
	left, remove []string
}

// plan decides about files that this run did not write: a file whose entity is
// gone leaves the list, any other stays.
func (c *catalog) plan(gone func(*earlier) bool, prune bool) (plan, error) {
	if !c.there {
		return plan{targets: c.made}, nil
	}
	in, err := os.OpenRoot(c.dir)
	if err != nil {
		return plan{}, c.errorf("", err, "")
	}
	defer func() { _ = in.Close() }() // It was only read.
	p := plan{targets: slices.Clone(c.made), foreign: c.foreign}
	made := map[string]bool{}
	for _, name := range c.made {
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
			p.left = append(p.left, name)
		default:
			p.kept = append(p.kept, name)
		}
	}
	for _, name := range c.left {
		if !made[name] && c.earlier(in, name) != nil {
			p.left = append(p.left, name)
		}
	}
	p.targets = append(p.targets, p.kept...)
	if prune {
		p.remove, p.left = p.left, nil
	}
	for _, files := range []*[]string{&p.targets, &p.left, &p.remove} {
		slices.Sort(*files)
		*files = slices.Compact(*files)
	}
	return p, nil
}

// write writes the Location. If there is nothing to list and no earlier Location,
// it writes nothing.
func (c *catalog) write(ctx context.Context, p plan, v words.Vocabulary) error {
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
	if len(p.left) > 0 {
		e.Metadata.Annotations = map[string]string{words.AnnotationLeftBehind: strings.Join(p.left, " ")}
	}
	entity.Speak(e, v)
	return dir.New(c.dir, dir.Options{Layout: dir.Named, File: func(*entity.Entity) string { return locationFile }}).Write(ctx, []*entity.Entity{e})
}

// remove deletes files that are no longer generated.
func (c *catalog) remove(files []string) error {
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

// spoken returns the vocabulary of the Location: upstream if all entities use it,
// including those that were kept. Without entities it is the earlier one.
func (c *catalog) spoken(es []*entity.Entity, kept bool) words.Vocabulary {
	if len(es) == 0 || kept && c.words != words.Upstream {
		return c.words
	}
	if slices.ContainsFunc(es, func(e *entity.Entity) bool { return words.Of(e.APIVersion) != words.Upstream }) {
		return words.Portal
	}
	return words.Upstream
}
