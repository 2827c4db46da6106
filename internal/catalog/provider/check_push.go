package provider

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/provider/location"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/spool"
)

// pushChecker decides which entries of a push are accepted.
type pushChecker struct {
	in *Providers
	// ctx is that of the request; a pushChecker does not outlive it.
	ctx      context.Context
	provider string
	caller   auth.Caller
	// scope is what the caller may create and change, and removable which of these
	// entities the caller may remove.
	scope, removable filter.Filter

	// stream, if not nil, has the accepted entries; entries are all others.
	stream  *stream
	entries []entry
	// count is how many entries there are.
	count   int
	refused []refusal
	// put are the indices of the accepted entries, and taken their references.
	put   []int
	docs  []write.Document
	spool *spool.Spool
	taken []string
	buf   []byte
	// seen are the references of all entries that have one; keep those of refused entries,
	// whose entities stay as they are.
	seen map[string]bool
	keep []string
	// kept is how many entities stay although a full push does not contain them.
	kept int
	// place finds the entries of refusals of the change of a stream.
	place func([]write.Refusal) ([]streamed, error)
	// nameless says that a refused entry has no usable reference, so it may be about any
	// entity.
	nameless bool
}

func newPushChecker(ctx context.Context, in *Providers, provider string, texts *spool.Spool) *pushChecker {
	caller := auth.From(ctx)
	return &pushChecker{
		in: in, ctx: ctx, provider: provider, caller: caller, spool: texts,
		scope:     in.policy.Filter(caller, permission.EntityCreate),
		removable: in.policy.Filter(caller, permission.EntityDelete),
		refused:   []refusal{}, seen: map[string]bool{},
	}
}

// mayAtAll returns an error if the caller may push nothing.
func (j *pushChecker) mayAtAll() error {
	if j.scope.Op != filter.OpFalse {
		return j.in.policy.Require(j.ctx, permission.ProviderPush, &permission.Resource{Ref: "provider " + j.provider, Provider: j.provider})
	}
	if err := j.in.policy.Require(j.ctx, permission.EntityCreate, nil); err != nil {
		return err
	}
	return j.in.policy.Deny(j.ctx, permission.EntityCreate, nil, "Missing permission "+permission.EntityCreate)
}

func (j *pushChecker) refuse(i, line int, ref, reason string) {
	j.refused = append(j.refused, refusal{Index: i, Line: line, Ref: ref, Reason: reason})
}

// handler returns how the entries of a push are handled.
func (j *pushChecker) handler(full, strict bool) pushHandler {
	switch {
	case strict || !j.unlimited():
		// The whole push must be known first.
		return pushHandler{maxHeld, j.hold}
	case full && j.mayForget("user:") == "":
		j.stream = newStream(j.spool)
	default:
		return pushHandler{maxHeld, j.check}
	}
	return pushHandler{maxPushed, j.check}
}

// hold stores an entry.
func (j *pushChecker) hold(e entry, n *tree.Node, text []byte) (err error) {
	if n != nil {
		if text == nil {
			j.buf = tree.AppendJSON(j.buf[:0], n, "")
			text = j.buf
		}
		e.json, err = j.spool.Put(text)
	}
	j.entries = append(j.entries, e)
	j.count++
	return err
}

// check checks an entity while the push is read.
func (j *pushChecker) check(e entry, n *tree.Node, text []byte) error {
	j.count++
	if j.stream == nil {
		j.entries = append(j.entries, e)
	}
	if n == nil {
		return nil
	}
	if err := j.entity(j.count-1, e.line, n, text != nil, obstacles{}); err != nil {
		return err
	}
	if j.stream != nil && len(j.refused) > maxRefused {
		first := j.refused[0]
		return rest.Input("More than %d entities would be refused, and nothing was changed; the first one is on line %d: %s", maxRefused, first.Line, first.Reason)
	}
	return nil
}

// judge returns the change that the entries make. An entity that is both put and
// removed is put, whatever the order.
func (j *pushChecker) judge(full, strict bool) (write.Change, error) {
	change := write.Change{Provider: j.provider}
	if j.stream != nil {
		return change, j.judgeStream(&change)
	}
	entries := j.entries
	theirs, err := j.foreign(full, strict)
	if err != nil {
		return change, err
	}
	for i := range entries {
		if err := j.later(i, theirs); err != nil {
			return change, err
		}
	}
	for i := range entries {
		e := &entries[i]
		if e.remove == "" {
			continue
		}
		ref, err := entity.ParseRef(e.remove, "", "")
		switch canonical := ref.String(); {
		case err != nil:
			j.refuse(i, e.line, "", "not a reference of the form kind:namespace/name")
		case theirs.why(canonical) != "":
			j.refuse(i, e.line, canonical, theirs.why(canonical))
		case j.mayForget(canonical) != "":
			j.refuse(i, e.line, canonical, j.mayForget(canonical))
		case j.seen[canonical]:
			j.refuse(i, e.line, canonical, "duplicate in the push")
		default:
			j.seen[canonical] = true
			change.Remove = append(change.Remove, canonical)
		}
	}
	change.Put = j.docs
	if !full {
		return change, nil
	}
	return change, j.whole(&change, theirs)
}

