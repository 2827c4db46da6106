package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/cluster/internal/fields"
	"example.dev/ingestor/action/cluster/internal/input"
	"example.dev/ingestor/action/cluster/internal/manifest"
	"example.dev/ingestor/action/cluster/internal/refusal"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/words"
)

// serviceUser is the prefix of the user name of a service in a cluster that
// impersonates, as in portal:service:ci.
const serviceUser = "portal:"

// actAs returns the cluster with the identity of the caller of a task: the user,
// if the cluster impersonates, and otherwise the portal's account.
func actAs(on *cluster.Cluster, who action.Caller) (*cluster.Cluster, error) {
	switch {
	case !on.Impersonates():
		return on, nil
	case who.Guest:
		return nil, &action.Denied{Message: fmt.Sprintf("Cannot act in cluster %s as a guest: the cluster authorizes each user itself; sign in", on.Name()), Cluster: on.Name()}
	case who.Service:
		as, err := on.As(serviceUser+who.Ref, nil)
		return as, refused(on, err)
	case strings.HasPrefix(strings.ToLower(strings.TrimSpace(who.Login)), serviceUser):
		return nil, &action.Denied{Message: fmt.Sprintf("Cannot act in cluster %s as %q: names that begin with %s are reserved for services", on.Name(), who.Login, serviceUser), Cluster: on.Name()}
	}
	as, err := on.As(who.Login, who.Groups)
	return as, refused(on, err)
}

// refused turns the error for a name that a cluster cannot impersonate into a
// Denied error, so that a task with it is not created.
func refused(on *cluster.Cluster, err error) error {
	if e, ok := errors.AsType[*cluster.Error](err); ok {
		return &action.Denied{Message: e.Error() + "; " + e.Hint, Cluster: on.Name()}
	}
	return refusal.WithHint(err)
}

// look reads the live objects, nil for those that do not exist, and returns an
// error unless the caller has the permission for each of them.
func (a *applying) look(ctx context.Context, docs []*manifest.Document) error {
	for _, d := range docs {
		n, err := live(ctx, a.on, d)
		if err != nil {
			return a.explain(ctx, d, err)
		}
		a.before[d] = n
	}
	for _, d := range docs {
		if err := a.authorize(ctx, d, docs); err != nil {
			return err
		}
	}
	return nil
}

// authorize returns an error unless the caller may do what the step asks for with
// an object: both for its current owner and for the owner that the manifest sets.
func (a *applying) authorize(ctx context.Context, d *manifest.Document, docs []*manifest.Document) error {
	n := a.before[d]
	permission := action.ResourceUpdate
	switch {
	case d.Verb == manifest.VerbRead:
		permission = action.ResourceRead
	case d.Verb == manifest.VerbDelete:
		permission = action.ResourceDelete
	case n == nil:
		permission = action.ResourceCreate
	}
	given := OwnerRef(d.Node)
	owner := OwnerRef(n)
	switch {
	case owner != "":
	case d.Namespace != "":
		owner = a.namespaceOwner(ctx, d.Namespace, docs)
	case n == nil:
		owner = given
	}
	t := action.Target{
		Name: d.String() + " in cluster " + a.on.Name(), Cluster: a.on.Name(), Namespace: d.Within(), Kind: d.Kind,
		Owner: owner, Impersonated: a.on.Impersonates(), Group: d.Group(), ClusterScoped: !d.Served.Namespaced,
	}
	if err := a.require(ctx, permission, t); err != nil {
		return err
	}
	if a.TakeOver {
		if err := a.require(ctx, action.ResourceTakeOver, t); err != nil {
			return err
		}
	}
	if given == "" || given == owner {
		return nil
	}
	t.Owner = given
	t.Name += ", transferred to " + given
	return a.require(ctx, permission, t)
}

// OwnerRef returns the owner of an object as a reference, empty if it has none.
func OwnerRef(n *tree.Node) string {
	owner := strings.TrimSpace(ownerOf(n))
	if owner == "" {
		return ""
	}
	ref, err := entity.ParseExisting(owner, "Group", entity.DefaultNamespace)
	if err != nil {
		return owner
	}
	return ref.String()
}

