package intake

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"example.dev/ingestor/internal/portal/audit"
	"example.dev/ingestor/internal/portal/permission"
	"example.dev/ingestor/internal/store"
)

// recordPush records a push that was carried out.
func (in *Intake) recordPush(ctx context.Context, full bool, provider string, res store.Result, refused []refusal) {
	if denied := countDenied(refused); denied > 0 {
		in.audit.Record(ctx, audit.Event{
			Name: audit.PermissionRefused, Result: audit.Denied, Reason: "Missing permission for entities of a push",
			Target: map[string]string{"permission": permission.EntityCreate, "provider": provider}, Counts: map[string]int{"entities": denied},
		})
	}
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

// countDenied counts the entities that were refused for want of a permission.
func countDenied(refused []refusal) int {
	n := 0
	for _, r := range refused {
		if strings.HasPrefix(r.Reason, missingPermission) {
			n++
		}
	}
	return n
}

// recordLocation records what became of a location.
func (in *Intake) recordLocation(ctx context.Context, event string, l store.Location, err error) {
	in.audit.Done(ctx, audit.Event{Name: event, Target: map[string]string{
		"location": l.ID, "type": l.Type, "target": withoutQuery(l.Target),
	}}, err)
}

// withoutQuery returns an address without what may be a token in it.
func withoutQuery(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.RawQuery == "" && u.Fragment == "" && u.User == nil {
		return address
	}
	u.User, u.RawQuery, u.Fragment, u.RawFragment = nil, "", "", ""
	return u.String()
}

// audited records why a push failed, and returns that.
func (in *Intake) audited(r *http.Request, full bool, err error) error {
	if err != nil {
		in.audit.Done(r.Context(), audit.Event{Name: pushEvent(full), Target: map[string]string{"provider": r.PathValue("name")}}, err)
	}
	return err
}

// recordStrict records a push of which nothing was taken because some entities
// were refused.
func (in *Intake) recordStrict(ctx context.Context, full bool, provider string, refused int) {
	in.audit.Record(ctx, audit.Event{
		Name: pushEvent(full), Result: audit.Failure, Reason: "strict push with refused entities",
		Target: map[string]string{"provider": provider}, Counts: map[string]int{"refused": refused},
	})
}

// recordProvider records that a provider was removed, or why not.
func (in *Intake) recordProvider(ctx context.Context, provider string, removed int, err error) {
	in.audit.Done(ctx, audit.Event{
		Name: audit.ProviderDelete, Target: map[string]string{"provider": provider}, Counts: map[string]int{"removed": removed},
	}, err)
}

// recordRefresh records that the location of an entity is read again.
func (in *Intake) recordRefresh(ctx context.Context, ref string) {
	in.audit.Done(ctx, audit.Event{Name: audit.EntityRefresh, Target: map[string]string{"entity": ref}}, nil)
}
