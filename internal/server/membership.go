package server

import (
	"context"
	"errors"
	"slices"
	"strings"

	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/catalog/provider"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/db"
)

// membership returns a function that looks up the groups of a user in the catalog: the
// memberOf of the user's entity, if one of the providers owns it. It is nil if there
// are no such providers.
func (p *Portal) membership(providers []string) func(ctx context.Context, user string) ([]string, error) {
	if len(providers) == 0 {
		return nil
	}
	return func(ctx context.Context, user string) ([]string, error) {
		e, err := p.store.Get(ctx, user)
		if errors.Is(err, db.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		configured := provider.IsConfigured(e.Provider) && slices.Contains(providers, config.MembershipLocations)
		if !configured && !slices.Contains(providers, e.Provider) {
			return nil, nil
		}
		n, err := wire.Decoder{}.Decode(e.JSON)
		if err != nil {
			return nil, err
		}
		// Relations are ignored: an entity of any provider can declare one.
		var groups []string
		for _, name := range n.Get("spec", "memberOf").Strings() {
			ref, err := entity.ParseExisting(name, "Group", entity.RefOf(n).Namespace)
			if err == nil && strings.EqualFold(ref.Kind, "Group") {
				groups = append(groups, ref.String())
			}
		}
		return groups, nil
	}
}
