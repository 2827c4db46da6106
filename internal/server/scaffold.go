package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/action"
	catalogactions "example.dev/ingestor/action/catalog"
	clusteractions "example.dev/ingestor/action/cluster"
	"example.dev/ingestor/action/debug"
	"example.dev/ingestor/action/files"
	"example.dev/ingestor/action/publish"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/catalog"
	"example.dev/ingestor/internal/catalog/provider"
	"example.dev/ingestor/internal/catalog/provider/location"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/git/fetch"
	"example.dev/ingestor/internal/git/integration"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/plan/api"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/scaffolder"
	"example.dev/ingestor/internal/scaffolder/task"
	"example.dev/ingestor/internal/scaffolder/validation"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/template/expression"
	"example.dev/ingestor/words"
)

// scaffold assembles the scaffolder: the actions of steps, the tasks that run them, and
// the API with its permissions.
func (p *Portal) scaffold(opts Options, policy *permission.Policy, cat *catalog.Catalog, in *provider.Providers, plans *api.API, registry *prometheus.Registry) (*scaffolder.Scaffolder, error) {
	c := opts.Config.Scaffolder
	env := expression.Default()
	clusters := clusteractions.NewFleet(opts.Config.WritableClusters(), cluster.Options{Agent: "portal-backend/" + opts.Build, Wrap: p.telemetry.Transport})
	choices := clusteractions.Options{Default: c.DefaultCluster, Namespace: c.DefaultNamespace, Wait: c.WaitTimeout}
	hosts := integration.Hosts(opts.Config.Integrations)
	key, err := secretKey(opts.Config)
	if err != nil {
		return nil, err
	}
	p.tasks, err = task.New(task.Options{
		Store: p.taskStore, Queue: p.queue, Env: env, Key: key,
		Dir:     workDir(opts.Config),
		Workers: c.Workers, Limits: task.Limits{OpenTasks: c.Limits.OpenTasks, RunningTasks: c.Limits.RunningTasks}, Timeout: c.TaskTimeout, Keep: c.KeepTasks,
		Now: opts.Now, Log: opts.Log, Registry: registry, Tracer: p.telemetry.Tracer(), Audit: p.audit.tasks(), Authorize: scaffolder.Authorizer(policy, c.BranchPrefix),
		Actions: slices.Concat(
			clusteractions.Actions(clusters, choices),
			publish.Actions(publish.Options{
				Hosts: hosts, Author: c.Author, Email: c.Email, Prefix: c.BranchPrefix, Now: opts.Now,
				Plan: proposalPlans(opts.Config.Plan, plans, clusters, choices),
			}),
			files.Actions(files.Options{Env: env, Fetcher: fetch.New(fetch.Options{
				Hosts: hosts, Folders: folders(opts.Config.Catalog),
			})}),
			catalogactions.Actions(catalogactions.Options{Catalog: registrar{cat, in}}),
			debug.Actions(debug.Options{}),
			opts.Actions,
		),
	})
	if err != nil {
		return nil, err
	}
	f := filler{clusteractions.NewReader(clusters, choices), scaffolder.Authorizer(policy, c.BranchPrefix)}
	return scaffolder.New(scaffolder.Options{
		Tasks: p.tasks, TaskStore: p.taskStore, Policy: policy, Catalog: scaffolded{cat, p.store}, Templates: cat.OfKind(entity.KindTemplate),
		Env: env, Log: opts.Log, Fill: f.fill, Audit: p.audit.log,
		TrustTemplates: func(name string) bool {
			return slices.ContainsFunc(opts.Config.Auth.Backstages, func(b config.Backstage) bool { return b.Name == name && b.TrustTemplates })
		},
		EventStreams: c.Limits.EventStreams, Cluster: func(name string) string { return clusteractions.Chosen(clusters, choices, name) },
		Autocomplete: map[string]scaffolder.Complete{"cluster": func(_ context.Context, resource string, _ map[string]string) ([]scaffolder.Result, error) {
			return offered(clusters.Names(), resource)
		}},
	}), nil
}

// offered returns the clusters that a form offers.
func offered(names []string, resource string) ([]scaffolder.Result, error) {
	if resource != "clusters" {
		return nil, rest.NotFound("Unknown resource %q; use clusters", resource)
	}
	all := make([]scaffolder.Result, len(names))
	for i, name := range names {
		all[i].ID = name
	}
	return all, nil
}

