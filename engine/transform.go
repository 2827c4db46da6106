package engine

import (
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// Engine is the default Transformer. It is safe for concurrent use if its hooks are.
type Engine struct {
	profile Profile
	opts    Options
	hooks   Hooks
}

// New returns an engine. Options that would lead to invalid entities are repaired when
// they are used, and reported.
func New(profile Profile, opts Options, hooks Hooks) *Engine {
	if opts.Lifecycle == "" {
		opts.Lifecycle = defaultLifecycle
	}
	return &Engine{profile: profile, opts: opts, hooks: hooks}
}

// Profile returns the engine's profile.
func (e *Engine) Profile() Profile { return e.profile }

// Transform makes the entities of one definition. The only errors are those of hooks.
func (e *Engine) Transform(in Input) (Result, error) {
	in, err := e.preProcess(in)
	if err != nil {
		return Result{}, err
	}
	t := newTransformation(e, in)
	t.run()
	if err := t.finish(); err != nil {
		return Result{}, err
	}
	return t.out, nil
}

// preProcess lets the hook replace the definition.
func (e *Engine) preProcess(in Input) (Input, error) {
	if e.hooks.PreProcess == nil {
		return in, nil
	}
	d, err := e.hooks.PreProcess(in.Definition)
	if err != nil {
		return Input{}, fmt.Errorf("cannot pre-process definition %q: %w", in.Definition.Name, err)
	}
	if d == nil {
		return Input{}, fmt.Errorf("cannot pre-process definition %q: the hook returned no definition", in.Definition.Name)
	}
	if d != in.Definition {
		// The fingerprint belongs to the definition before the hook.
		in.Definition, in.Fingerprint = d, ""
	}
	return in, nil
}

// finish completes the entities of the definition.
func (t *transformation) finish() error {
	t.tellServing()
	return t.conclude(&t.out, fmt.Sprintf("%q", t.def.Name), t.def.Words, t.def.Origin.File, t.def.Node.At())
}

// conclude calls the PostProcess hook, translates the entities into the source's
// vocabulary, unless the options set one, and stamps them.
func (e *Engine) conclude(out *Result, of string, written words.Vocabulary, file string, at tree.Pos) error {
	if e.hooks.PostProcess != nil {
		// Forms and steps share nodes; clone them so that a hook may modify each entity.
		for _, x := range out.Entities {
			x.Spec = x.Spec.Clone()
		}
		es, err := e.hooks.PostProcess(out.Entities)
		if err != nil {
			return fmt.Errorf("cannot post-process the entities of %s: %w", of, err)
		}
		if slices.Contains(es, nil) {
			return fmt.Errorf("cannot post-process the entities of %s: the hook returned a nil entity", of)
		}
		out.Entities = es
	}
	spoken := e.opts.Words.For(written)
	for _, x := range out.Entities {
		// A hook may have added an unsafe URL.
		for _, f := range entity.DropUnsafeURLs(x) {
			f.File, f.Pos = file, at
			out.Findings = append(out.Findings, f)
		}
		entity.Speak(x, spoken)
		Stamp(x)
	}
	return nil
}

// Stamp marks a Template with the version of its form: the mark changes if and only if
// the spec does. The engine stamps the Templates it makes; a Transformer that changes a
// Template afterwards must stamp it again.
func Stamp(e *entity.Entity) {
	if e.Kind != entity.KindTemplate {
		return
	}
	if e.Metadata.Annotations == nil {
		e.Metadata.Annotations = map[string]string{}
	}
	key := words.Of(e.APIVersion).Out(words.Key, words.AnnotationTemplateVersion)
	e.Metadata.Annotations[key] = entity.ShortHash(e.Spec)
}

// transformation is one run of the engine.
type transformation struct {
	*Engine
	in        Input
	def       *xrd.Definition
	target    xrd.Target
	base      string
	namespace string
	owner     string
	system    string
	allTags   []string
	// composites and claimed are the indexes built by bind.
	composites, claimed map[binding]*xrd.Composite
	// known is the index built by know.
	known map[CompositeKey]bool
	// fixed is true if nothing in the spec of the last version can be changed.
	fixed bool

	out Result
}

func newTransformation(e *Engine, in Input) *transformation {
	t := &transformation{Engine: e, in: in, def: in.Definition, target: in.Definition.Target()}
	t.base = in.Base
	if t.base == "" {
		t.base = e.profile.Base(t.def)
	}
	if t.base == "" {
		t.base = unnamed(t.def)
	}
	t.namespace = t.settleNamespace()
	t.owner = t.refValue("owner", t.def.Annotations, words.AnnotationOwner, e.opts.Owner, defaultOwner, "Group")
	t.system = t.refValue("system", t.def.Annotations, words.AnnotationSystem, e.opts.System, defaultSystem, entity.KindSystem)
	return t
}

func (t *transformation) run() {
	t.reportTags()
	for _, v := range t.versions() {
		t.version(v)
	}
	t.out.Entities = append(t.out.Entities, t.definitionResource())
	t.compositionResources()
	t.compositeResources()
}

// versions returns the versions that get a Template and an API.
func (t *transformation) versions() []*xrd.Version {
	switch {
	case len(t.def.Served) == 0:
		t.note(RuleNoForm, firstPlace(t.def.Node.Get("spec", "versions"), t.def.Node.Get("spec"), t.def.Node), "definition has no served version, so it gets no Template and no API",
			"serve at least one version")
		return nil
	case !usable(t.def, t.target):
		t.note(RuleNoForm, firstPlace(t.def.Node.Get("spec"), t.def.Node), "definition has no usable group and kind, so it gets no Template and no API",
			"set spec.group and spec.names to values that Kubernetes accepts")
		return nil
	}
	wanted := t.def.Served
	if !t.profile.EveryVersion {
		wanted = []*xrd.Version{t.def.Preferred()}
	}
	var out []*xrd.Version
	for _, v := range wanted {
		switch {
		case !isWord(v.Name, true, "-"):
			t.note(RuleNoForm, v.Node.At(), fmt.Sprintf("version %q has a name that Kubernetes rejects, so it gets no Template and no API", v.Name), "use lower-case letters, digits and dashes")
		case slices.ContainsFunc(out, func(o *xrd.Version) bool { return o.Name == v.Name }):
			t.note(RuleNoForm, v.Node.At(), fmt.Sprintf("duplicate version %q, so only the first gets a Template and an API", v.Name), "keep one of the two")
		default:
			out = append(out, v)
		}
	}
	return out
}

// firstPlace returns the position of the first node that is not nil.
func firstPlace(nodes ...*tree.Node) tree.Pos {
	for _, n := range nodes {
		if n != nil {
			return n.Pos
		}
	}
	return tree.Pos{}
}

// usable reports whether a resource of the definition could exist. It keeps other values
// of a hostile definition out of manifests and paths.
func usable(d *xrd.Definition, target xrd.Target) bool {
	return isWord(d.Group, true, ".-") && isWord(target.Kind, false, "") && isWord(target.Plural, false, "-")
}

// isWord reports whether s consists of letters, digits and the extra bytes, begins with
// a letter or digit, and fits a DNS name.
func isWord(s string, lower bool, extra string) bool {
	for i := range len(s) {
		c := s[i]
		ok := c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || !lower && c >= 'A' && c <= 'Z' || i > 0 && strings.IndexByte(extra, c) >= 0
		if !ok {
			return false
		}
	}
	return s != "" && len(s) <= 253
}

// version makes the Template and the API of one version.
func (t *transformation) version(v *xrd.Version) {
	base := t.base
	if t.profile.EveryVersion {
		base += "-" + v.Name
	}
	f := t.form(v, t.formOptions())
	t.out.Findings = append(t.out.Findings, f.Findings...)
	create := t.template(base, v, f)
	t.out.Entities = append(t.out.Entities, create)
	t.fixed = f.Fixed
	if t.opts.DayTwo {
		t.out.Entities = append(t.out.Entities, t.dayTwo(create, base, v, f.Fixed)...)
	}
	if !t.opts.NoAPI {
		t.out.Entities = append(t.out.Entities, t.api(base, v))
	}
}

func (t *transformation) formOptions() form.Options {
	o := form.Options{
		Namespace: t.defaultNamespace(),
		GitOps:    t.opts.GitOps,
		Clusters:  t.opts.Clusters,
		Stock:     t.opts.Stock,
	}
	if o.Stock != "" {
		// The repository decides which cluster a resource is applied to.
		o.GitOps, o.Clusters = false, nil
	}
	if o.CompositionDetails = !t.opts.NoCompositionDetails; o.CompositionDetails {
		o.Compositions = form.Matching(t.def, t.in.Compositions)
	}
	if o.GitOps || o.Stock != "" {
		t.delivery(&o)
	}
	return o
}

// withoutUser returns an address with its user and password redacted.
func withoutUser(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	host, path, slash := strings.Cut(rest, "/")
	at := strings.LastIndexByte(host, '@')
	if !ok || at < 0 {
		return address
	}
	address = scheme + "://" + host[at+1:]
	if slash {
		address += "/" + path
	}
	return address
}

// entity starts an entity with the fields that all entities of a definition share.
func (t *transformation) entity(kind, name, suffix string) *entity.Entity {
	repaired, changed := entity.NameWithSuffix(name, suffix)
	if changed {
		t.note(RuleName, t.def.Node.Get("metadata", "name").At(),
			fmt.Sprintf("%s name %q is not valid in the catalog and becomes %q", kind, name+suffix, repaired), "")
	}
	e := &entity.Entity{
		APIVersion: words.EntityVersion,
		Kind:       kind,
		Metadata: entity.Metadata{
			Name:        repaired,
			Namespace:   t.namespace,
			Labels:      t.labels(),
			Annotations: t.annotations(t.def.Origin),
		},
	}
	return e
}

// annotations returns the annotations with the origin of an object.
func (t *transformation) annotations(origin xrd.Origin) map[string]string {
	location := origin.SourceLocation()
	m := make(map[string]string, 12)
	m[words.AnnotationXRDName] = t.def.Name
	m[words.AnnotationSourceLocation] = location
	m[words.AnnotationManagedBy] = location
	m[words.AnnotationManagedByOrigin] = location
	if t.def.Name == "" {
		delete(m, words.AnnotationXRDName)
	}
	if !t.opts.Now.IsZero() {
		m[words.AnnotationDiscoveredAt] = timestamp(t.opts.Now)
	}
	if len(t.in.Clusters) > 0 {
		m[words.AnnotationDiscoveredFrom] = strings.Join(t.in.Clusters, ",")
	}
	return m
}

// labels copies the labels used for categorisation.
func (t *transformation) labels() map[string]string {
	var m map[string]string
	for _, key := range [...]string{words.LabelVersion, words.LabelTemplateType} {
		v, ok := t.def.Labels[key]
		if !ok {
			continue
		}
		if m == nil {
			m = make(map[string]string, 2)
		}
		m[key], _ = entity.LabelValue(v)
	}
	return m
}

// tags returns the tags of every entity, with more added. Each call returns a new list,
// which a hook may change.
func (t *transformation) tags(more ...string) []string {
	if len(more) == 0 {
		if t.allTags == nil {
			t.allTags = entity.Tags([]string{words.TagComposer, words.TagSource}, t.givenTags())
			t.tagsSource()
		}
		return slices.Clone(t.allTags)
	}
	return entity.Tags([]string{words.TagComposer, words.TagSource}, append(t.givenTags(), more...))
}

// tagsSource records where the tags came from. The tags of the annotation and of the
// options are combined.
func (t *transformation) tagsSource() {
	from, key := FromDefault, ""
	given, annotation := words.Pick(t.def.Annotations, words.AnnotationTags)
	switch {
	case given != "":
		from, key = FromAnnotation, t.def.Words.Out(words.Key, annotation)
	case len(t.opts.Tags) > 0:
		from, key = FromOption, "tags"
	}
	speaks := t.opts.Words.For(t.def.Words)
	said := make([]string, len(t.allTags))
	for i, tag := range t.allTags {
		said[i] = speaks.Out(words.Tag, tag)
	}
	t.source("tags", strings.Join(said, ", "), from, key)
}

// givenTags returns the tags of the annotation and the options.
func (t *transformation) givenTags() []string {
	var given []string
	annotated, _ := words.Pick(t.def.Annotations, words.AnnotationTags)
	for tag := range strings.SplitSeq(annotated, ",") {
		given = append(given, strings.TrimSpace(tag))
	}
	for _, tag := range t.opts.Tags {
		given = append(given, strings.TrimSpace(tag))
	}
	return slices.DeleteFunc(given, func(s string) bool { return s == "" })
}

// reportTags reports the given tags that are changed or left out.
func (t *transformation) reportTags() {
	for _, tag := range t.givenTags() {
		mended, ok := entity.Tag(tag)
		_, annotation := words.Pick(t.def.Annotations, words.AnnotationTags)
		pos := placeOf(t.def.Node, annotation)
		switch {
		case !ok:
			t.note(RuleTag, pos, fmt.Sprintf("tag %q has no allowed characters and is dropped", tag), "use lower-case letters, digits and dashes")
		case mended != tag:
			t.note(RuleTag, pos, fmt.Sprintf("tag %q becomes %q", tag, mended), "")
		}
	}
}

// ref returns a reference to an entity.
func ref(e *entity.Entity) string {
	return strings.ToLower(e.Kind) + ":" + e.Metadata.Namespace + "/" + e.Metadata.Name
}

// note adds a finding about the definition.
func (t *transformation) note(rule string, pos tree.Pos, message, hint string) {
	i := slices.IndexFunc(Rules, func(r finding.Rule) bool { return r.ID == rule })
	if slices.ContainsFunc(t.out.Findings, func(f finding.Finding) bool { return f.Rule == rule && f.Message == message }) {
		return // Already reported for another version.
	}
	t.out.Findings = append(t.out.Findings, finding.Finding{
		Rule: rule, Severity: Rules[i].Severity, Object: t.def.Label(), File: t.def.Origin.File, Pos: pos,
		Message: message, Hint: hint,
	})
}
