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
	"fmt"
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

// Add validates a resource of a cluster, and counts it. It reports false if no definition
// defines its kind, or if it is the composite of a claim, which is counted instead. An
// error means that the object is not one.
func (im *Impact) Add(ctx context.Context, cluster string, n *tree.Node) (bool, error) {
	apiVersion := n.Get("apiVersion").Str()
	group, version, _ := strings.Cut(apiVersion, "/")
	t := im.byKind[words.In(words.Group, group)+"/"+n.Get("kind").Str()]
	if t == nil {
		return false, nil
	}
	claim := t.pair.Old.HasClaim() && n.Get("kind").Str() == t.pair.Old.Claim.Kind
	if !claim && t.pair.Old.HasClaim() && n.Get("spec", "claimRef", "name").Str() != "" {
		return false, nil
	}
	object, err := structural.Object(n)
	if err != nil {
		return false, err
	}
	object["apiVersion"] = t.group + "/" + version
	found := t.judge(ctx, im.kind(t, kindKey{version, claim}), version, object)
	im.mu.Lock()
	defer im.mu.Unlock()
	t.count(Resource{
		Cluster: cluster, Kind: n.Get("kind").Str(), Namespace: n.Get("metadata", "namespace").Str(), Name: n.Get("metadata", "name").Str(), Owner: cmp.Or(ownerIn(words.KeysIn(n.Get("metadata", "annotations").StringMap())), ownerIn(t.pair.Old.Annotations)),
	}, found, im.names)
	return true, nil
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
		return verdict{effects: []effect{{effectKey: effectKey{i, Unserved, ""}}}}
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
		if p.Field == "" && len(after.Problems) > 1 {
			// The server adds that rules were not checked because of the other problems.
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

// add adds an effect unless the resource has it already.
func (v *verdict) add(key effectKey, field string) {
	if !slices.ContainsFunc(v.effects, func(e effect) bool { return e.effectKey == key }) {
		v.effects = append(v.effects, effect{key, field})
	}
}

// attribute returns the effect of the change that concerns a field most closely. Among
// equals it prefers one that is about the problem: a missing field, a dropped one.
func (t *tally) attribute(version, field string, outcome Outcome, p structural.Problem) effectKey {
	best, most := -1, 0
	for i := range t.pair.Changes {
		c := &t.pair.Changes[i]
		if !c.Breaking() && c.Rule != diff.RuleFieldChecked {
			continue
		}
		closeness := 4 * c.Covers(version, field)
		if closeness == 0 || c.Field == "" {
			continue
		}
		if about(c, outcome, p, field) {
			closeness += 2
		}
		if closeness > most {
			best, most = i, closeness
		}
	}
	if best >= 0 {
		return effectKey{best, outcome, ""}
	}
	return effectKey{-1, outcome, t.reason(field, outcome, p)}
}

// reason says why a resource is refused without a change that explains it. The text of a
// validation rule may have values of the resource.
func (t *tally) reason(field string, outcome Outcome, p structural.Problem) string {
	switch {
	case outcome != Refused:
		return field
	case p.Rule:
		return strings.TrimPrefix(field+": refused by a validation rule", ": ")
	}
	return strings.TrimPrefix(field+": "+p.Text(), ": ")
}

// about reports whether a change is of the kind that causes a problem.
func about(c *diff.Change, outcome Outcome, p structural.Problem, field string) bool {
	switch c.Rule {
	case diff.RuleNoField, diff.RuleUnknown:
		return outcome == Dropped
	case diff.RuleRequired:
		return p.Missing
	case diff.RuleEnumValue:
		// The message names the value.
		_, removed, _ := strings.Cut(c.Message, "enum value ")
		value, _, _ := strings.Cut(removed, " removed")
		return outcome == Refused && field != "" && strings.Contains(p.Message, value+":")
	case diff.RuleEnumAdded:
		return strings.HasPrefix(p.Message, "Unsupported value")
	case diff.RuleValidation:
		return p.Detail != "" && (strings.Contains(c.Message, p.Detail) || strings.Contains(p.Detail, c.New))
	case diff.RuleType:
		return strings.Contains(p.Message, "must be of type")
	}
	return false
}

// describe returns the text of an effect.
func (t *tally) describe(key effectKey) string {
	if key.change < 0 {
		return key.reason
	}
	f := t.pair.Changes[key.change].Finding()
	return f.Message
}

// Describe returns an effect in one sentence: "v1: spec.size: enum value "small" removed:
// 7 of 412 resources in 3 clusters would be refused".
func (e *Effect) Describe(checked int) string {
	clusters := "1 cluster"
	if n := len(e.Clusters); n != 1 {
		clusters = fmt.Sprintf("%d clusters", n)
	}
	return fmt.Sprintf("%s: %d of %d resources in %s %s", e.Message, e.Count, checked, clusters, e.Outcome.consequence())
}
