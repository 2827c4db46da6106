// Package impact counts the live resources that a change of definitions concerns: its
// blast radius. Resources are passed one at a time, validated as an API server does that
// serves the new definitions, and attributed to the changes that refuse them. Memory does
// not grow with their number.
//
// A resource that would be refused is still stored and served: Kubernetes validates an
// object when it is written, and since 1.30 lets updates pass that do not change the
// invalid field. It is refused when it is created again, as after a restore or in another
// cluster, and when that field is changed. A dropped field is lost at the next write.
package impact

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/diff"
	"example.dev/ingestor/xrd/structural"
)

// DefaultNames is the default of Options.Names.
const DefaultNames = 1000

// mostReasons is how many effects of a definition without a change are told apart.
const mostReasons = 50

// Options are the options of New.
type Options struct {
	// Names is how many resources are named for each effect; the others are counted. Zero
	// means DefaultNames.
	Names int
}

// Impact counts resources. Its methods may be called concurrently.
type Impact struct {
	names int
	// byKind has the definitions by the group and kind of their resources.
	byKind map[string]*tally
	all    []*tally
	mu     sync.Mutex
}

// tally counts the resources of one definition.
type tally struct {
	pair   *diff.Pair
	group  string
	kinds  map[kindKey]*kind
	result Definition
	// clusters are those of the counted resources, and effects the keys of result.Effects.
	clusters map[string]bool
	effects  map[effectKey]int
}

type kindKey struct {
	version string
	claim   bool
}

// kind is a kind before and after; a nil one does not exist.
type kind struct {
	once         sync.Once
	older, newer *structural.Kind
	// gone is the rule of the change that stops serving it; empty if it is still served.
	gone string
	// broken is why resources cannot be validated.
	broken string
}

type effectKey struct {
	change  int
	outcome Outcome
	reason  string
}

// New returns an Impact of changes.
func New(pairs []diff.Pair, opts Options) *Impact {
	im := &Impact{names: cmp.Or(opts.Names, DefaultNames), byKind: map[string]*tally{}}
	for i := range pairs {
		p := &pairs[i]
		if p.Old == nil {
			continue
		}
		t := &tally{
			pair: p, group: p.Old.Group, kinds: map[kindKey]*kind{}, clusters: map[string]bool{}, effects: map[effectKey]int{},
			result: Definition{Name: p.Old.Label(), Effects: []Effect{}},
		}
		im.all = append(im.all, t)
		im.byKind[words.In(words.Group, p.Old.Group)+"/"+p.Old.Names.Kind] = t
		if p.Old.HasClaim() {
			im.byKind[words.In(words.Group, p.Old.Group)+"/"+p.Old.Claim.Kind] = t
		}
	}
	return im
}

// Add validates a resource of a cluster, and counts and names it. It reports false if no
// definition defines its kind, or if it is the composite of a claim, which is counted
// instead. An error means that the object is not one.
func (im *Impact) Add(ctx context.Context, cluster string, n *tree.Node) (bool, error) {
	c, err := im.Check(ctx, cluster, n)
	if c == nil || err != nil {
		return false, err
	}
	c.Count(true)
	return true, nil
}

// Checked is a validated resource that is not counted yet.
type Checked struct {
	// Resource names the resource. Callers may set its Entity.
	Resource Resource
	im       *Impact
	tally    *tally
	found    verdict
}

// Affected reports whether a change concerns the resource.
func (c *Checked) Affected() bool { return len(c.found.effects) > 0 }

// Count counts the resource. Effects name it if named is true.
func (c *Checked) Count(named bool) {
	names := 0
	if named {
		names = c.im.names
	}
	c.im.mu.Lock()
	defer c.im.mu.Unlock()
	c.tally.count(c.Resource, c.found, names)
}

// Check is Add for a resource that the caller counts, once it knows whether to name it.
// The result is nil where Add reports false; it does not keep n in memory.
//
// The resource is validated in the version that its managedFields say it was written in,
// because its manifest is of that version, or else in the one it was read in. Check removes
// the managedFields.
func (im *Impact) Check(ctx context.Context, cluster string, n *tree.Node) (*Checked, error) {
	apiVersion := n.Get("apiVersion").Str()
	group, listed, _ := strings.Cut(apiVersion, "/")
	t := im.byKind[words.In(words.Group, group)+"/"+n.Get("kind").Str()]
	if t == nil {
		return nil, nil
	}
	claim := t.pair.Old.HasClaim() && n.Get("kind").Str() == t.pair.Old.Claim.Kind
	if !claim && t.pair.Old.HasClaim() && n.Get("spec", "claimRef", "name").Str() != "" {
		return nil, nil
	}
	version := strings.Clone(listed)
	if meta := n.Get("metadata"); meta.IsMap() {
		if written, _ := xrd.Written(meta); t.serves(written) {
			version = strings.Clone(written)
		}
		meta.Delete("managedFields")
	}
	object, err := structural.Object(n)
	if err != nil {
		return nil, err
	}
	// Kubernetes converts between versions by changing apiVersion only.
	object["apiVersion"] = t.group + "/" + version
	found := t.judge(ctx, im.kind(t, kindKey{version, claim}), version, object)
	if version != listed {
		listed = strings.Clone(listed)
		if err := t.addDropped(im.kind(t, kindKey{listed, claim}), listed, n, &found); err != nil {
			return nil, err
		}
	}
	owner := cmp.Or(ownerIn(words.KeysIn(n.Get("metadata", "annotations").StringMap())), ownerIn(t.pair.Old.Annotations))
	// Nodes share the memory of the page that they were read from.
	r := Resource{
		Cluster: cluster, Kind: strings.Clone(n.Get("kind").Str()), Namespace: strings.Clone(n.Get("metadata", "namespace").Str()),
		Name: strings.Clone(n.Get("metadata", "name").Str()), Owner: strings.Clone(owner),
	}
	return &Checked{r, im, t, found}, nil
}