// namespaceOwner returns the owner of a namespace, which may be one that the same
// manifest creates. It returns an empty string if there is none, or if the
// namespace cannot be read, which is logged.
func (a *applying) namespaceOwner(ctx context.Context, name string, docs []*manifest.Document) string {
	n, err := a.on.Account().Do(ctx, cluster.Call{
		Doing: "read the owner of namespace " + name, Path: "/api/v1/namespaces/" + url.PathEscape(name),
		Needs: cluster.Rule{Groups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get"}},
	})
	if err == nil {
		return OwnerRef(n)
	}
	if r, ok := cluster.RefusalOf(err); !ok || r.Code != 404 {
		a.logf("%s", err)
		return ""
	}
	for _, d := range docs {
		if d.APIVersion == "v1" && d.Kind == "Namespace" && d.Name == name {
			return OwnerRef(d.Node)
		}
	}
	return ""
}

// checkApply returns the *action.Denied for a step that apply would refuse.
func (w *writer) checkApply(ctx context.Context, c *action.Call, o input.Step) error {
	docs, err := manifest.Read(o.Manifest)
	if err != nil {
		return err
	}
	return w.preflight(ctx, c, docs, o, "create", "patch")
}

// checkDelete returns the *action.Denied for a step that remove would refuse.
func (w *writer) checkDelete(ctx context.Context, c *action.Call, d *manifest.Document, o input.Step) error {
	if err := d.CheckNames(); err != nil {
		return err
	}
	return w.preflight(ctx, c, []*manifest.Document{d}, o, "delete")
}

// preflight runs the checks of the step on the documents, and writes nothing.
func (w *writer) preflight(ctx context.Context, c *action.Call, docs []*manifest.Document, o input.Step, verbs ...string) error {
	a, err := w.begin(c, o)
	if err != nil {
		return err
	}
	for _, d := range docs {
		k, err := a.kinds.Find(ctx, a.on.Account(), d)
		if err != nil {
			return err
		}
		if err := d.Settle(k, o.Namespace); err != nil {
			return err
		}
		if err := a.reviewed(ctx, d, verbs); err != nil {
			return err
		}
	}
	return a.look(ctx, docs)
}

// reviewed asks a cluster that impersonates whether the user may use the verbs on
// an object.
func (a *applying) reviewed(ctx context.Context, d *manifest.Document, verbs []string) error {
	if !a.on.Impersonates() {
		return nil
	}
	for _, verb := range append([]string{"get"}, verbs...) {
		review := tree.Obj(
			tree.F("apiVersion", tree.Str("authorization.k8s.io/v1")), tree.F("kind", tree.Str("SelfSubjectAccessReview")),
			tree.F("spec", tree.Obj(tree.F("resourceAttributes", tree.Obj(
				tree.F("verb", tree.Str(verb)), tree.F("group", tree.Str(d.Served.Group)), tree.F("version", tree.Str(d.Served.Version)),
				tree.F("resource", tree.Str(d.Served.Plural)), tree.F("namespace", tree.Str(d.Namespace)), tree.F("name", tree.Str(d.Name)),
			)))),
		)
		n, err := a.on.Do(ctx, cluster.Call{
			Doing: "check permissions for " + d.String(), Method: "POST",
			Path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", Body: tree.AppendJSON(nil, review, ""),
		})
		if err != nil {
			return err
		}
		if n.Get("status", "allowed").IsTrue() {
			continue
		}
		return &action.Denied{Message: fmt.Sprintf(
			"Cannot %s: cluster %s does not let %s %s %s%s. The missing RBAC rule: { apiGroups: [%q], resources: [%q], verbs: [%q] }",
			d.Doing(), a.on.Name(), a.caller.Ref, verb, d.Served.Plural, inNamespace(d.Namespace), d.Served.Group, d.Served.Plural, verb), Cluster: a.on.Name()}
	}
	return nil
}

func inNamespace(name string) string {
	if name == "" {
		return ""
	}
	return " in namespace " + name
}

// stamp returns a document with annotations for its creator, task and Template. An
// existing object keeps the annotations that it has.
func (a *applying) stamp(d, before *tree.Node) *tree.Node {
	made := map[string]string{words.AnnotationRequestedBy: a.caller.Ref, words.AnnotationTask: a.task, words.AnnotationFromTemplate: a.template}
	if before != nil {
		had := before.Get("metadata", "annotations").StringMap()
		for key := range made {
			made[key] = had[key]
		}
	}
	meta := tree.Obj(append([]tree.Field(nil), d.Get("metadata").Fields...)...)
	annotations := tree.Obj()
	if old := meta.Get("annotations"); old.IsMap() {
		annotations.Fields = append(annotations.Fields, old.Fields...)
	}
	for _, key := range fields.Stamps {
		annotations.Delete(key)
		if made[key] != "" {
			annotations.Set(key, tree.Str(made[key]))
		}
	}
	if annotations.Len() == 0 && !meta.Has("annotations") {
		return d
	}
	meta.Set("annotations", annotations)
	out := tree.Obj(append([]tree.Field(nil), d.Fields...)...)
	out.Set("metadata", meta)
	return out
}
