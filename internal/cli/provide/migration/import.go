package migration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/entity"
	raw "example.dev/ingestor/internal/spool"
	"example.dev/ingestor/sink/portal"
	"example.dev/ingestor/sink/spool"
	"example.dev/ingestor/words"
)

// inMemory is how many bytes of entities are kept in memory; the others are in a
// temporary file.
const inMemory = 1 << 20

// Import is what becomes of the entities of a Backstage at a portal. Rows, Locations and
// LeftOut are set by Plan.
type Import struct {
	from, to *portal.Portal
	texts    *raw.Spool
	entities []raw.Text
	// listed are the locations that are registered in Backstage, and registered those at the
	// portal.
	listed, registered map[string]bool
	actions            map[string]bool
	sites              map[string]*Location
	rows               map[[2]string]*Row
	// pushed has the row of each line that is pushed, and refs its reference.
	pushed []*Row
	refs   []string

	Rows      []*Row
	Locations []*Location
	LeftOut   []Note
	// Warnings are about entities that come with a location, and cannot be left out.
	Warnings []Note
}

// Row counts the entities of one kind and one kind of origin.
type Row struct {
	// Origin is the type of the location that Backstage has the entities from, such as url
	// or ldap.
	Origin   string `json:"origin"`
	Kind     string `json:"kind"`
	Entities int    `json:"entities"`
	// InLocations come with a location, Pushed are sent to the portal, which may refuse them.
	InLocations int `json:"inLocations"`
	Pushed      int `json:"pushed"`
	Refused     int `json:"refused"`
	LeftOut     int `json:"leftOut"`
}

// Note is a reason that concerns an entity.
type Note struct {
	Ref    string `json:"ref"`
	Reason string `json:"reason"`
}

// Location is a file that entities come from.
type Location struct {
	Target string `json:"target"`
	// Exists means that the portal has the location already.
	Exists bool `json:"exists"`
	// Entities counts the entities that come with it. If there are none, and the location was
	// not registered in Backstage, it is not registered.
	Entities int `json:"entities"`
	// Problem is why the portal cannot read it; its entities are pushed instead.
	Problem string `json:"problem,omitempty"`

	address string
	listed  bool
	refs    map[string]bool
}

// Wanted reports whether the location is to be registered.
func (l *Location) Wanted() bool {
	return l.Problem == "" && !l.Exists && (l.Entities > 0 || l.listed)
}

// Address is the URL to register; unlike Target, it may contain credentials.
func (l *Location) Address() string { return l.address }

// NewImport returns an import that has read nothing. The caller must close it.
func NewImport(from, to *portal.Portal) *Import {
	return &Import{from: from, to: to, texts: raw.New(inMemory), sites: map[string]*Location{}, rows: map[[2]string]*Row{}}
}

// Close removes temporary files.
func (im *Import) Close() error { return im.texts.Close() }

// Len returns the number of entities that were read.
func (im *Import) Len() int { return len(im.entities) }

// Read reads everything that Backstage has. An error means that something is missing, so
// that nothing may be imported.
func (im *Import) Read(ctx context.Context, progress func(entities int)) (err error) {
	if im.listed, err = Locations(ctx, im.from); err != nil {
		return err
	}
	return Entities(ctx, im.from, nil, func(item string) error {
		text, err := im.texts.Put([]byte(item))
		im.entities = append(im.entities, text)
		progress(len(im.entities))
		return err
	})
}

