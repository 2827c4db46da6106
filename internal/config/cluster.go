package config

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/input"
	"example.dev/ingestor/internal/config/keys"
	"example.dev/ingestor/internal/config/rule"
	"example.dev/ingestor/source"
)

// described is where a cluster is described, and with which address.
type described struct {
	at      input.Place
	address string
}

// clusters reads the clusters of all sections.
type clusters struct {
	// use reports which clusters the program will connect to; nil means all.
	use func(name string) bool
	// at is where the cluster of a name was first described.
	at map[string]described
	// partial reports that not all sections with clusters are read.
	partial bool
}

// readList reads a list of clusters and appends them. seen has the positions of the
// names so far.
func (cs *clusters) readList(m *keys.Map, key string, to *[]source.Cluster, seen map[string]input.Place) {
	m.List(key, func(m *keys.Map) {
		if c, ok := cs.read(m, seen); ok {
			*to = append(*to, c)
		}
	})
}

// everyCluster means all clusters on the command line.
const everyCluster = "all"

// tokenKeys are the keys for a token, of which only one may be set.
var tokenKeys = []string{"serviceAccountToken", "serviceAccountTokenFile", "token", "tokenFile"}

// foreignAuth are Backstage's authentication providers for clusters that are not
// supported here.
var foreignAuth = []string{"aks", "aws", "azure", "google", "googleServiceAccount", "localKubectlProxy"}

// read reads one cluster. It returns false if its name is missing, invalid or not
// unique.
func (cs *clusters) read(m *keys.Map, seen map[string]input.Place) (source.Cluster, bool) {
	c := source.Cluster{}
	fresh := readName(m, &c.Name, seen)
	if c.Name == everyCluster {
		m.ReportValue(rule.Value, "name", "choose another name",
			"%s: %q means every cluster on the command line", m.PathTo("name"), everyCluster)
		fresh = false
	}
	m.Lenient(c.Name != "" && cs.use != nil && !cs.use(c.Name))
	m.URL("url", &c.URL)
	readAuthProvider(m, &c)
	readToken(m, &c)
	readOIDC(m, &c)
	m.Flag("skipTLSVerify", &c.SkipTLSVerify)
	m.Authority(&c.CAFile, &c.CAData)
	m.FilePaths("kubeconfig", &c.Kubeconfig)
	m.Text("context", &c.Context, nil)
	readImpersonation(m, &c)
	m.PassOver("title", "authMetadata", "oidcTokenProvider", "skipMetricsLookup", "customResources", "objectTypes",
		"dashboardUrl", "dashboardApp", "dashboardParameters")
	if m.Describing() {
		return c, false
	}
	if !m.Has("oidc") {
		m.Out.Delete("oidc")
	}
	if m.Has("kubeconfig") {
		checkKubeconfig(m, &c)
	} else {
		checkAddress(m, &c)
	}
	if fresh {
		cs.register(m, &c)
	}
	return c, fresh
}

// readImpersonation reads which user steps impersonate in the cluster.
func readImpersonation(m *keys.Map, c *source.Cluster) {
	const none, user = "none", "user"
	as := none
	m.Choice("impersonate", &as, none, user)
	c.Impersonate = as == user
	m.Text("impersonateUserPrefix", &c.UserPrefix, nil)
	m.Text("impersonateGroupPrefix", &c.GroupPrefix, nil)
	if !c.Impersonate {
		m.Meaningless("impersonate "+none, "write impersonate: "+user+", or remove it", "impersonateUserPrefix", "impersonateGroupPrefix")
	}
}

// readName reads the name of a list entry, and reports whether it is valid and unique.
func readName(m *keys.Map, to *string, seen map[string]input.Place) (fresh bool) {
	m.Require("name", "write a name")
	v, text, ok := m.Str("name")
	first, twice := seen[text]
	switch {
	case !ok:
	case strings.IndexFunc(text, unicode.IsControl) >= 0, text != strings.TrimSpace(text):
		v.Wrong("a name without control characters and without leading or trailing spaces", "")
	case twice:
		*to = text
		v.Report(rule.Twice, "rename or remove one of the two", "%s: %s is already used at %s", v.Path, v.Found(), first)
	default:
		*to, seen[text], fresh = text, v.At, true
	}
	m.Done("name", "string", tree.OptStr(*to))
	return fresh
}

// register records the cluster's address, and reports a different address for a cluster
// of the same name in another section.
func (cs *clusters) register(m *keys.Map, c *source.Cluster) {
	here := described{m.ValueAt("name"), strings.TrimRight(c.URL, "/")}
	if c.Kubeconfig != "" {
		here.address = c.Kubeconfig + "#" + c.Context
	}
	first, known := cs.at[c.Name]
	switch {
	case !known:
		cs.at[c.Name] = here
	case first.address != "" && here.address != "" && first.address != here.address:
		m.Report(rule.Twice, here.at, m.PathTo("name"), "use the same address for both, or different names",
			"%s: the cluster of that name at %s has a different address", m.PathTo("name"), first.at)
	}
}

