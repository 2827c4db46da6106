package action

import "context"

// The permissions that actions ask for.
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

// Target is what a permission is asked for.
type Target struct {
	// Name says what it is, in messages.
	Name string
	// Contained says that it is an action that reaches nothing outside of the
	// task.
	Contained bool
	// Cluster, Namespace, Kind and Owner are those of a resource; Owner is a
	// reference, empty if there is none. Impersonated says that the cluster
	// itself decides about the person.
	Cluster, Namespace, Kind, Owner string
	Impersonated                    bool
	// Group is the API group of the kind, and ClusterScoped says that it lives in
	// no namespace.
	Group         string
	ClusterScoped bool
	// Repository is host/owner/name, and Branch the one that is written to.
	// Anonymous says that it is read without any credentials.
	Repository, Branch string
	Anonymous          bool
}

// Caller is who asked for a task.
type Caller struct {
	// Ref is the reference of a person or guest, or service: and the name of a
	// service.
	Ref string
	// Login and Groups are how the issuer of the sign-in spells a person and
	// their groups; both are empty for guests and services.
	Login  string
	Groups []string
	// Name and Email are the person's; either may be empty.
	Name, Email string
	// Service says that it is one, and Guest that they have not signed in.
	Service, Guest bool
}

// Require returns nil if whoever asked for the task has the permission, and
// else the error that says what is missing. Without Authorize, as in a program
// that runs an action itself, everything is allowed.
func (c *Call) Require(ctx context.Context, permission string, t Target) error {
	if c.Authorize == nil {
		return nil
	}
	return c.Authorize(ctx, permission, t)
}
