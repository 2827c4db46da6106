package audit

import (
	"example.dev/ingestor/action"
	"example.dev/ingestor/internal/identity/auth"
)

// Names of events.
const (
	SignIn = auth.EventSignIn
	Logout = auth.EventLogout
	Token  = auth.EventToken

	PermissionRefused = "permission.refused"

	CatalogPush      = "catalog.push"
	CatalogDelta     = "catalog.delta"
	ProviderDelete   = "catalog.provider.delete"
	EntityDelete     = "catalog.entity.delete"
	EntityRefresh    = "catalog.entity.refresh"
	LocationRegister = "catalog.location.register"
	LocationUpdate   = "catalog.location.update"
	LocationDelete   = "catalog.location.delete"
	IngestionScan    = "ingestion.scan"
	IngestionConfirm = "ingestion.removal.confirmed"

	TaskCreated   = "scaffolder.task.created"
	TaskCancelled = "scaffolder.task.cancelled"
	TaskRetried   = "scaffolder.task.retried"
	TaskEnded     = "scaffolder.task.ended"
	DryRun        = "scaffolder.dry-run"

	ClusterApply     = action.EventClusterApply
	ClusterDelete    = action.EventClusterDelete
	GitPush          = action.EventGitPush
	GitChangeRequest = action.EventGitChangeRequest

	// Suppressed counts events of one actor and client that exceeded the limit and were
	// not written.
	Suppressed = "audit.suppressed"
)

// Names are the names of all events, in the order of the handbook.
var Names = []string{
	SignIn, Logout, Token,
	PermissionRefused,
	CatalogPush, CatalogDelta, ProviderDelete, EntityDelete, EntityRefresh,
	LocationRegister, LocationUpdate, LocationDelete, IngestionScan, IngestionConfirm,
	TaskCreated, TaskCancelled, TaskRetried, TaskEnded, DryRun,
	ClusterApply, ClusterDelete, GitPush, GitChangeRequest,
	Suppressed,
}