// judgeStream completes the change of a stream, which replaces everything that the provider
// has. An entity whose new version was refused keeps its old one; if it is unknown which
// entities these are, or if nothing was accepted, none is removed.
func (j *pushChecker) judgeStream(change *write.Change) error {
	err := j.stream.settle(func(e streamed) { j.refuse(e.index, e.line, e.ref, "duplicate in the push") })
	if err != nil {
		return err
	}
	change.Keep = j.keep
	if change.Full = !j.nameless && (len(j.refused) == 0 || j.stream.accepted > 0); !change.Full {
		owned, err := j.in.store.Refs(j.ctx, j.provider)
		if err != nil {
			return err
		}
		j.kept = len(without(owned, nil, j.keep))
	}
	j.place, err = j.stream.fill(change)
	return err
}

// later checks an entity that was not checked while it was read.
func (j *pushChecker) later(i int, theirs obstacles) error {
	e := &j.entries[i]
	if e.json.Size() == 0 {
		return nil
	}
	text, err := e.json.Load()
	if err != nil {
		return err
	}
	n, err := wire.Decoder{}.Decode(text)
	if err != nil {
		return unreadable(e.line, err.Error())
	}
	e.json = spool.Text{}
	return j.entity(i, e.line, n, true, theirs)
}

// entity accepts or refuses one entity. isJSON reports that it was JSON: the hash is that of
// an entity that was read from JSON.
func (j *pushChecker) entity(i, line int, n *tree.Node, isJSON bool, theirs obstacles) error {
	location.Claim(n, "provider:"+j.provider)
	ref := entity.RefOf(n)
	canonical := ref.String()
	if _, err := entity.ParseExisting(canonical, "", ""); err != nil {
		canonical, j.nameless = "", true
	}
	reason := ""
	switch problems := location.ProblemsOf(n); {
	case len(problems) > 0:
		reason = problems[0].Error()
	case j.seen[canonical]:
		j.refuse(i, line, canonical, "duplicate in the push")
		return nil
	case theirs.change[canonical] != "":
		reason = theirs.change[canonical]
	case !j.may(&permission.Resource{Ref: canonical, Kind: ref.Kind, Namespace: ref.Namespace, Owners: owners(n)}):
		reason = missing(permission.EntityCreate, canonical)
	case isIdentity(ref.Kind):
		reason = j.mayIdentify(canonical)
	}
	if canonical != "" && j.stream == nil {
		j.seen[canonical] = true
	}
	if reason != "" {
		j.refuse(i, line, canonical, reason)
		j.keep = append(j.keep, canonical)
		if j.stream != nil && canonical != "" {
			return j.stream.refuse(canonical, i, line)
		}
		return nil
	}
	j.buf = tree.AppendJSON(j.buf[:0], n, "")
	hash := ""
	if isJSON {
		hash = entity.HashDocument(n)
	}
	if j.stream != nil {
		return j.stream.put(streamed{ref: canonical, hash: hash, index: i, line: line}, j.buf)
	}
	j.put = append(j.put, i)
	text, err := j.spool.Put(j.buf)
	if err != nil {
		return err
	}
	j.docs = append(j.docs, write.Document{Spooled: text, Ref: canonical, Hash: hash})
	j.taken = append(j.taken, canonical)
	return nil
}

// finish adds what the catalog refused.
func (j *pushChecker) finish(res write.Result) error {
	if j.stream == nil {
		for _, r := range res.Refused {
			i := j.put[r.Index]
			j.refuse(i, j.entries[i].line, r.Ref, j.in.belongs(j.ctx, r))
		}
	} else {
		entries, err := j.place(res.Refused)
		if err != nil {
			return err
		}
		for i, r := range res.Refused {
			j.refuse(entries[i].index, entries[i].line, r.Ref, j.in.belongs(j.ctx, r))
		}
		if j.kept > 0 {
			j.kept -= res.Updated + res.Unchanged
		}
	}
	slices.SortStableFunc(j.refused, func(a, b refusal) int { return a.Index - b.Index })
	return nil
}

// missingPermission is the prefix of reasons that are about a permission.
const missingPermission = "missing permission "

func missing(name, ref string) string { return missingPermission + name + " for " + ref }

func (j *pushChecker) may(r *permission.Resource) bool {
	return j.scope.Op == filter.OpTrue || j.in.policy.Decide(j.caller, permission.EntityCreate, r)
}

