package permission

import "example.dev/ingestor/action"

// Names of permissions.
const (
	EntityRead     = "catalog.entity.read"
	EntityCreate   = "catalog.entity.create"
	EntityDelete   = "catalog.entity.delete"
	EntityRefresh  = "catalog.entity.refresh"
	EntityValidate = "catalog.entity.validate"

	LocationRead    = "catalog.location.read"
	LocationCreate  = "catalog.location.create"
	LocationAnalyze = "catalog.location.analyze"
	LocationDelete  = "catalog.location.delete"

	IngestionRead   = "catalog.ingestion.read"
	IngestionManage = "catalog.ingestion.manage"

	ActionExecute         = "scaffolder.action.execute"
	TemplateParameterRead = "scaffolder.template.parameter.read"
	TemplateStepRead      = "scaffolder.template.step.read"
	TemplateDryRun        = "scaffolder.template.dry-run"
	TemplateManagement    = "scaffolder.template.management"
	TaskRead              = "scaffolder.task.read"
	TaskCreate            = "scaffolder.task.create"
	TaskCancel            = "scaffolder.task.cancel"

	// ProviderPush allows pushing entities as a provider.
	ProviderPush = "catalog.provider.push"
	// IdentityWrite allows writing User and Group entities, which define group
	// membership.
	IdentityWrite = "catalog.identity.write"

	// Permissions of steps in clusters and repositories. Their names are defined by
	// package action.
	ResourceRead     = action.ResourceRead
	ResourceCreate   = action.ResourceCreate
	ResourceUpdate   = action.ResourceUpdate
	ResourceDelete   = action.ResourceDelete
	ResourceTakeOver = action.ResourceTakeOver
	RepositoryRead   = action.RepositoryRead
	RepositoryWrite  = action.RepositoryWrite
	PipelineWrite    = action.PipelineWrite

	// Permissions for what runs in clusters. Three have the names of Backstage: to list
	// clusters, to read the workloads of an entity, and to read logs and events of any pod.
	// KubernetesLogs is for the logs of the workloads of an entity.
	KubernetesClusters  = "kubernetes.clusters.read"
	KubernetesResources = "kubernetes.resources.read"
	KubernetesLogs      = "kubernetes.logs.read"
	KubernetesProxy     = "kubernetes.proxy"
)

// Names are all names, in the order of the contract.
var Names = []string{
	EntityRead, EntityCreate, EntityDelete, EntityRefresh, EntityValidate,
	LocationRead, LocationCreate, LocationAnalyze, LocationDelete,
	IngestionRead, IngestionManage,
	ActionExecute, TemplateParameterRead, TemplateStepRead, TemplateDryRun, TemplateManagement,
	TaskRead, TaskCreate, TaskCancel,
	ProviderPush, IdentityWrite,
	ResourceRead, ResourceCreate, ResourceUpdate, ResourceDelete, ResourceTakeOver,
	RepositoryRead, RepositoryWrite, PipelineWrite,
	KubernetesClusters, KubernetesResources, KubernetesLogs, KubernetesProxy,
}

// guestMay are the permissions of guests: to read, and to validate an entity. Reading
// tasks is not included, because the form values of other users are not for
// strangers; nor is analyzing a location, which makes the portal fetch a URL; nor are
// logs, which may contain anything.
var guestMay = map[string]bool{
	EntityRead:            true,
	EntityValidate:        true,
	LocationRead:          true,
	TemplateParameterRead: true,
	TemplateStepRead:      true,
	KubernetesClusters:    true,
	KubernetesResources:   true,
}

// personal are the permissions that users have only for their own things: form values
// of one user are not for all users. Services own nothing, and have these permissions
// for everything.
var personal = map[string]bool{TaskRead: true, TaskCancel: true}

// wholesale are the permissions that do to any number of entities, regardless of
// their owners, what another permission does to one entity.
var wholesale = map[string]string{
	LocationCreate:  EntityCreate,
	LocationDelete:  EntityDelete,
	IngestionManage: EntityDelete,
}