// folders returns the local folders that Templates are read from, and from which they
// may fetch files.
func folders(c config.Catalog) []string {
	var all []string
	for _, l := range c.Locations {
		if l.Type == config.LocationFile {
			all = append(all, location.Folder(l.Target))
		}
	}
	return all
}

// secretKey returns the key that encrypts the secrets of tasks: that of the
// configuration or, with SQLite, one in a file next to the database, which is generated
// on first use. It is nil if there is none.
func secretKey(c *config.Config) ([]byte, error) {
	if k := c.Scaffolder.SecretKey.Reveal(); k != "" {
		return []byte(k), nil
	}
	db := c.Backend.Database
	if db.Client != config.ClientSQLite || db.Path == "" {
		return nil, nil
	}
	path := db.TasksKeyPath()
	made := make([]byte, 32)
	if _, err := rand.Read(made); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		k, err := os.ReadFile(path)
		if err == nil && len(k) == 0 {
			err = errors.New("file is empty: remove it to generate a new key")
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read the task secret key %s: %w", path, err)
		}
		return k, nil
	}
	if err == nil {
		_, err = f.WriteString(base64.StdEncoding.EncodeToString(made) + "\n")
		err = errors.Join(err, f.Sync(), f.Close())
		if err != nil {
			// A truncated key would be used as a key the next time.
			err = errors.Join(err, os.Remove(path))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot create the task secret key %s: %w", path, err)
	}
	return os.ReadFile(path)
}

// workDir returns the folder for the workspaces of tasks.
func workDir(c *config.Config) string {
	return cmp.Or(c.Scaffolder.WorkingDirectory, filepath.Join(os.TempDir(), "ingestor-tasks"))
}

// registrar is the catalog for steps, with the permissions of the context's caller.
type registrar struct {
	catalog *catalog.Catalog
	intake  *provider.Providers
}

// Entity implements the catalog of actions.
func (r registrar) Entity(ctx context.Context, ref string) (*tree.Node, error) {
	e, err := r.catalog.Find(ctx, ref)
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return wire.Decoder{}.Decode(e.JSON)
}

// Register implements the catalog of actions.
func (r registrar) Register(ctx context.Context, target string, dry bool) ([]string, error) {
	return r.intake.Register(ctx, target, dry)
}

// filler fills the forms of Templates that update a resource.
type filler struct {
	reader    *clusteractions.Reader
	authorize task.Authorize
}

// fill returns the form values for an existing resource.
func (f filler) fill(ctx context.Context, by task.Requester, template *tree.Node, cluster, namespace, name string) (*tree.Node, error) {
	spec := template.Get("spec")
	manifest := updated(spec)
	if manifest == nil {
		return nil, nil
	}
	call := &action.Call{Caller: by.Actor(), Template: by.Template, Authorize: func(ctx context.Context, permission string, t action.Target) error {
		return f.authorize(ctx, by, words.ActionApply, permission, t)
	}}
	n, err := f.reader.Read(ctx, call, cluster, manifest.Get("apiVersion").Str(), manifest.Get("kind").Str(), namespace, name)
	if err != nil {
		return nil, err
	}
	if n == nil {
		return nil, rest.NotFound("%s %s%s%s not found", manifest.Get("kind").Str(), name, where(" in namespace ", namespace), where(" in cluster ", cluster))
	}
	filled := form.Fill(spec, n)
	if asks(spec, form.ParamCluster) {
		filled.Set(form.ParamCluster, tree.Str(cluster))
	}
	return filled, nil
}

func where(word, name string) string {
	if name == "" {
		return ""
	}
	return word + name
}

// asks reports whether a form has a field.
func asks(spec *tree.Node, field string) bool {
	return slices.ContainsFunc(validation.Pages(spec.Get("parameters")), func(page *tree.Node) bool {
		return page.Get("properties").Has(field)
	})
}

// updated returns the manifest of the step by which a Template updates a resource; nil
// if there is none.
func updated(spec *tree.Node) *tree.Node {
	for _, step := range spec.Get("steps").List() {
		input := step.Get("input")
		if words.In(words.Action, step.Get("action").Str()) == words.ActionApply && input.Get("update").IsTrue() {
			return input.Get("manifest")
		}
	}
	return nil
}
