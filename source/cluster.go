package source

import "example.dev/ingestor/internal/secret"

// The ways to prove to a cluster who one is.
const (
	// AuthServiceAccount is a service account's token: Token or TokenFile, or,
	// with neither, the one a pod finds in its file system, which goes to the
	// API server of the pod's own cluster only.
	AuthServiceAccount = "serviceAccount"
	// AuthToken is any other bearer token: Token or TokenFile.
	AuthToken = "token"
	// AuthOIDC is a token that an OpenID Connect issuer gives and renews.
	AuthOIDC = "oidc"
)

// Cluster says how to reach a cluster: by an address and a way to prove who
// one is, through a context of a kubeconfig, or from inside.
type Cluster struct {
	// Name is what people call it; it is written on what is found there.
	Name string

	// Kubeconfig is a path, or several as the environment variable has them,
	// and Context a context in it; empty means the current one. If Kubeconfig
	// is set, the fields from URL on are not used.
	Kubeconfig, Context string
	// InCluster is the cluster this process runs in. The fields from URL on
	// are not used either.
	InCluster bool

	// URL is the address of the API server.
	URL string
	// Auth is one of the constants; empty means AuthServiceAccount.
	Auth string
	// Token is the bearer token. TokenFile is a file that holds it instead,
	// read again when it changes.
	Token     Secret
	TokenFile string
	// OIDC says where AuthOIDC gets its token.
	OIDC OIDC
	// CAFile or CAData, in PEM, is the authority that signed the server's
	// certificate; without either it is one the system knows.
	CAFile string
	CAData []byte
	// SkipTLSVerify believes any certificate.
	SkipTLSVerify bool

	// Impersonate says that what a person asks for is done as that person.
	Impersonate bool
	// UserPrefix and GroupPrefix stand before the names of the sign-in, as the
	// API server's --oidc-username-prefix and --oidc-groups-prefix do.
	UserPrefix, GroupPrefix string
}

// OIDC says where a token comes from and how it is renewed: by a refresh
// token if there is one, else by the client's own credentials.
type OIDC struct {
	// Issuer is the address whose well-known document names the endpoints.
	Issuer       string
	ClientID     string
	ClientSecret Secret
	RefreshToken Secret
	Scopes       []string
	// Audience, if not empty, asks for an access token for that audience or
	// resource; without it the identity's token is used, if there is one.
	Audience string
	// CAFile or CAData is the authority of the issuer's certificate.
	CAFile string
	CAData []byte
}

// Secret is a text that shows itself to nobody who does not ask with Reveal.
type Secret = secret.Text
