package status

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"example.dev/ingestor/internal/ingestion/mirror"
)

// PendingRemoval is a mass removal that waits for confirmation.
type PendingRemoval struct {
	// Objects is the number of missing objects, Of the number that were known.
	Objects int `json:"objects"`
	Of      int `json:"of"`
	// Since is when the objects were first missing. A scan after Until that does not find
	// them either confirms the removal.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}

// Message describes the pending removal; HintPending says what to do.
func (p *PendingRemoval) Message() string {
	return fmt.Sprintf("%d of %d objects are missing; their entities stay until a scan after %s or a user confirms the removal",
		p.Objects, p.Of, p.Until.UTC().Format(time.RFC3339))
}

// HintPending is the hint about a pending removal.
const HintPending = "check that the source is complete; if the objects are gone for good, confirm the removal"

// KeyConfirmed is the journal key prefix for removals that a user has confirmed.
const KeyConfirmed = NotSource + "removal of "

// Confirmation is a pending removal that a user has confirmed.
type Confirmation struct {
	PendingRemoval
	By string `json:"by"`
}

// Covers reports whether it confirms a pending removal, which may have become smaller
// since.
func (c *Confirmation) Covers(p *PendingRemoval) bool {
	return c.By != "" && c.Since.Equal(p.Since) && p.Objects <= c.Objects
}

// Confirmed returns the last removal of a target that a user has confirmed.
func Confirmed(ctx context.Context, m *mirror.Mirror, target string) (c Confirmation, err error) {
	states, err := m.SourceStates(ctx, KeyConfirmed+target)
	if data, ok := states[KeyConfirmed+target]; ok && err == nil {
		err = json.Unmarshal(data, &c)
	}
	return c, err
}

// Confirm stores that a user confirms the pending removal of a target, which since
// identifies.
func Confirm(ctx context.Context, m *mirror.Mirror, target, by string, since time.Time) (PendingRemoval, error) {
	all, err := Load(ctx, m, target)
	if err != nil {
		return PendingRemoval{}, err
	}
	p := all[target].Pending
	if p == nil || !p.Since.Equal(since) {
		return PendingRemoval{}, ErrNothingPending
	}
	data, err := json.Marshal(Confirmation{PendingRemoval: *p, By: cmp.Or(by, "unknown")})
	if err != nil {
		return PendingRemoval{}, err
	}
	return *p, m.SetSource(ctx, KeyConfirmed+target, data)
}

// ErrNothingPending is returned on confirming a removal that is not pending.
var ErrNothingPending = errors.New("no removal is pending")
