package provider

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/identity/audit"
	"example.dev/ingestor/internal/identity/permission"
)

// recordPush records a push that was carried out.
func (in *Providers) recordPush(ctx context.Context, full bool, provider string, res write.Result, refused []refusal) {
	in.recordDenied(ctx, provider, refused)
	in.audit.Record(ctx, audit.Event{
		Name: pushEvent(full), Result: audit.Success, Target: map[string]string{"provider": provider},
		Counts: map[string]int{"added": res.Added, "updated": res.Updated, "removed": res.Removed, "unchanged": res.Unchanged, "refused": len(refused)},
	})
}

func pushEvent(full bool) string {
	if full {
		return audit.CatalogPush
	}
	return audit.CatalogDelta
}

// recordDenied records how many entities of a push were refused because of a missing
// permission, in a single event, because there may be many.
func (in *Providers) recordDenied(ctx context.Context, provider string, refused []refusal) {
	n := 0
	for _, r := range refused {
		if strings.HasPrefix(r.Reason, missingPermission) {
			n++
		}
	}
	if n > 0 {
		in.audit.Record(ctx, audit.Event{
			Name: audit.PermissionRefused, Result: audit.Denied, Reason: "Missing permission for entities of a push",
			Target: map[string]string{"permission": permission.EntityCreate, "provider": provider}, Counts: map[string]int{"entities": n},
		})
	}
}

// recordLocation records an operation on a location and its result.
func (in *Providers) recordLocation(ctx context.Context, event string, l store.Location, err error) {
	in.audit.Done(ctx, audit.Event{Name: event, Target: map[string]string{
		"location": l.ID, "type": l.Type, "target": withoutQuery(l.Target),
	}}, err)
}

// withoutQuery returns an address without the parts that may contain a token; empty if
// it is not a valid address.
func withoutQuery(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if u.RawQuery == "" && u.Fragment == "" && u.User == nil {
		return address
	}
	u.User, u.RawQuery, u.Fragment, u.RawFragment = nil, "", "", ""
	return u.String()
}

// recordFailedPush records why a push failed.
func (in *Providers) recordFailedPush(r *http.Request, full bool, err error) {
	in.audit.Done(r.Context(), audit.Event{Name: pushEvent(full), Target: map[string]string{"provider": r.PathValue("name")}}, err)
}

// recordStrict records a push that was rejected as a whole because some entities were
// refused.
func (in *Providers) recordStrict(ctx context.Context, full bool, provider string, refused []refusal) {
	in.recordDenied(ctx, provider, refused)
	in.audit.Record(ctx, audit.Event{
		Name: pushEvent(full), Result: audit.Failure, Reason: "strict push with refused entities",
		Target: map[string]string{"provider": provider}, Counts: map[string]int{"refused": len(refused)},
	})
}

// recordProvider records that a provider was removed, or why that failed.
func (in *Providers) recordProvider(ctx context.Context, provider string, removed int, err error) {
	in.audit.Done(ctx, audit.Event{
		Name: audit.ProviderDelete, Target: map[string]string{"provider": provider}, Counts: map[string]int{"removed": removed},
	}, err)
}

// recordRefresh records that a refresh of an entity was requested.
func (in *Providers) recordRefresh(ctx context.Context, ref string) {
	in.audit.Done(ctx, audit.Event{Name: audit.EntityRefresh, Target: map[string]string{"entity": ref}}, nil)
}