// Plan decides about every entity, and adds those to push to s. It makes the portal read
// locations, and changes nothing.
func (im *Import) Plan(ctx context.Context, s *spool.Spool, progress func(done, all int)) (err error) {
	if im.registered, err = Locations(ctx, im.to); err != nil {
		return err
	}
	if im.actions, err = actions(ctx, im.to); err != nil {
		return err
	}
	for i, text := range im.entities {
		item, err := text.Load()
		if err != nil {
			return err
		}
		n, err := wire.Decoder{}.Decode(item)
		if _, failure := finding.FailureOf(n); err == nil && (failure || !n.IsMap()) {
			err = errors.New("not an entity")
		}
		if err != nil {
			return fmt.Errorf("cannot read entity %d of %s: %w", i+1, im.from.URL(), err)
		}
		if err := im.decide(ctx, n, s); err != nil {
			return err
		}
		progress(i+1, len(im.entities))
	}
	// A location may be registered in Backstage although none of its entities is there.
	for target := range im.listed {
		if _, err := im.site(ctx, target); err != nil {
			return err
		}
	}
	for _, l := range im.sites {
		if l.listed || l.Entities > 0 || l.Problem != "" {
			im.Locations = append(im.Locations, l)
		}
	}
	slices.SortFunc(im.Locations, func(a, b *Location) int { return strings.Compare(a.address, b.address) })
	for _, r := range im.rows {
		im.Rows = append(im.Rows, r)
	}
	slices.SortFunc(im.Rows, func(a, b *Row) int {
		return cmp.Or(strings.Compare(a.Origin, b.Origin), strings.Compare(a.Kind, b.Kind))
	})
	return nil
}

// decide follows the table in docs/move-from-backstage.md.
func (im *Import) decide(ctx context.Context, n *tree.Node, s *spool.Spool) error {
	row := im.row(n)
	row.Entities++
	ref := entity.RefOf(n).String()
	if why := foreign(n); why != "" {
		row.LeftOut++
		im.LeftOut = append(im.LeftOut, Note{ref, why})
		return nil
	}
	lacks := im.lacks(n)
	for _, key := range []string{words.AnnotationManagedByOrigin, words.AnnotationManagedBy} {
		target, ok := strings.CutPrefix(annotation(n, key), "url:")
		if !ok {
			continue
		}
		l, err := im.site(ctx, target)
		if err != nil {
			return err
		}
		if l == nil || !l.has(ref) {
			continue
		}
		l.Entities++
		row.InLocations++
		if lacks != "" {
			im.Warnings = append(im.Warnings, Note{ref, lacks})
		}
		return nil
	}
	if n.Get("kind").Str() == entity.KindLocation {
		lacks = "a Location the portal cannot read"
	}
	if lacks != "" {
		row.LeftOut++
		im.LeftOut = append(im.LeftOut, Note{ref, lacks})
		return nil
	}
	row.Pushed++
	im.pushed, im.refs = append(im.pushed, row), append(im.refs, ref)
	strip(n)
	return s.Add(n)
}

// has reports whether an entity comes with the location. While the portal cannot read a
// location that it has, the entities stay as they are.
func (l *Location) has(ref string) bool {
	return l.refs[ref] || l.Problem != "" && l.Exists
}

// Refuse counts refused entities; a line is that of the push, the first being 1.
func (im *Import) Refuse(refused []portal.Refusal) {
	for _, r := range refused {
		if r.Line > 0 && r.Line <= len(im.pushed) {
			row := im.pushed[r.Line-1]
			row.Pushed, row.Refused = row.Pushed-1, row.Refused+1
		}
	}
}

// Foresee returns the entities in s that the portal would refuse because they are
// invalid. That a name belongs to another provider is known only after a push.
func (im *Import) Foresee(s *spool.Spool) []portal.Refusal {
	lines := map[string]int{}
	for i, ref := range im.refs {
		lines[ref] = i + 1
	}
	var refused []portal.Refusal
	for _, f := range s.Findings() {
		if f.Severity == finding.Error && lines[f.Object] > 0 {
			refused = append(refused, portal.Refusal{Line: lines[f.Object], Ref: f.Object, Reason: f.Message})
			// One reason is enough.
			delete(lines, f.Object)
		}
	}
	im.Refuse(refused)
	return refused
}