// isIdentity reports whether entities of a kind define group membership.
func isIdentity(kind string) bool {
	return strings.EqualFold(kind, "User") || strings.EqualFold(kind, "Group")
}

// mayIdentify returns why the provider may not write a user or group, empty if it may.
func (j *pushChecker) mayIdentify(ref string) string {
	err := j.in.policy.Require(j.ctx, permission.IdentityWrite, &permission.Resource{Ref: ref, Provider: j.provider})
	if err != nil {
		return err.Error()
	}
	return ""
}

// mayForget returns why the caller may not remove a user or group; empty if that is
// allowed, or if the entity is of another kind.
func (j *pushChecker) mayForget(ref string) string {
	kind, _, _ := strings.Cut(ref, ":")
	if !isIdentity(kind) || !j.in.policy.Identifies(j.provider) {
		return ""
	}
	return j.mayIdentify(ref)
}

func (j *pushChecker) mayRemove(r *permission.Resource) bool {
	return j.removable.Op == filter.OpTrue || j.in.policy.Decide(j.caller, permission.EntityDelete, r)
}

// unlimited reports whether the caller may create, change and remove any entity.
func (j *pushChecker) unlimited() bool {
	return j.scope.Op == filter.OpTrue && j.removable.Op == filter.OpTrue
}

// obstacles are the reasons why the caller may not change or may not remove existing
// entities, by reference.
type obstacles struct{ change, remove map[string]string }

// why returns why an entity may not be removed.
func (o obstacles) why(ref string) string { return cmp.Or(o.change[ref], o.remove[ref]) }

func owners(n *tree.Node) []string {
	var out []string
	for _, r := range entity.Relations(n) {
		if r.Type == "ownedBy" {
			out = append(out, r.Target)
		}
	}
	return out
}

// whole makes the change replace everything that the provider has. An entity whose new
// version was refused keeps its old one; if it is unknown which entities these are, or
// if nothing was accepted, none is removed.
func (j *pushChecker) whole(change *write.Change, theirs obstacles) error {
	if len(j.refused) == 0 && j.unlimited() && j.mayForget("user:") == "" {
		change.Full = true
		return nil
	}
	gone, err := j.in.gone(j.ctx, j.provider, j.taken, j.keep)
	if err != nil {
		return err
	}
	if j.nameless || len(j.refused) > 0 && len(j.docs) == 0 {
		j.kept = len(gone)
		return nil
	}
	for _, ref := range gone {
		if why := cmp.Or(theirs.why(ref), j.mayForget(ref)); why != "" {
			return j.in.policy.Deny(j.ctx, permission.EntityDelete, &permission.Resource{Ref: ref}, strings.ToUpper(why[:1])+why[1:]+", which this push would remove")
		}
	}
	change.Remove = gone
	return nil
}

// foreign returns why the caller may not change existing entities: those for which the
// caller lacks a permission and, if strict, those that belong to other providers,
// because the store would report them too late.
func (j *pushChecker) foreign(full, strict bool) (obstacles, error) {
	out := obstacles{map[string]string{}, map[string]string{}}
	restricted := !j.unlimited()
	if !restricted && !strict {
		return out, nil
	}
	var refs []string
	for i := range j.entries {
		if j.entries[i].remove == "" {
			refs = append(refs, j.entries[i].ref)
		} else if ref, err := entity.ParseRef(j.entries[i].remove, "", ""); err == nil {
			refs = append(refs, ref.String())
		}
	}
	if full && restricted {
		owned, err := j.in.store.Refs(j.ctx, j.provider)
		if err != nil {
			return out, err
		}
		refs = append(refs, owned...)
	}
	slices.Sort(refs)
	const batch = 500
	for some := range slices.Chunk(slices.Compact(slices.DeleteFunc(refs, func(s string) bool { return !rest.IsText(s) })), batch) {
		found, err := j.in.store.GetMany(j.ctx, some)
		if err != nil {
			return out, err
		}
		for _, e := range found {
			if e == nil {
				continue
			}
			if e.Provider != j.provider {
				out.change[e.Ref] = j.in.belongs(j.ctx, write.Refusal{Ref: e.Ref, Owner: e.Provider})
				continue
			}
			r, err := permission.ResourceOf(e.Ref, e.JSON)
			if err != nil {
				return out, err
			}
			if !j.may(r) {
				out.change[e.Ref] = missing(permission.EntityCreate, e.Ref)
			}
			if !j.mayRemove(r) {
				out.remove[e.Ref] = missing(permission.EntityDelete, e.Ref)
			}
		}
	}
	return out, nil
}

// without returns the references that are neither in put nor in keep.
func without(refs, put, keep []string) []string {
	stay := make(map[string]bool, len(put)+len(keep))
	for _, ref := range slices.Concat(put, keep) {
		stay[strings.ToLower(ref)] = true
	}
	return slices.DeleteFunc(refs, func(ref string) bool { return stay[ref] })
}
