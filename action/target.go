package action

import "context"

// The permissions that actions require.
const (
	ResourceRead     = "cluster.resource.read"
	ResourceCreate   = "cluster.resource.create"
	ResourceUpdate   = "cluster.resource.update"
	ResourceDelete   = "cluster.resource.delete"
	ResourceTakeOver = "cluster.resource.take-over"

	RepositoryRead  = "git.repository.read"
	RepositoryWrite = "git.repository.write"
	PipelineWrite   = "git.pipeline.write"
)

// Target is the subject of a permission check.
type Target struct {
	// Name is the name in messages.
	Name string
	// Contained reports whether the target is an action that has no effect outside
	// the task.
	Contained bool
	// Cluster, Namespace, Kind and Owner describe a resource; Owner is a reference,
	// empty if there is none. Impersonated reports whether the cluster itself
	// authorizes the user.
	Cluster, Namespace, Kind, Owner string
	Impersonated                    bool
	// Group is the API group of the kind, and ClusterScoped reports whether the kind
	// is not namespaced.
	Group         string
	ClusterScoped bool
	// Repository is host/owner/name, and Branch the branch that is written to.
	// Anonymous reports whether the repository is read without credentials.
	Repository, Branch string
	Anonymous          bool
}

// Caller is the user, guest or service that created a task.
type Caller struct {
	// Ref is the reference of a user or guest, or "service:" and the name of a
	// service.
	Ref string
	// Login and Groups are the names of the user and their groups at the identity
	// provider; both are empty for guests and services.
	Login  string
	Groups []string
	// Name and Email are those of the user; either may be empty.
	Name, Email string
	// Service reports whether the caller is a service, and Guest whether they have
	// not signed in.
	Service, Guest bool
}

// Require returns nil if the caller of the task has the permission, and otherwise
// an error that says what is missing. Without Authorize, as in a program that runs
// an action itself, everything is allowed.
func (c *Call) Require(ctx context.Context, permission string, t Target) error {
	if c.Authorize == nil {
		return nil
	}
	return c.Authorize(ctx, permission, t)
}