// row returns the row of an entity.
func (im *Import) row(n *tree.Node) *Row {
	origin, _, _ := strings.Cut(annotation(n, words.AnnotationManagedByOrigin), ":")
	key := [2]string{cmp.Or(origin, "unknown"), n.Get("kind").Str()}
	if im.rows[key] == nil {
		im.rows[key] = &Row{Origin: key[0], Kind: key[1]}
	}
	return im.rows[key]
}

// foreign returns why an entity does not belong to what is imported, or "".
func foreign(n *tree.Node) string {
	if from := annotation(n, words.AnnotationPortal); from != "" {
		return "comes from portal " + from
	}
	if strings.HasPrefix(annotation(n, words.AnnotationManagedByOrigin), originCluster) {
		return "made by kubernetes-ingestor; the portal reads the cluster itself"
	}
	if annotation(n, words.AnnotationOrphan) == "true" {
		return "orphan: its location no longer contains it"
	}
	return ""
}

// lacks returns which action of a Template the portal does not have, or "".
func (im *Import) lacks(n *tree.Node) string {
	if n.Get("kind").Str() != entity.KindTemplate {
		return ""
	}
	for _, step := range n.Get("spec", "steps").List() {
		id := step.Get("action").Str()
		if !im.actions[id] && !im.actions[words.In(words.Action, id)] {
			return fmt.Sprintf("uses action %q, which the portal does not have", id)
		}
	}
	return ""
}

// site returns the location of a URL, or nil if it is not a file of entities. Every
// location is read only once.
func (im *Import) site(ctx context.Context, target string) (*Location, error) {
	if l, ok := im.sites[target]; ok {
		return l, nil
	}
	u, err := url.Parse(target)
	if err != nil || !im.listed[target] && !isFile(u) {
		return nil, nil
	}
	plain(u)
	address := u.String()
	// Credentials may be in the query.
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	l := &Location{Target: u.String(), address: address, listed: im.listed[target], Exists: im.registered[address], refs: map[string]bool{}}
	im.sites[target] = l
	refs, err := im.to.Find(ctx, address)
	if e, ok := asRefusal(err); ok {
		l.Problem = strings.ReplaceAll(e.Message, address, l.Target)
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	for _, r := range refs {
		l.refs[r.String()] = true
	}
	return l, nil
}

// plain changes the URL of a file's page at GitHub or GitLab, which Backstage
// understands, to that of the file itself, which the portal reads.
func plain(u *url.URL) {
	parts := strings.SplitN(u.Path, "/", 5)
	if u.Host == "github.com" && len(parts) == 5 && (parts[3] == "blob" || parts[3] == "tree") {
		u.Host, u.Path, u.RawPath = "raw.githubusercontent.com", "/"+parts[1]+"/"+parts[2]+"/"+parts[4], ""
	}
	for _, page := range []string{"/-/blob/", "/-/tree/"} {
		if before, after, ok := strings.Cut(u.Path, page); ok {
			u.Path, u.RawPath = before+"/-/raw/"+after, ""
		}
	}
}

// isFile reports whether a URL is that of a file of entities. Other URLs, such as the
// page of a user at GitHub, only say where an entity was found.
func isFile(u *url.URL) bool {
	at := strings.ToLower(u.Path + "?" + u.RawQuery)
	return slices.ContainsFunc([]string{".yaml", ".yml", ".json"}, func(end string) bool { return strings.Contains(at, end) })
}

// strip removes what a Backstage adds to an entity.
func strip(n *tree.Node) {
	n.Delete("relations")
	n.Delete("status")
	metadata := n.Get("metadata")
	if !metadata.IsMap() {
		return
	}
	for _, key := range []string{"uid", "etag", "generation"} {
		metadata.Delete(key)
	}
	annotations := metadata.Get("annotations")
	if !annotations.IsMap() {
		return
	}
	for _, key := range []string{words.AnnotationManagedBy, words.AnnotationManagedByOrigin, words.AnnotationOrphan} {
		for _, k := range words.Spellings(words.Key, key) {
			annotations.Delete(k)
		}
	}
}
