package provide

import (
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/sink"
	"example.dev/ingestor/sink/dir"
	"example.dev/ingestor/sink/spool"
	"example.dev/ingestor/words"
)

const (
	// singleFile is the file of --single-file, and locationFile the file of the
	// Location.
	singleFile   = "catalog.yaml"
	locationFile = "catalog-info.yaml"
)

// document is an entity with its identity and its position in the input.
type document struct {
	who  *entity.Entity
	doc  *tree.Node
	file string
	pos  tree.Pos
}

// layOut distributes the entities over files, unchanged, and returns contents by
// file name. The result does not depend on the order of the input.
func (o *commitOptions) layOut(from *spool.Spool) (map[string][]byte, error) {
	var all []document
	line := 0
	for n, err := range from.All() {
		if err != nil {
			return nil, err
		}
		line++
		d := document{who: &entity.Entity{
			APIVersion: n.Get("apiVersion").Str(), Kind: n.Get("kind").Str(),
			Metadata: entity.Metadata{Name: n.Get("metadata", "name").Str(), Namespace: n.Get("metadata", "namespace").Str()},
		}, doc: n}
		d.file, d.pos = from.At(line)
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b document) int { return strings.Compare(a.who.Key(), b.who.Key()) })
	files := map[string][]byte{}
	if o.single {
		if err := o.retarget(all, slices.Repeat([]string{singleFile}, len(all))); err != nil {
			return nil, err
		}
		var text []byte
		for _, d := range all {
			text = tree.AppendYAML(append(text, "---\n"...), d.doc)
		}
		files[singleFile] = text
		return files, o.locate(files, all, []string{singleFile})
	}
	who := make([]*entity.Entity, 0, len(all))
	for _, d := range all {
		who = append(who, d.who)
	}
	names := dir.Names(who, sink.YAML)
	if err := o.retarget(all, names); err != nil {
		return nil, err
	}
	for i, d := range all {
		files[names[i]] = tree.AppendYAML(nil, d.doc)
	}
	slices.Sort(names)
	return files, o.locate(files, all, names)
}

// location returns a Location.
func location(name string, targets *tree.Node) *entity.Entity {
	return &entity.Entity{
		APIVersion: words.EntityVersion, Kind: entity.KindLocation,
		Metadata: entity.Metadata{Name: name}, Spec: tree.Obj(tree.F("targets", targets)),
	}
}

// checkLocation returns an error if the name is not valid for a Location.
func checkLocation(name string) error {
	for _, f := range entity.Check(location(name, tree.Arr())) {
		if f.Rule != entity.RuleLocationMissing && f.Severity == finding.Error {
			return flags.Usagef("use letters, digits and dashes", "cannot use %q as the name of the Location: %s", name, f.Message)
		}
	}
	return nil
}

// locate adds the Location that lists the files, if it was requested. It uses the
// vocabulary of the entities.
func (o *commitOptions) locate(files map[string][]byte, all []document, names []string) error {
	if o.location == "" {
		return nil
	}
	targets := tree.Arr()
	for _, n := range names {
		targets.Items = append(targets.Items, tree.Str("./"+n))
	}
	e := location(o.location, targets)
	for _, d := range all {
		if d.who.Key() == e.Key() {
			return flags.Usagef("choose another name with --location=name", "entity %q conflicts with the name of the Location", e.Key())
		}
	}
	if !slices.ContainsFunc(all, func(d document) bool { return words.Of(d.who.APIVersion) != words.Upstream }) {
		entity.Speak(e, words.Upstream)
	}
	files[locationFile] = entity.AppendYAML(nil, e)
	return nil
}
