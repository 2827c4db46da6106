package cluster

import (
	"context"
	"slices"
	"strings"
	"sync"

	"example.dev/ingestor/action/cluster/internal/manifest"

	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

type kindKey struct {
	cluster          *cluster.Cluster
	apiVersion, kind string
}

// kinds caches how kinds are served, which rarely changes. Kinds that are not
// served are not cached.
type kinds struct {
	mu    sync.Mutex
	known map[kindKey]manifest.Resource
}

// find returns how the cluster serves the kind of a document.
func (k *kinds) find(ctx context.Context, c *cluster.Cluster, d *manifest.Document) (manifest.Resource, error) {
	key := kindKey{c, d.APIVersion, d.Kind}
	k.mu.Lock()
	known, ok := k.known[key]
	k.mu.Unlock()
	if ok {
		return known, nil
	}
	group, version := d.GroupVersion()
	list, err := c.Do(ctx, cluster.Call{
		Doing: d.Doing(), Path: manifest.Path(group, version),
		Needs: cluster.Rule{URLs: []string{"/api", "/api/*", "/apis", "/apis/*"}, Verbs: []string{"get"}},
	})
	if reason(err) == cluster.Absent {
		return manifest.Resource{}, notServed(ctx, c, d, nil)
	}
	if err != nil {
		return manifest.Resource{}, told(err)
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
			k.known[key] = found
			k.mu.Unlock()
			return found, nil
		}
		others = append(others, r.Get("kind").Str())
	}
	return manifest.Resource{}, notServed(ctx, c, d, others)
}

// forget removes the kind of a document from the cache.
func (k *kinds) forget(c *cluster.Cluster, d *manifest.Document) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.known, kindKey{c, d.APIVersion, d.Kind})
}

// notServed returns an error that a kind is not served, with what is served
// instead. others are the kinds of the same version, if that version is served.
func notServed(ctx context.Context, c *cluster.Cluster, d *manifest.Document, others []string) error {
	if err := notEstablished(ctx, c, d); err != nil {
		return err
	}
	group, version := d.GroupVersion()
	hint := "check apiVersion and kind, and that the definition is installed in the cluster and established"
	if len(others) > 0 {
		slices.Sort(others)
		hint = "check the kind, and that its definition is established; of " + d.APIVersion + " the cluster serves " + andList(slices.Compact(others))
	} else if versions := versionsOf(ctx, c, group); len(versions) > 0 {
		hint = "check apiVersion; of " + group + " the cluster serves " + andList(versions) + ", not " + version
	}
	return failure(c, d.Doing(), cluster.Absent, hint, "the cluster does not serve kind %s of %s", d.Kind, d.APIVersion)
}

// notEstablished returns an error with the conditions of the XRD that explain why
// a kind is not served. It returns nil if no readable XRD explains it.
func notEstablished(ctx context.Context, c *cluster.Cluster, d *manifest.Document) error {
	_, version := d.GroupVersion()
	def, err := definitionOf(ctx, c, d)
	if err != nil || def == nil {
		return nil
	}
	why := unserved(def, d.Kind, version)
	if why == "" {
		return nil
	}
	return failure(c, d.Doing(), cluster.Absent, "run kubectl describe xrd "+def.Name+", and try again when the condition is True",
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