// readAuthProvider reads the authentication provider. If it is invalid, c.Auth stays empty,
// and checks that depend on it are skipped.
func readAuthProvider(m *keys.Map, c *source.Cluster) {
	if !m.Has("authProvider") {
		c.Auth = source.AuthServiceAccount
	}
	all := []string{source.AuthServiceAccount, source.AuthOIDC, source.AuthToken}
	v, text, ok := m.Str("authProvider")
	switch {
	case !ok:
	case slices.Contains(foreignAuth, text):
		v.Report(rule.Unsupported, "use a service account's token, or a kubeconfig that runs the provider's command",
			"%s: %s is not supported", v.Path, text)
	case v.IsOneOf(text, all...):
		c.Auth = text
	}
	m.Done("authProvider", "one of "+strings.Join(all, ", "), tree.OptStr(c.Auth))
}

// readToken reads the bearer token, from any of its keys.
func readToken(m *keys.Map, c *source.Cluster) {
	var token source.Secret
	var file string
	m.Secret("serviceAccountToken", &c.Token)
	m.FilePath("serviceAccountTokenFile", &c.TokenFile)
	m.Secret("token", &token)
	m.FilePath("tokenFile", &file)
	c.Token, c.TokenFile = cmp.Or(c.Token, token), cmp.Or(c.TokenFile, file)
	given := m.OneOf(tokenKeys...)
	switch {
	case m.Has("kubeconfig"):
	case given == "" && c.Auth == source.AuthToken:
		m.ReportMissing("token", "authProvider", "write token: ${NAME}, or tokenFile", "%s has authProvider token, but no token", m.Path())
	case given != "" && c.Auth == source.AuthOIDC:
		m.ReportKey(rule.Together, given, "remove it, or write authProvider: token",
			"%s cannot be used with authProvider oidc, which gets its own token", m.PathTo(given))
	}
}

// checkAddress checks that a cluster without a kubeconfig has an address and is reached
// safely.
func checkAddress(m *keys.Map, c *source.Cluster) {
	if !m.Has("url") {
		m.ReportMissing("url", "", "write the address of its API server, or kubeconfig, the path of a file that has it",
			"%s has neither url nor kubeconfig", m.Path())
	}
	if m.Has("context") {
		m.ReportKey(rule.Together, "context", "write kubeconfig, the path of the file that has the context",
			"%s cannot be used without kubeconfig", m.PathTo("context"))
	}
	// Every authentication provider sends a token, even one that is not configured here.
	// If the provider is invalid, the configured tokens count.
	credentials := c.Auth != "" || slices.ContainsFunc(tokenKeys, m.Has)
	if credentials && keys.IsPlain(c.URL) {
		m.ReportValue(rule.Exposed, "url", "use https", "%s would send the token over plain HTTP", m.PathTo("url"))
	}
	if c.SkipTLSVerify && (m.Has("caFile") || m.Has("caData")) {
		m.ReportKey(rule.Together, "skipTLSVerify", "remove skipTLSVerify, so that the certificate is verified",
			"%s cannot be used with a certificate authority, which it would ignore", m.PathTo("skipTLSVerify"))
	}
}

// checkKubeconfig reports keys that conflict with a kubeconfig.
func checkKubeconfig(m *keys.Map, c *source.Cluster) {
	c.Auth = ""
	for _, key := range append([]string{"url", "authProvider", "oidc", "skipTLSVerify", "caFile", "caData"}, tokenKeys...) {
		m.Out.Delete(key)
		if m.Has(key) {
			m.Clash("kubeconfig", key)
		}
	}
}

// readOIDC reads where to get a token from.
func readOIDC(m *keys.Map, c *source.Cluster) {
	to := &c.OIDC
	used := c.Auth == source.AuthOIDC && !m.Has("kubeconfig")
	switch {
	case used && !m.Has("oidc"):
		m.ReportMissing("oidc", "authProvider", "write oidc with issuer, clientId, and clientSecret or refreshToken",
			"%s has authProvider oidc, but no oidc", m.Path())
	case !used && m.Has("oidc") && c.Auth != "" && !m.Has("kubeconfig"):
		m.ReportKey(rule.Together, "oidc", "write authProvider: oidc, or remove it",
			"%s cannot be used with authProvider %s", m.PathTo("oidc"), c.Auth)
	}
	m.Map("oidc", func(m *keys.Map) {
		m.Also("issuer", "issuerUrl")
		m.Require("issuer", "write the address of the issuer")
		m.URL("issuer", &to.Issuer)
		if keys.IsPlain(to.Issuer) {
			m.ReportValue(rule.Exposed, "issuer", "use https", "%s would send credentials over plain HTTP", m.PathTo("issuer"))
		}
		m.Require("clientId", "write the client id of this program at the issuer")
		m.Text("clientId", &to.ClientID, nil)
		m.Secret("clientSecret", &to.ClientSecret)
		m.SecretFile("clientSecretFile", &to.ClientSecret)
		m.Secret("refreshToken", &to.RefreshToken)
		m.SecretFile("refreshTokenFile", &to.RefreshToken)
		secret, refresh := m.OneOf("clientSecret", "clientSecretFile"), m.OneOf("refreshToken", "refreshTokenFile")
		if m.Given() && secret == "" && refresh == "" {
			m.ReportMissing("clientSecret", "", "write clientSecret: ${NAME}, refreshToken: ${NAME}, or clientSecretFile or refreshTokenFile",
				"%s has neither clientSecret nor refreshToken", m.Path())
		}
		m.Strings("scopes", &to.Scopes, nil)
		m.Text("audience", &to.Audience, nil)
		m.Authority(&to.CAFile, &to.CAData)
	})
}
