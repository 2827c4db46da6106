package plan

import (
	"context"
	"slices"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/plan/render"
	"example.dev/ingestor/xrd"
)

// functions returns where the functions of a pipeline run.
func (j *job) functions(ctx context.Context, c *xrd.Composition) ([]render.Function, error) {
	var all []render.Function
	for _, step := range c.Steps {
		if slices.ContainsFunc(all, func(f render.Function) bool { return f.Name == step.Function }) {
			continue
		}
		f, ok := j.found[step.Function]
		if !ok {
			var err error
			if f, err = j.function(ctx, step.Function); err != nil {
				return nil, err
			}
			j.found[step.Function] = f
		}
		all = append(all, f)
	}
	return all, nil
}

// function returns where a function runs: as configured, or as its active revision says.
func (j *job) function(ctx context.Context, name string) (render.Function, error) {
	none := render.Function{}
	for _, cluster := range []string{j.Cluster, ""} {
		for _, e := range j.planner.opts.Functions {
			if e.Name == name && e.Cluster == cluster {
				return render.Function{Name: name, Endpoint: e.Address, TLS: e.TLS}, nil
			}
		}
	}
	if j.machine.Revisions == nil {
		return none, &Error{Reason: Function, Err: refuse(Function, "", "function %s has no endpoint", name), Hint: "pass --function " + name + "=HOST:PORT"}
	}
	revisions, err := j.machine.Revisions.List(ctx, packages, kindFunction, "", map[string]string{labelPackage: name}, mostRevisions)
	if err != nil {
		return none, explain(err)
	}
	i := slices.IndexFunc(revisions, func(n *tree.Node) bool { return n.Get("spec", "desiredState").Str() == "Active" })
	if i < 0 {
		return none, &Error{Reason: Function, Err: refuse(Function, "", "function %s is not installed in the cluster", name),
			Hint: "install a Function with this name", Operator: "or set its endpoint in plan.functions"}
	}
	endpoint := revisions[i].Get("status", "endpoint").Str()
	if endpoint == "" {
		e := refuse(Function, "check the Function and its pod in the cluster", "function %s is not healthy: %s", name, unhealthy(revisions[i]))
		e.Public = "function " + name + " is not healthy"
		return none, e
	}
	tls, err := j.machine.Certificate(ctx)
	if err != nil {
		return none, err
	}
	return render.Function{Name: name, Endpoint: endpoint, TLS: tls}, nil
}

// unhealthy says why a revision has no endpoint.
func unhealthy(revision *tree.Node) string {
	for _, c := range revision.Get("status", "conditions").List() {
		if c.Get("status").Str() == "False" && c.Get("message").Str() != "" {
			return c.Get("message").Str()
		}
	}
	return "its active revision has no endpoint"
}
