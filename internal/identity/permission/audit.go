package permission

import (
	"context"
	"strings"

	"example.dev/ingestor/internal/rest"
)

// Deny records that the caller of ctx does not have the permission for r, which may
// be nil, and returns the fault to answer with.
func (p *Policy) Deny(ctx context.Context, permission string, r *Resource, message string) error {
	if p.Refused != nil {
		p.Refused(ctx, permission, r.target(), message)
	}
	return rest.NotAllowed("%s", message)
}

// target returns the resource in the form used in the audit log.
func (r *Resource) target() map[string]string {
	switch {
	case r == nil || r.Ref == "":
		return nil
	case r.Action != "" || r.Provider != "":
		return map[string]string{
			"action": r.Action, "template": r.Template, "origin": r.Origin, "provider": r.Provider,
			"cluster": r.Cluster, "namespace": r.inCluster(r.Namespace), "kind": r.inCluster(r.Kind),
			"repository": r.Repository, "branch": r.Branch, "name": r.Ref,
		}
	case strings.Contains(r.Ref, ":") && r.Cluster != "":
		return map[string]string{"entity": r.Ref, "cluster": r.Cluster}
	case strings.Contains(r.Ref, ":"):
		return map[string]string{"entity": r.Ref}
	case r.Cluster != "":
		return map[string]string{"cluster": r.Cluster, "namespace": r.Namespace, "kind": r.Kind, "name": r.Ref}
	}
	// Only references of entities have a colon; everything else that has owners is a
	// task.
	return map[string]string{"task": r.Ref}
}

// inCluster returns a part of the name of a cluster resource; empty if r is not one.
func (r *Resource) inCluster(part string) string {
	if r.Cluster == "" {
		return ""
	}
	return part
}
