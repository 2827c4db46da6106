// Package catalog has the actions that read entities of the catalog and register
// new ones, with the permissions of the caller of the task.
package catalog

import (
	"context"
	"fmt"
	"strings"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/git/forge"
)

// IDs of the actions.
const (
	ActionFetch    = "catalog:fetch"
	ActionRegister = "catalog:register"
	ActionWrite    = "catalog:write"
)

// maxEntities is the maximum size of the entities that one step reads, in bytes;
// the output of a step has the same limit.
const maxEntities = 4 << 20

// Catalog gives access to the catalog. It may be called concurrently.
type Catalog interface {
	// Entity returns the entity with a reference, kind:namespace/name in lower case;
	// nil if it does not exist, or the caller of the context may not see it.
	Entity(ctx context.Context, ref string) (*tree.Node, error)
	// Register makes the catalog read the file at the URL target from now on, and
	// returns the references of its entities. A file that is already registered is
	// not an error. With dry, the file is only read. The caller is that of the
	// context.
	Register(ctx context.Context, target string, dry bool) (refs []string, err error)
}

// Options configure the actions.
type Options struct {
	// Catalog is needed by catalog:fetch and catalog:register.
	Catalog Catalog
}

// Actions returns catalog:fetch, catalog:register and catalog:write; without a
// Catalog, only catalog:write.
func Actions(o Options) []action.Action {
	all := []action.Action{{
		ID:          ActionWrite,
		Description: "Writes an entity to a file of the workspace, as YAML",
		Input:       writeInput, Output: writeOutput, Examples: writeExamples,
		DryRun: true, Contained: true, Run: write,
	}}
	if o.Catalog == nil {
		return all
	}
	return append(all,
		action.Action{
			ID:          ActionFetch,
			Description: "Reads one or more entities of the catalog by their references",
			Input:       fetchInput, Output: fetchOutput, Examples: fetchExamples,
			DryRun: true, Contained: true, Run: o.fetch,
		},
		action.Action{
			ID:          ActionRegister,
			Description: "Registers a file with entities in the catalog; a file that is already registered stays registered",
			Input:       registerInput, Output: registerOutput, Examples: registerExamples,
			DryRun: true, Run: o.register,
		})
}

// fetch implements catalog:fetch.
func (o Options) fetch(ctx context.Context, c *action.Call) error {
	one, several := c.Input.Get("entityRef"), c.Input.Get("entityRefs")
	if one.Str() == "" && !several.IsList() {
		if c.Input.Get("optional").IsTrue() {
			return nil
		}
		return action.Errorf("set entityRef or entityRefs", "cannot read entities: neither entityRef nor entityRefs is set")
	}
	if one.Str() != "" {
		e, err := o.entity(ctx, c, one.Str())
		if err != nil {
			return err
		}
		c.Output("entity", e)
	}
	if !several.IsList() {
		return nil
	}
	all, size := tree.Arr(), 0
	for _, ref := range several.Items {
		e, err := o.entity(ctx, c, ref.Str())
		if err != nil {
			return err
		}
		if size += len(tree.AppendJSON(nil, e, "")); size > maxEntities {
			return action.Errorf("read fewer entities, or use several steps", "cannot read entities: larger than %d MiB in total", maxEntities>>20)
		}
		all.Items = append(all.Items, e)
	}
	c.Output("entities", all)
	return nil
}

// entity returns an entity, or null if it does not exist and is optional.
func (o Options) entity(ctx context.Context, c *action.Call, given string) (*tree.Node, error) {
	ref, err := entity.ParseRef(given, c.Input.Get("defaultKind").Str(), c.Input.Get("defaultNamespace").Str())
	if err != nil {
		return nil, &action.Error{Err: err, Hint: "write kind:namespace/name, or set defaultKind"}
	}
	e, err := o.Catalog.Entity(ctx, ref.String())
	if err != nil {
		return nil, fmt.Errorf("cannot read entity %q: %w", ref, err)
	}
	if e == nil && !c.Input.Get("optional").IsTrue() {
		return nil, action.Errorf("check the spelling and your permissions, or set optional: true to continue without it", "cannot read entity %q: not found", ref)
	}
	if e == nil {
		return tree.Nil(), nil
	}
	return e, nil
}

// DefaultFile is the usual name of a file with entities.
const DefaultFile = "catalog-info.yaml"

// register implements catalog:register. In a dry run the file may not exist yet,
// because an earlier step would have created it.
func (o Options) register(ctx context.Context, c *action.Call) error {
	target, err := target(c.Input)
	if err != nil {
		return err
	}
	c.Logf("registering %s", target)
	c.Output("catalogInfoUrl", tree.Str(target))
	refs, err := o.Catalog.Register(ctx, target, c.DryRun)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && c.DryRun:
		c.Logf("dry run: not registered, and registration would fail now: %v", err)
		return nil
	case err != nil && c.Input.Get("optional").IsTrue():
		c.Logf("skipped optional registration: %v", err)
		return nil
	case err != nil:
		return fmt.Errorf("cannot register %q: %w", target, err)
	}
	if c.DryRun {
		c.Logf("dry run: not registered")
	}
	if ref := foremost(refs); ref != "" {
		c.Logf("found %s", strings.Join(refs, ", "))
		c.Output("entityRef", tree.Str(ref))
	}
	return nil
}

// target returns the URL of the file to register.
func target(in *tree.Node) (string, error) {
	const hint = "write https://host/owner/name/blob/branch/" + DefaultFile
	if u := strings.TrimSpace(in.Get("catalogInfoUrl").Str()); u != "" {
		return u, nil
	}
	given := strings.TrimSpace(in.Get("repoContentsUrl").Str())
	if given == "" {
		return "", action.Errorf("set catalogInfoUrl or repoContentsUrl", "cannot register: neither catalogInfoUrl nor repoContentsUrl is set")
	}
	page, err := forge.ParsePage(given)
	if err != nil {
		return "", &action.Error{Err: err, Hint: hint}
	}
	at := strings.TrimSpace(in.Get("catalogInfoPath").Str())
	if at == "" {
		at = DefaultFile
	}
	page, err = page.Resolve("/" + strings.TrimLeft(at, "/"))
	if err != nil {
		return "", &action.Error{Err: err, Hint: hint}
	}
	return page.File(), nil
}

// foremost returns the entity that a step is most likely about: a Component, or
// otherwise one without a generated name.
func foremost(refs []string) string {
	best, rank := "", -1
	for _, r := range refs {
		kind, name, _ := strings.Cut(r, ":")
		_, name, _ = strings.Cut(name, "/")
		n := 0
		if !strings.HasPrefix(name, "generated-") {
			n++
			if strings.EqualFold(kind, "component") {
				n++
			}
		}
		if n > rank {
			best, rank = r, n
		}
	}
	return best
}

// write implements catalog:write.
func write(_ context.Context, c *action.Call) error {
	at := c.Input.Get("filePath").Str()
	if at == "" {
		at = DefaultFile
	}
	if err := c.Workspace.Write(at, tree.AppendYAML(nil, c.Input.Get("entity"))); err != nil {
		return err
	}
	c.Logf("wrote %s", at)
	c.Output("path", tree.Str(at))
	return nil
}