// serves reports whether the old definition serves a version.
func (t *tally) serves(version string) bool {
	return slices.ContainsFunc(t.pair.Old.Served, func(v *xrd.Version) bool { return v.Name == version })
}

// ownerIn returns the owner that annotations name; empty if they name none.
func ownerIn(annotations map[string]string) string {
	given, _ := words.Pick(annotations, words.AnnotationOwner)
	return given
}

// kind returns a kind of a definition, which is compiled once.
func (im *Impact) kind(t *tally, key kindKey) *kind {
	im.mu.Lock()
	k := t.kinds[key]
	if k == nil {
		k = &kind{}
		t.kinds[key] = k
	}
	im.mu.Unlock()
	k.once.Do(func() { k.compile(t.pair, key) })
	return k
}

// compile compiles the schemas of a kind, or finds out why it is no longer served.
func (k *kind) compile(p *diff.Pair, key kindKey) {
	k.older, _ = structural.NewKind(p.Old, key.version, key.claim)
	switch {
	case p.New == nil:
		k.gone = diff.RuleRemoved
	case p.Renamed():
		k.gone = diff.RuleRenamed
	case p.Old.Scope != p.New.Scope:
		k.gone = diff.RuleScope
	case p.Old.Group != p.New.Group || p.Old.Names.Kind != p.New.Names.Kind:
		k.gone = diff.RuleNames
	case key.claim && !p.New.HasClaim():
		k.gone = diff.RuleNoClaim
	case key.claim && p.Old.Claim.Kind != p.New.Claim.Kind:
		k.gone = diff.RuleClaimNames
	}
	if k.gone != "" {
		return
	}
	i := slices.IndexFunc(p.New.Versions, func(v *xrd.Version) bool { return v.Name == key.version })
	switch {
	case i < 0:
		k.gone = diff.RuleNoVersion
		return
	case !p.New.Versions[i].Served:
		k.gone = diff.RuleUnserved
		return
	}
	// A panic leaves this reason behind, as compile runs once.
	k.broken = "the new schema cannot be compiled"
	newer, err := structural.NewKind(p.New, key.version, key.claim)
	if err != nil {
		k.broken = err.Error()
		return
	}
	k.newer, k.broken = newer, ""
}

// verdict is what happens to one resource.
type verdict struct {
	// invalid reports whether the old definition refuses it already.
	invalid bool
	effects []effect
}

type effect struct {
	effectKey
	field string
}

// judge returns what the new definition does to a resource that the old one does not.
func (t *tally) judge(ctx context.Context, k *kind, version string, object map[string]any) verdict {
	switch {
	case k.gone != "":
		i := slices.IndexFunc(t.pair.Changes, func(c diff.Change) bool {
			return c.Rule == k.gone && (c.Version == "" || c.Version == version)
		})
		reason := ""
		if i < 0 {
			reason = "version " + version + " is not served"
		}
		return verdict{effects: []effect{{effectKey: effectKey{i, Unserved, reason}}}}
	case k.newer == nil:
		return verdict{effects: []effect{{effectKey: effectKey{-1, Refused, k.broken}}}}
	}
	after := k.newer.Validate(ctx, object, nil)
	if len(after.Problems) == 0 && len(after.Unknown) == 0 {
		return verdict{}
	}
	var before structural.Verdict
	if k.older != nil {
		before = k.older.Validate(ctx, object, nil)
	}
	v := verdict{invalid: len(before.Problems) > 0}
	for _, p := range after.Problems {
		if slices.ContainsFunc(before.Problems, func(o structural.Problem) bool { return o.Field == p.Field && o.Detail == p.Detail }) {
			continue
		}
		v.add(t.attribute(version, p.Field, Refused, p), p.Field)
	}
	for _, field := range after.Unknown {
		if !slices.Contains(before.Unknown, field) {
			v.add(t.attribute(version, field, Dropped, structural.Problem{}), field)
		}
	}
	return v
}

// addDropped adds the fields that a resource loses because the version it is read in no longer
// has them. Objects are stored in that version, whichever they are written in.
func (t *tally) addDropped(k *kind, version string, n *tree.Node, v *verdict) error {
	if k.newer == nil {
		return nil
	}
	after, err := unknownIn(k.newer, n)
	if err != nil || len(after) == 0 {
		return err
	}
	var before []string
	if k.older != nil {
		if before, err = unknownIn(k.older, n); err != nil {
			return err
		}
	}
	for _, field := range after {
		known := slices.ContainsFunc(v.effects, func(e effect) bool { return e.outcome == Dropped && e.field == field })
		if !known && !slices.Contains(before, field) {
			v.add(t.attribute(version, field, Dropped, structural.Problem{}), field)
		}
	}
	return nil
}

// unknownIn returns the fields of a resource that a kind lacks.
func unknownIn(k *structural.Kind, n *tree.Node) ([]string, error) {
	object, err := structural.Object(n)
	if err != nil {
		return nil, err
	}
	// An object that cannot be defaulted is refused, which is another effect.
	unknown, _ := k.Default(object)
	return unknown, nil
}

// add adds an effect unless the resource has it already.
func (v *verdict) add(key effectKey, field string) {
	if !slices.ContainsFunc(v.effects, func(e effect) bool { return e.effectKey == key }) {
		v.effects = append(v.effects, effect{key, field})
	}
}
