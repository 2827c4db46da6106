package config

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source"
)

// described is where a cluster is described, and with which address.
type described struct {
	at      place
	address string
}

// clusters reads a list of clusters and appends them. seen has the positions of the
// names so far.
func (o *object) clusters(key string, to *[]source.Cluster, seen map[string]place) {
	o.list(key, func(o *object) {
		if c, ok := o.cluster(seen); ok {
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

// cluster reads one cluster. It returns false if its name is missing, invalid or not
// unique.
func (o *object) cluster(seen map[string]place) (source.Cluster, bool) {
	c := source.Cluster{}
	fresh := o.name(&c.Name, seen)
	if c.Name == everyCluster {
		o.r.report(RuleValue, o.valueAt("name"), o.pathTo("name"), "choose another name",
			"%s: %q means every cluster on the command line", o.pathTo("name"), everyCluster)
		fresh = false
	}
	o.lenient = o.lenient || c.Name != "" && o.r.opts.UseCluster != nil && !o.r.opts.UseCluster(c.Name)
	o.url("url", &c.URL)
	o.authProvider(&c)
	o.token(&c)
	o.oidc(&c)
	o.flag("skipTLSVerify", &c.SkipTLSVerify)
	o.authority(&c.CAFile, &c.CAData)
	o.filePaths("kubeconfig", &c.Kubeconfig)
	o.text("context", &c.Context, nil)
	o.impersonation(&c)
	o.passOver("title", "authMetadata", "oidcTokenProvider", "skipMetricsLookup", "customResources", "objectTypes",
		"dashboardUrl", "dashboardApp", "dashboardParameters")
	if o.r.describing {
		return c, false
	}
	if !o.has("oidc") {
		o.out.Delete("oidc")
	}
	if o.has("kubeconfig") {
		o.onlyKubeconfig(&c)
	} else {
		o.reach(&c)
	}
	if fresh {
		o.register(&c)
	}
	return c, fresh
}

// impersonation reads which user steps impersonate in the cluster.
func (o *object) impersonation(c *source.Cluster) {
	const none, user = "none", "user"
	as := none
	o.choice("impersonate", &as, none, user)
	c.Impersonate = as == user
	o.text("impersonateUserPrefix", &c.UserPrefix, nil)
	o.text("impersonateGroupPrefix", &c.GroupPrefix, nil)
	if !c.Impersonate {
		o.meaningless("impersonate "+none, "write impersonate: "+user+", or remove it", "impersonateUserPrefix", "impersonateGroupPrefix")
	}
}

// name reads the name of a list entry, and reports whether it is valid and unique.
func (o *object) name(to *string, seen map[string]place) (fresh bool) {
	o.require("name", "write a name")
	v, text, ok := o.str("name")
	first, twice := seen[text]
	switch {
	case !ok:
	case strings.IndexFunc(text, unicode.IsControl) >= 0, text != strings.TrimSpace(text):
		o.r.wrong(v, "a name without control characters and without leading or trailing spaces", "")
	case twice:
		*to = text
		o.r.report(RuleTwice, v.at, v.path, "rename or remove one of the two", "%s: %s is already used at %s", v.path, v.found(), first)
	default:
		*to, seen[text], fresh = text, v.at, true
	}
	o.done("name", "string", tree.OptStr(*to))
	return fresh
}

// register records the cluster's address, and reports a different address for a cluster
// of the same name in another section.
func (o *object) register(c *source.Cluster) {
	here := described{o.valueAt("name"), strings.TrimRight(c.URL, "/")}
	if c.Kubeconfig != "" {
		here.address = c.Kubeconfig + "#" + c.Context
	}
	first, known := o.r.clusterAt[c.Name]
	switch {
	case !known:
		o.r.clusterAt[c.Name] = here
	case first.address != "" && here.address != "" && first.address != here.address:
		o.r.report(RuleTwice, here.at, o.pathTo("name"), "use the same address for both, or different names",
			"%s: the cluster of that name at %s has a different address", o.pathTo("name"), first.at)
	}
}

// authProvider reads the authentication provider. If it is invalid, c.Auth stays empty,
// and checks that depend on it are skipped.
func (o *object) authProvider(c *source.Cluster) {
	if !o.has("authProvider") {
		c.Auth = source.AuthServiceAccount
	}
	all := []string{source.AuthServiceAccount, source.AuthOIDC, source.AuthToken}
	v, text, ok := o.str("authProvider")
	switch {
	case !ok:
	case slices.Contains(foreignAuth, text):
		o.r.report(RuleUnsupported, v.at, v.path, "use a service account's token, or a kubeconfig that runs the provider's command",
			"%s: %s is not supported", v.path, text)
	case o.r.isOneOf(v, text, all):
		c.Auth = text
	}
	o.done("authProvider", "one of "+strings.Join(all, ", "), tree.OptStr(c.Auth))
}

// token reads the bearer token, from any of its keys.
func (o *object) token(c *source.Cluster) {
	var token source.Secret
	var file string
	o.secret("serviceAccountToken", &c.Token)
	o.filePath("serviceAccountTokenFile", &c.TokenFile)
	o.secret("token", &token)
	o.filePath("tokenFile", &file)
	c.Token, c.TokenFile = cmp.Or(c.Token, token), cmp.Or(c.TokenFile, file)
	given := o.oneOf(tokenKeys...)
	switch {
	case o.has("kubeconfig"):
	case given == "" && c.Auth == source.AuthToken:
		o.r.report(RuleMissing, o.keyAt("authProvider"), o.pathTo("token"), "write token: ${NAME}, or tokenFile", "%s has authProvider token, but no token", o.path)
	case given != "" && c.Auth == source.AuthOIDC:
		o.r.report(RuleTogether, o.keyAt(given), o.pathTo(given), "remove it, or write authProvider: token",
			"%s cannot be used with authProvider oidc, which gets its own token", o.pathTo(given))
	}
}

// reach checks that a cluster without a kubeconfig has an address and is reached
// safely.
func (o *object) reach(c *source.Cluster) {
	if !o.has("url") {
		o.r.report(RuleMissing, o.at, o.pathTo("url"), "write the address of its API server, or kubeconfig, the path of a file that has it",
			"%s has neither url nor kubeconfig", o.path)
	}
	if o.has("context") {
		o.r.report(RuleTogether, o.keyAt("context"), o.pathTo("context"), "write kubeconfig, the path of the file that has the context",
			"%s cannot be used without kubeconfig", o.pathTo("context"))
	}
	// Every authentication provider sends a token, even one that is not configured here.
	// If the provider is invalid, the configured tokens count.
	credentials := c.Auth != "" || slices.ContainsFunc(tokenKeys, o.has)
	if credentials && isPlain(c.URL) {
		o.r.report(RuleExposed, o.valueAt("url"), o.pathTo("url"), "use https", "%s would send the token over plain HTTP", o.pathTo("url"))
	}
	if c.SkipTLSVerify && (o.has("caFile") || o.has("caData")) {
		o.r.report(RuleTogether, o.keyAt("skipTLSVerify"), o.pathTo("skipTLSVerify"), "remove skipTLSVerify, so that the certificate is verified",
			"%s cannot be used with a certificate authority, which it would ignore", o.pathTo("skipTLSVerify"))
	}
}

// onlyKubeconfig reports keys that conflict with a kubeconfig.
func (o *object) onlyKubeconfig(c *source.Cluster) {
	c.Auth = ""
	for _, key := range append([]string{"url", "authProvider", "oidc", "skipTLSVerify", "caFile", "caData"}, tokenKeys...) {
		o.out.Delete(key)
		if o.has(key) {
			o.clash("kubeconfig", key)
		}
	}
}

// oidc reads where to get a token from.
func (o *object) oidc(c *source.Cluster) {
	to := &c.OIDC
	used := c.Auth == source.AuthOIDC && !o.has("kubeconfig")
	switch {
	case used && !o.has("oidc"):
		o.r.report(RuleMissing, o.keyAt("authProvider"), o.pathTo("oidc"), "write oidc with issuer, clientId, and clientSecret or refreshToken",
			"%s has authProvider oidc, but no oidc", o.path)
	case !used && o.has("oidc") && c.Auth != "" && !o.has("kubeconfig"):
		o.r.report(RuleTogether, o.keyAt("oidc"), o.pathTo("oidc"), "write authProvider: oidc, or remove it",
			"%s cannot be used with authProvider %s", o.pathTo("oidc"), c.Auth)
	}
	o.object("oidc", func(o *object) {
		o.also("issuer", "issuerUrl")
		o.require("issuer", "write the address of the issuer")
		o.url("issuer", &to.Issuer)
		if isPlain(to.Issuer) {
			o.r.report(RuleExposed, o.valueAt("issuer"), o.pathTo("issuer"), "use https", "%s would send credentials over plain HTTP", o.pathTo("issuer"))
		}
		o.require("clientId", "write the client id of this program at the issuer")
		o.text("clientId", &to.ClientID, nil)
		o.secret("clientSecret", &to.ClientSecret)
		o.secretFile("clientSecretFile", &to.ClientSecret)
		o.secret("refreshToken", &to.RefreshToken)
		o.secretFile("refreshTokenFile", &to.RefreshToken)
		secret, refresh := o.oneOf("clientSecret", "clientSecretFile"), o.oneOf("refreshToken", "refreshTokenFile")
		if o.given() && secret == "" && refresh == "" {
			o.r.report(RuleMissing, o.at, o.pathTo("clientSecret"), "write clientSecret: ${NAME}, refreshToken: ${NAME}, or clientSecretFile or refreshTokenFile",
				"%s has neither clientSecret nor refreshToken", o.path)
		}
		o.strings("scopes", &to.Scopes, nil)
		o.text("audience", &to.Audience, nil)
		o.authority(&to.CAFile, &to.CAData)
	})
}
