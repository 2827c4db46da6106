package scaffolder

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"example.dev/ingestor/action"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/scaffolder/task"
)

// Authorizer returns a function that decides what steps may do, by the same policy
// that decides about requests. Prefix is the prefix of the branches that the portal
// creates itself.
func Authorizer(policy *permission.Policy, prefix string) task.Authorize {
	return func(ctx context.Context, by task.Requester, actionID, name string, t action.Target) error {
		err := policy.Require(auth.With(ctx, by.Caller), name, targetOf(by, actionID, name, prefix, t))
		if f, ok := errors.AsType[*rest.Fault](err); ok && f.Status == http.StatusForbidden {
			return &action.Denied{Message: f.Message}
		}
		return err
	}
}

// targetOf returns the target of a step as a resource for permissions.
func targetOf(by task.Requester, actionID, name, prefix string, t action.Target) *permission.Resource {
	r := &permission.Resource{
		Ref: t.Name, Action: actionID, Template: by.Template, Origin: cmp.Or(by.Origin, permission.OriginInline),
		Cluster: t.Cluster, Impersonated: t.Impersonated, Group: t.Group, ClusterScoped: t.ClusterScoped, Namespace: t.Namespace, Kind: t.Kind,
		Repository: t.Repository, Branch: t.Branch, Anonymous: t.Anonymous,
	}
	if t.Owner != "" {
		r.Owners = []string{t.Owner}
	}
	if name == permission.ActionExecute {
		// The action is used by the Template, whose kind, namespace and owners can be named
		// in rules.
		if ref, err := entity.ParseRef(by.Template, entity.KindTemplate, ""); err == nil {
			r.Kind, r.Namespace = ref.Kind, ref.Namespace
		}
		r.Owners = by.Owners
		if t.Contained {
			r.Origin = ""
		}
	}
	if t.Repository != "" {
		r.Named = slices.Contains(by.Repositories, strings.ToLower(t.Repository)) &&
			(name == permission.RepositoryRead || strings.HasPrefix(t.Branch, prefix+"/") ||
				slices.Contains(by.Repositories, strings.ToLower(t.Repository)+"@"+t.Branch))
	}
	return r
}
