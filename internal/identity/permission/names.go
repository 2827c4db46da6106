package permission

import "example.dev/ingestor/action"

// The names of permissions.
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

	// ProviderPush pushes entities in the name of a provider.
	ProviderPush = "catalog.provider.push"
	// IdentityWrite brings User and Group entities, which say who is in which
	// group.
	IdentityWrite = "catalog.identity.write"

	// What steps do in clusters and repositories. Their names are those that
	// package action asks for.
	ResourceRead     = action.ResourceRead
	ResourceCreate   = action.ResourceCreate
	ResourceUpdate   = action.ResourceUpdate
	ResourceDelete   = action.ResourceDelete
	ResourceTakeOver = action.ResourceTakeOver
	RepositoryRead   = action.RepositoryRead
	RepositoryWrite  = action.RepositoryWrite
	PipelineWrite    = action.PipelineWrite
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
}

// guestMay are the permissions of guests: to look at what is there, and to ask
// whether an entity would be valid. Reading tasks is not among them, because
// what other people fill into forms is not for strangers; nor is analyzing a
// location, which makes the portal fetch an address.
var guestMay = map[string]bool{
	EntityRead:            true,
	EntityValidate:        true,
	LocationRead:          true,
	TemplateParameterRead: true,
	TemplateStepRead:      true,
}

// personal are the permissions that people have for their own things: what
// somebody filled into a form is not for everybody. Services have no things of
// their own, and have them for all.
var personal = map[string]bool{TaskRead: true, TaskCancel: true}

// wholesale are the permissions that do to any number of entities, whosever
// they are, what another one does to one of them.
var wholesale = map[string]string{
	LocationCreate:  EntityCreate,
	LocationDelete:  EntityDelete,
	IngestionManage: EntityDelete,
}
