package provider

import (
	"context"
	"errors"
	"hash/maphash"
	"net/http"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/spool"
)

// pushes is the state for handling pushes.
type pushes struct {
	// max is the maximum size of a push in bytes; 0 means the server's limit.
	max int64
	// turns serializes the pushes of one provider within this process.
	turns [64]sync.Mutex
}

var turnSeed = maphash.MakeSeed()

// turn acquires the lock of a provider, and returns the function that releases it.
func (p *pushes) turn(name string) (end func()) {
	m := &p.turns[maphash.String(turnSeed, name)%uint64(len(p.turns))]
	m.Lock()
	return m.Unlock
}

func (p *pushes) limit() int64 {
	if p.max > 0 {
		return p.max
	}
	return defaultMaxPush
}

var providerName = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$`)

// providerOf returns the provider that a request names.
func providerOf(r *http.Request) (string, error) {
	name := r.PathValue("name")
	if !providerName.MatchString(name) {
		return "", rest.Input("Invalid provider name '%s', expected at most 63 lower-case letters, digits, dashes, dots and underscores, "+
			"beginning and ending with a letter or digit", rest.Short(name))
	}
	if strings.HasPrefix(name, "location") {
		return "", rest.Input("Invalid provider name '%s', the prefix 'location' is reserved", name)
	}
	return name, nil
}

// listProviders answers GET /providers.
func (in *Providers) listProviders(w http.ResponseWriter, r *http.Request) error {
	if err := in.policy.Require(r.Context(), permission.IngestionRead, nil); err != nil {
		return err
	}
	owners, err := in.store.Providers(r.Context())
	if err != nil {
		return err
	}
	type item struct {
		Name     string `json:"name"`
		Entities int    `json:"entities"`
	}
	items := make([]item, 0, len(owners))
	for name, n := range owners {
		items = append(items, item{name, n})
	}
	slices.SortFunc(items, func(a, b item) int { return strings.Compare(a.Name, b.Name) })
	return writeTagged(w, r, struct {
		Items []item `json:"items"`
	}{items})
}

// deleteProvider answers DELETE /providers/{name}: it removes all entities that the
// provider pushed.
func (in *Providers) deleteProvider(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := in.policy.Require(ctx, permission.IngestionManage, nil); err != nil {
		return err
	}
	name, err := providerOf(r)
	if err != nil {
		return err
	}
	if in.policy.Identifies(name) {
		if err := in.policy.Require(ctx, permission.IdentityWrite, &permission.Resource{Ref: "provider " + name, Provider: name}); err != nil {
			return err
		}
	}
	defer in.pushes.turn(name)()
	res, err := in.store.Sync(ctx, write.Change{Provider: name, Full: true})
	if err == nil && res.Removed == 0 {
		err = rest.NotFound("Found no entities of provider %s", name)
	}
	in.recordProvider(ctx, name, res.Removed, err)
	if err != nil {
		return err
	}
	in.log.Info("provider removed", "provider", name, "removed", res.Removed)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// pushAll answers PUT /providers/{name}/entities: a full push.
func (in *Providers) pushAll(w http.ResponseWriter, r *http.Request) error {
	return in.push(w, r, true)
}

// pushDelta answers POST /providers/{name}/delta: a push of changes.
func (in *Providers) pushDelta(w http.ResponseWriter, r *http.Request) error {
	return in.push(w, r, false)
}

// report is the result of a push.
type report struct {
	Added     int `json:"added"`
	Updated   int `json:"updated"`
	Removed   int `json:"removed"`
	Unchanged int `json:"unchanged"`
	// Kept is how many entities stay although a full push does not contain them, because
	// it is unknown whether a refused entry was meant for one of them.
	Kept    int       `json:"kept"`
	Refused []refusal `json:"refused"`
}

// refusal is an entry that was refused.
type refusal struct {
	Index int `json:"index"`
	Line  int `json:"line,omitempty"`
	// Ref is empty if the entry has no usable reference.
	Ref    string `json:"ref,omitempty"`
	Reason string `json:"reason"`
}

// push processes a push, and answers with the report.
func (in *Providers) push(w http.ResponseWriter, r *http.Request, full bool) error {
	status, told, err := in.take(r, full)
	if errors.Is(err, spool.ErrTemporary) {
		err = rest.Unavailable(err, "cannot buffer the push: the temporary directory is full or cannot be written; set TMPDIR of portal-backend to a writable directory with free space, then push again")
	}
	if err != nil {
		in.recordFailedPush(r, full, err)
		return err
	}
	return rest.WriteJSON(w, r, status, told)
}

// take processes a push in one transaction, and returns the report and the status of
// the response.
func (in *Providers) take(r *http.Request, full bool) (status int, told report, err error) {
	ctx := r.Context()
	name, err := providerOf(r)
	if err != nil {
		return 0, told, err
	}
	texts := spool.New(pushRoom)
	defer func() { _ = texts.Close() }()
	j := newPushChecker(ctx, in, name, texts)
	if err := j.mayAtAll(); err != nil {
		return 0, told, err
	}
	q, err := rest.Params(r.URL.RawQuery)
	if err != nil {
		return 0, told, err
	}
	strict, err := rest.Flag(q, "strict")
	if err != nil {
		return 0, told, err
	}
	allowEmpty, err := rest.Flag(q, "allowEmpty")
	if err != nil {
		return 0, told, err
	}
	handler := j.handler(full, strict)
	if j.stream != nil {
		defer func() { err = errors.Join(err, j.stream.close()) }()
	}
	if err := readPush(r, in.pushes.limit(), !full, handler); err != nil {
		return 0, told, err
	}
	if full && j.count == 0 && !allowEmpty {
		return 0, told, rest.Input("The body has no entities, which would remove all entities of the provider; push with ?allowEmpty=true to confirm")
	}
	defer in.pushes.turn(name)()
	change, err := j.judge(full, strict)
	if err != nil {
		return 0, told, err
	}
	if strict && len(j.refused) > 0 {
		in.recordStrict(ctx, full, name, j.refused)
		return http.StatusBadRequest, report{Refused: j.refused}, nil
	}
	res, err := in.store.Sync(ctx, change)
	if err != nil {
		in.metrics.synced(fromPush, syncFailed)
		return 0, told, err
	}
	if err := j.finish(res); err != nil {
		return 0, told, err
	}
	in.pushed(name, full, res, len(j.refused))
	in.recordPush(ctx, full, name, res, j.refused)
	settle(j.count)
	return http.StatusOK, report{res.Added, res.Updated, res.Removed, res.Unchanged, j.kept, j.refused}, nil
}

// many is how many entities leave so much garbage that memory is returned to the system
// soon: the process would otherwise keep it for minutes.
const many = 1000

// pushRoom is how many bytes of a push are buffered in memory; the rest is in a
// temporary file.
const pushRoom = 8 << 20

// settle returns memory to the system after a large number of entities.
func settle(entities int) {
	if entities >= many {
		time.AfterFunc(time.Second, debug.FreeOSMemory)
	}
}

// pushed counts and logs a push.
func (in *Providers) pushed(name string, full bool, res write.Result, refused int) {
	if res.Added+res.Updated+res.Removed+refused == 0 {
		in.metrics.synced(fromPush, syncUnchanged)
		return
	}
	in.metrics.synced(fromPush, syncDone)
	in.log.Info("provider pushed", "provider", name, "full", full, "added", res.Added, "updated", res.Updated,
		"removed", res.Removed, "unchanged", res.Unchanged, "refused", refused)
}

// gone returns the entities that a provider owns and that are neither in put nor in
// keep.
func (in *Providers) gone(ctx context.Context, provider string, put, keep []string) ([]string, error) {
	owned, err := in.store.Refs(ctx, provider)
	if err != nil {
		return nil, err
	}
	return without(owned, put, keep), nil
}
