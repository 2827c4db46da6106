package config

import (
	"time"

	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/entity"
)

// defaults returns the default configuration. The limits are those of the contract.
func defaults() *Config {
	return &Config{
		Composer: Composer{
			DefaultOwner:  "platform-team",
			DefaultSystem: "platform",
			Schedule:      Schedule{Frequency: 5 * time.Minute, Timeout: 2 * time.Minute},
			Watch:         true,
			Tracking:      Tracking{Compositions: true, Composites: true},
			Templates: TemplateGeneration{
				GenerateAPIEntities: true, IncludeCompositionDetails: true, DefaultNamespace: "default",
				Delivery: DeliveryPortal, GitProvider: form.GitHub,
			},
			Caching:         Caching{Enabled: true, TTL: 300 * time.Second, MaxSize: 100},
			Processing:      Processing{BatchSize: 10, Parallelism: 3, RetryAttempts: 2, RetryDelay: 1000 * time.Millisecond},
			ChangeDetection: ChangeDetection{Enabled: true, Method: MethodResourceVersion, Storage: StorageDatabase},
			MassRemoval:     MassRemoval{Percent: 50, Minimum: 5, Wait: 5 * time.Minute},
		},
		ClusterIngestor: ClusterIngestor{
			Watch:      true,
			Components: Components{Enabled: true, Frequency: 10 * time.Second},
			XRDs:       XRDs{Enabled: true, Frequency: 600 * time.Second},
			Tracking:   Tracking{Compositions: true, Composites: true},
		},
		App: App{Title: "Portal"},
		Backend: Backend{
			BaseURL:  "http://localhost:7007",
			Listen:   Listen{Host: "127.0.0.1", Port: 7007},
			CORS:     CORS{Methods: methods},
			Database: Database{Client: ClientSQLite, Path: "data/" + sqliteFile},
			Cache:    Cache{Store: CacheMemory},
			Reading:  Reading{Timeout: 30 * time.Second, MaxSize: 16 << 20},
			// More than a page needs, and less than causes harm.
			RateLimit: RateLimit{Enabled: true, Requests: 1000, Window: 10 * time.Second, AllowIPs: []string{"127.0.0.0/8", "::1"}},
			MaxBody:   4 << 20,
			MaxPush:   1 << 30,
			Telemetry: Telemetry{Traces: true, Metrics: true, SampleRatio: 1, Interval: time.Minute, ServiceName: "portal-backend"},
		},
		Auth: Auth{
			Guest:         GuestProvider{UserRef: "user:development/guest"},
			OIDC:          OIDCProvider{Scopes: []string{"openid", "profile", "email"}, UserClaim: "preferred_username", GroupsClaim: "groups", UserNamespace: entity.DefaultNamespace, GroupNamespace: entity.DefaultNamespace},
			TokenLifetime: time.Hour,
		},
		Permission: Permission{Enabled: true},
		Audit:      Audit{To: AuditNone},
		Plan: Plan{
			Timeout: 30 * time.Second, Memory: 1 << 30, Concurrency: 4, ChangeRequests: true,
			ClientCertificate: ClientCertificate{Namespace: "crossplane-system", Name: "crossplane-tls-client"},
		},
		Catalog: Catalog{
			// All except users and groups: a location that may provide these decides on
			// identities.
			Rules: []CatalogRule{{Allow: []string{
				entity.KindComponent, entity.KindAPI, entity.KindResource, entity.KindSystem, entity.KindDomain, entity.KindTemplate, entity.KindLocation,
			}}},
			Interval:      100 * time.Second,
			UIDRetention:  24 * time.Hour,
			LocationTypes: []string{LocationFile, LocationURL},
			XRDTemplates:  XRDTemplates{Frequency: 5 * time.Minute},
		},
		Scaffolder: Scaffolder{
			Workers: 10, Limits: Limits{OpenTasks: 100, RunningTasks: 5, EventStreams: 50}, TaskTimeout: 24 * time.Hour, KeepTasks: 30 * 24 * time.Hour,
			BranchPrefix: "portal", DefaultNamespace: "default", WaitTimeout: 10 * time.Minute,
		},
	}
}
