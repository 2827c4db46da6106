package scaffolder

import (
	"context"
	"errors"
	"slices"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/scaffolder/task"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

// Resource returns a task as a resource for permissions: its owners are the user who
// created it and the Backstage that did so for the user. It is nil if there is no such task.
func (s *Scaffolder) Resource(ctx context.Context, id string) (*permission.Resource, error) {
	if !rest.IsText(id) {
		return nil, nil
	}
	t, err := s.TaskStore.TaskBrief(ctx, id)
	if err != nil || t == nil {
		return nil, err
	}
	return resourceOf(t), nil
}

func resourceOf(t *taskstore.Task) *permission.Resource {
	return &permission.Resource{Ref: t.ID, Owners: ownersOf(t)}
}

// ownersOf returns the user who created a task, and the Backstage that did so for the user.
func ownersOf(t *taskstore.Task) (owners []string) {
	if t.CreatedBy != "" {
		owners = append(owners, t.CreatedBy)
	}
	if by, err := task.RequesterOf(t); err == nil && by.Caller.Via != "" {
		owners = append(owners, permission.OriginBackstage+by.Caller.Via)
	}
	return owners
}

// readers returns the owners whose tasks the caller may read, or the fault for a
// caller who may read none.
func (s *Scaffolder) readers(ctx context.Context) (permission.Owners, error) {
	owners := s.Policy.Owners(auth.From(ctx), permission.TaskRead)
	if !owners.None() {
		return owners, nil
	}
	if err := s.Policy.Require(ctx, permission.TaskRead, nil); err != nil {
		return owners, err
	}
	return owners, s.Policy.Deny(ctx, permission.TaskRead, nil, "Missing permission "+permission.TaskRead)
}

// task returns the task with an id, if the caller may read it.
func (s *Scaffolder) task(ctx context.Context, id string) (*taskstore.Task, error) {
	owners, err := s.readers(ctx)
	if err != nil {
		return nil, err
	}
	var t *taskstore.Task
	if rest.IsText(id) {
		if t, err = s.TaskStore.TaskBrief(ctx, id); err != nil {
			return nil, err
		}
	}
	if t == nil || !owners.Has(t.CreatedBy) && !slices.ContainsFunc(ownersOf(t), owners.Has) {
		return nil, rest.NotFound("No task with id '%s' found", rest.Short(id))
	}
	return t, nil
}

// mayRun returns the fault for a caller who may not run a Template. A nil resource is
// a Template that is not in the catalog.
func (s *Scaffolder) mayRun(ctx context.Context, create string, r *permission.Resource) error {
	for _, name := range []string{create, permission.TemplateParameterRead, permission.TemplateStepRead} {
		if err := s.Policy.Require(ctx, name, r); err != nil {
			return err
		}
	}
	return nil
}

// templateOf returns the Template that a task was created from as a resource for
// permissions, even if the Template was deleted.
func (s *Scaffolder) templateOf(ctx context.Context, t *taskstore.Task) (*permission.Resource, error) {
	e, err := s.Catalog.Get(ctx, t.Template)
	if err == nil {
		r, err := permission.ResourceOf(e.Ref, e.JSON)
		if err == nil {
			r.Origin = e.Origin
		}
		return r, err
	}
	if !errors.Is(err, db.ErrNotFound) {
		return nil, err
	}
	ref, err := entity.ParseRef(t.Template, entity.KindTemplate, "")
	return &permission.Resource{Ref: t.Template, Kind: ref.Kind, Namespace: ref.Namespace}, err
}
