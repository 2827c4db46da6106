// Package served finds out how clusters serve kinds: under which paths, with which
// schemas, and why not.
package served

import (
	"context"
	"slices"
	"strings"
	"sync"

	"example.dev/ingestor/action/cluster/internal/manifest"
	"example.dev/ingestor/action/cluster/internal/refusal"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// Kinds caches how clusters serve kinds, and the schemas of kinds. It may be used
// concurrently.
type Kinds struct {
	schema func(apiVersion, kind string) *tree.Node

	mu sync.Mutex
	// resources has no kinds that are not served, because that may change soon.
	resources map[key]manifest.Resource
	schemas   map[key]*cached
}

// New returns an empty cache. schema returns the schema of the spec of a kind, if the
// program knows it, otherwise nil; it may itself be nil.
func New(schema func(apiVersion, kind string) *tree.Node) *Kinds {
	return &Kinds{schema: schema, resources: map[key]manifest.Resource{}, schemas: map[key]*cached{}}
}

type key struct {
	cluster          *cluster.Cluster
	apiVersion, kind string
}

func keyOf(c *cluster.Cluster, d *manifest.Document) key { return key{c, d.APIVersion, d.Kind} }

// Find returns how the cluster serves the kind of a document.
func (k *Kinds) Find(ctx context.Context, c *cluster.Cluster, d *manifest.Document) (manifest.Resource, error) {
	at := keyOf(c, d)
	k.mu.Lock()
	known, ok := k.resources[at]
	k.mu.Unlock()
	if ok {
		return known, nil
	}
	group, version := d.GroupVersion()
	list, err := c.Do(ctx, cluster.Call{
		Doing: d.Doing(), Path: manifest.Path(group, version),
		Needs: cluster.Rule{URLs: []string{"/api", "/api/*", "/apis", "/apis/*"}, Verbs: []string{"get"}},
	})
	if refusal.ReasonOf(err) == cluster.Absent {
		return manifest.Resource{}, notServed(ctx, c, d, nil)
	}
	if err != nil {
		return manifest.Resource{}, refusal.WithHint(err)
	}
	var others []string
	for _, r := range list.Get("resources").List() {
		plural := r.Get("name").Str()
		if strings.Contains(plural, "/") {
			continue
		}
		if r.Get("kind").Str() == d.Kind {
			found := manifest.Resource{Group: group, Version: version, Plural: plural, Namespaced: r.Get("namespaced").IsTrue()}
			k.mu.Lock()
			k.resources[at] = found
			k.mu.Unlock()
			return found, nil
		}
		others = append(others, r.Get("kind").Str())
	}
	return manifest.Resource{}, notServed(ctx, c, d, others)
}

// Forget removes the kind of a document from the cache.
func (k *Kinds) Forget(c *cluster.Cluster, d *manifest.Document) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.resources, keyOf(c, d))
}

// notServed returns an error that a kind is not served, with what is served
// instead. others are the kinds of the same version, if that version is served.
func notServed(ctx context.Context, c *cluster.Cluster, d *manifest.Document, others []string) error {
	if err := NotEstablished(ctx, c, d); err != nil {
		return err
	}
	group, version := d.GroupVersion()
	hint := "check apiVersion and kind, and that the definition is installed in the cluster and established"
	if len(others) > 0 {
		slices.Sort(others)
		hint = "check the kind, and that its definition is established; of " + d.APIVersion + " the cluster serves " + refusal.Join(slices.Compact(others))
	} else if versions := versionsOf(ctx, c, group); len(versions) > 0 {
		hint = "check apiVersion; of " + group + " the cluster serves " + refusal.Join(versions) + ", not " + version
	}
	return refusal.Errorf(c, d.Doing(), cluster.Absent, hint, "the cluster does not serve kind %s of %s", d.Kind, d.APIVersion)
}

// NotEstablished returns an error with the conditions of the XRD that explain why
// a kind is not served. It returns nil if no readable XRD explains it.
func NotEstablished(ctx context.Context, c *cluster.Cluster, d *manifest.Document) error {
	_, version := d.GroupVersion()
	def, err := definitionOf(ctx, c, d)
	if err != nil || def == nil {
		return nil
	}
	why := unserved(def, d.Kind, version)
	if why == "" {
		return nil
	}
	return refusal.Errorf(c, d.Doing(), cluster.Absent, "run kubectl describe xrd "+def.Name+", and try again when the condition is True",
		"the cluster does not serve kind %s of %s: XRD %s: %s", d.Kind, d.APIVersion, def.Name, why)
}

// unserved returns why a kind of a definition is not served, empty if the
// definition's conditions do not say.
func unserved(def *xrd.Definition, kind, version string) string {
	if !slices.ContainsFunc(def.Served, func(v *xrd.Version) bool { return v.Name == version }) {
		return ""
	}
	def.NotServed(kind)
	var why []string
	for _, u := range def.Unserved() {
		// A composite needs no claim.
		if u.Type != xrd.ConditionOffered || kind == def.Claim.Kind {
			why = append(why, u.String())
		}
	}
	return strings.Join(why, "; ")
}

// versionsOf returns the versions of a group, nil if they cannot be read.
func versionsOf(ctx context.Context, c *cluster.Cluster, group string) []string {
	if group == "" {
		return []string{"v1"}
	}
	answer, err := c.Do(ctx, cluster.Call{Doing: "find the versions of " + group, Path: "/apis/" + group})
	if err != nil {
		return nil
	}
	var out []string
	for _, v := range answer.Get("versions").List() {
		out = append(out, v.Get("version").Str())
	}
	return out
}
