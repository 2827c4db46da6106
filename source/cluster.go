package source

import "example.dev/ingestor/internal/secret"

// Methods of authentication to a cluster.
const (
	// AuthServiceAccount is a service account's token: Token or TokenFile, or, with
	// neither, the one mounted in the pod, which is sent only to the API server of
	// the pod's own cluster.
	AuthServiceAccount = "serviceAccount"
	// AuthToken is any other bearer token: Token or TokenFile.
	AuthToken = "token"
	// AuthOIDC is a token that an OpenID Connect issuer issues and renews.
	AuthOIDC = "oidc"
)

// Cluster describes how to reach a cluster: by a URL and credentials, through a
// context of a kubeconfig, or from inside the cluster.
type Cluster struct {
	// Name is the name of the cluster; objects read from it carry it.
	Name string

	// Kubeconfig is a path, or several in the format of $KUBECONFIG, and Context a
	// context in it; empty means the current one. If Kubeconfig is set, the fields
	// from URL to SkipTLSVerify are not used.
	Kubeconfig, Context string
	// InCluster means the cluster that this process runs in. The fields from URL to
	// SkipTLSVerify are not used either.
	InCluster bool

	// URL is the URL of the API server.
	URL string
	// Auth is one of the Auth constants; empty means AuthServiceAccount.
	Auth string
	// Token is the bearer token. TokenFile is a file that holds it instead, read
	// again when it changes.
	Token     Secret
	TokenFile string
	// OIDC configures AuthOIDC.
	OIDC OIDC
	// CAFile or CAData, in PEM, is the CA that signed the server's certificate;
	// without either, the system's CAs are used.
	CAFile string
	CAData []byte
	// SkipTLSVerify accepts any certificate.
	SkipTLSVerify bool

	// Impersonate makes requests on behalf of a user as that user.
	Impersonate bool
	// UserPrefix and GroupPrefix are prepended to the names from the sign-in, as the
	// API server's --oidc-username-prefix and --oidc-groups-prefix do.
	UserPrefix, GroupPrefix string
}

// OIDC configures where a token comes from and how it is renewed: by a refresh
// token if there is one, otherwise by the client's own credentials.
type OIDC struct {
	// Issuer is the URL whose discovery document names the endpoints.
	Issuer       string
	ClientID     string
	ClientSecret Secret
	RefreshToken Secret
	Scopes       []string
	// Audience, if not empty, requests an access token for that audience or
	// resource; without it the ID token is used, if there is one.
	Audience string
	// CAFile or CAData is the CA of the issuer's certificate.
	CAFile string
	CAData []byte
}

// Secret is text that only Reveal returns; it is redacted everywhere else.
type Secret = secret.Text
