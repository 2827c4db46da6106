package words

// API groups and versions of the input and output.
const (
	GroupExtensions = "apiextensions.composer.io"

	DefinitionV1      = GroupExtensions + "/v1"
	DefinitionV1beta1 = GroupExtensions + "/v1beta1"
	DefinitionV2      = GroupExtensions + "/v2"

	EntityVersion   = "portal.io/v1alpha1"
	TemplateVersion = "scaffolder.portal.io/v1beta3"
)

// Labels on definitions, workloads and entities.
const (
	LabelIngest       = "example.dev/ingest"
	LabelVersion      = "example.dev/version"
	LabelGenerateForm = "vendor.portal.io/generate-form"
	LabelTemplateType = "portal.io/template-type"
	LabelClusterID    = "portal.io/cluster-id"
)

// Annotations on definitions.
const (
	AnnotationTitle            = "portal.io/template-title"
	AnnotationDescription      = "portal.io/template-description"
	AnnotationOwner            = "portal.io/owner"
	AnnotationSystem           = "portal.io/system"
	AnnotationTags             = "portal.io/template-tags"
	AnnotationDefaultNamespace = "portal.io/default-namespace"
	AnnotationAPIVersion       = "portal.io/api-version"
	AnnotationAPIKind          = "portal.io/api-kind"
	AnnotationGitOpsRepo       = "portal.io/gitops-repo"
	AnnotationGitOpsPath       = "portal.io/gitops-path"
	AnnotationPlainDescription = "portal.io/description"
	AnnotationTemplate         = "portal.io/template"
	AnnotationWizard           = "portal.io/wizard"
	AnnotationSteps            = "portal.io/steps"

	// The annotations of other ingestors, which are used if the contract's own are missing;
	// see Pick.
	AnnotationOtherTags   = "example.dev/tags"
	AnnotationOtherOwner  = "vendor.portal.io/owner"
	AnnotationOtherSystem = "vendor.portal.io/system"
	AnnotationLifecycle   = "vendor.portal.io/lifecycle"
)

// Annotations on generated entities.
const (
	AnnotationXRDName          = "composer.io/xrd-name"
	AnnotationXRDVersion       = "composer.io/xrd-version"
	AnnotationCompositionRef   = "composer.io/composition-ref"
	AnnotationSourceLocation   = "portal.io/source-location"
	AnnotationManagedBy        = "portal.io/managed-by-location"
	AnnotationManagedByOrigin  = "portal.io/managed-by-origin-location"
	AnnotationViewURL          = "portal.io/view-url"
	AnnotationEditURL          = "portal.io/edit-url"
	AnnotationTechDocs         = "portal.io/techdocs-ref"
	AnnotationDiscoveredAt     = "portal.io/discovered-at"
	AnnotationDiscoveredFrom   = "portal.io/discovered-from"
	AnnotationTemplateOrigin   = "scaffolder.portal.io/template-origin"
	AnnotationTemplateVersion  = "scaffolder.portal.io/template-version"
	AnnotationTemplatePurpose  = "portal.io/template-purpose"
	AnnotationXRName           = "composer.vendor.io/xr-name"
	AnnotationXRAPIVersion     = "composer.vendor.io/xr-apiversion"
	AnnotationXRKind           = "composer.vendor.io/xr-kind"
	AnnotationClusterID        = "portal.io/cluster-id"
	AnnotationClusterNamespace = "portal.io/cluster-namespace"

	// AnnotationWorkloadSelector selects the workloads of an entity by their labels, instead
	// of AnnotationClusterID. AnnotationWorkloadCluster is the only cluster they are in.
	AnnotationWorkloadSelector = "portal.io/kubernetes-label-selector"
	AnnotationWorkloadCluster  = "portal.io/kubernetes-cluster"

	// AnnotationConditionPrefix is the prefix of a key that ends in the type of a condition
	// of a composite or a definition, such as composer.io/condition-ready.
	AnnotationConditionPrefix = "composer.io/condition-"
	// AnnotationUnserved is a JSON list of the clusters that do not serve a definition,
	// with the conditions that say why.
	AnnotationUnserved = "composer.io/unserved"
	// AnnotationStale names what could not be read recently, so that the entity may be
	// stale; AnnotationStaleSince says since when.
	AnnotationStale      = "portal.io/stale"
	AnnotationStaleSince = "portal.io/stale-since"

	// AnnotationLeftBehind is on the Location of an export and lists files that it no
	// longer lists but that still exist, to be removed later.
	AnnotationLeftBehind = "example.dev/left-behind"

	// AnnotationRequestedBy, AnnotationTask and AnnotationFromTemplate are on resources
	// that the scaffolder created: who requested it, in which task, and with which
	// Template.
	AnnotationRequestedBy  = "example.dev/requested-by"
	AnnotationTask         = "example.dev/task"
	AnnotationFromTemplate = "example.dev/from-template"

	// AnnotationPortal is on entities that a Backstage read from a portal, and names the
	// portal. AnnotationOrphan is set by a Backstage on entities whose location no longer
	// contains them.
	AnnotationPortal = "example.dev/portal"
	AnnotationOrphan = "portal.io/orphan"

	// AnnotationMadeName is on composites that were read without a name, and holds the name
	// generated for them.
	AnnotationMadeName = "example.dev/made-name"
)

// Values in the output.
const (
	TypeXRD         = "composer-xrd"
	TypeResource    = "composer-resource"
	TypeComposition = "composer-composition"
	TypeXR          = "composer-xr"

	TagComposer    = "composer"
	TagSource      = "source:composer-ingestor"
	OriginIngestor = "composer-ingestor"

	ActionApply         = "cluster:apply"
	ActionDelete        = "cluster:delete"
	ActionCreate        = "composer:create-xr"
	ActionChangeRequest = "publish:change-request"

	// FieldManager is the field manager of the fields that the portal applied.
	FieldManager = "portal"
)

// The purposes of a Template, as in AnnotationTemplatePurpose.
const (
	PurposeCreate = "create"
	PurposeUpdate = "update"
	PurposeDelete = "delete"
)
