package config

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/config/input"
	"example.dev/ingestor/internal/config/keys"
	"example.dev/ingestor/internal/config/rule"
	"example.dev/ingestor/internal/text"
	"example.dev/ingestor/source"
)

// Auth is the section auth: how users sign in.
type Auth struct {
	Guest GuestProvider
	OIDC  OIDCProvider
	// SessionSecret encrypts the session cookie; empty means a secret from the database.
	SessionSecret source.Secret
	// TokenLifetime is that of the portal's own tokens.
	TokenLifetime time.Duration
	// Membership are the providers whose User entities define a user's groups, in addition
	// to their token; MembershipLocations means catalog.locations.
	Membership []string
	// Backstages are those whose backends may call, for themselves and for their users.
	Backstages []Backstage
}

// MembershipLocations means the locations of the configuration in Auth.Membership.
const MembershipLocations = "locations"

// GuestProvider allows access without signing in.
type GuestProvider struct {
	Enabled bool
	// UserRef is the user of a guest, and OwnershipRefs are the owners that a guest acts
	// as; both are canonical.
	UserRef       string
	OwnershipRefs []string
	// AllowOutside allows guests in any environment, and from any address.
	AllowOutside bool
}

// OIDCProvider lets the users of an OpenID Connect issuer sign in.
type OIDCProvider struct {
	Enabled bool
	// Issuer is the address below which the issuer's discovery document is.
	Issuer       string
	ClientID     string
	ClientSecret source.Secret
	Scopes       []string
	// Audience is that of bearer tokens of programs; empty means ClientID.
	Audience string
	// AuthorizedParties are the clients, besides ClientID, whose tokens are accepted: the
	// claim azp of a token names the client it was issued to.
	AuthorizedParties []string
	// UserClaim names the user, GroupsClaim lists the user's groups.
	UserClaim, GroupsClaim string
	// UserNamespace and GroupNamespace are those of the references that are built from the
	// claims.
	UserNamespace, GroupNamespace string
	// CAFile has the CA of the issuer's certificate; empty means the system's.
	CAFile string
}

// Backstage is a Backstage whose backend may call, for itself and for its users.
type Backstage struct {
	// Name identifies it in rules and logs, and URL is the address of its backend.
	Name, URL string
	// Plugins are the ids of its plugins that may call.
	Plugins []string
	// TrustTemplates says that the operator trusts the Templates of the Backstage as those
	// of the portal's own configuration.
	TrustTemplates bool
	// CAFile has the CA of its certificate; empty means the system's.
	CAFile string
}

// backstagePlugins are the plugins that call by default.
var backstagePlugins = []string{"catalog", "ingestor", "scaffolder"}

// pluginID matches the ids of Backstage's plugins.
var pluginID = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)

func readBackstages(m *keys.Map, to *[]Backstage) {
	seen := map[string]input.Place{}
	m.List("backstage", func(m *keys.Map) {
		b := Backstage{Plugins: backstagePlugins}
		m.Require("name", "write a name for rules and logs, such as company")
		m.Text("name", &b.Name, func(s string) string {
			if !pluginID.MatchString(s) {
				return "a name of lower-case letters, digits and dashes that begins with a letter"
			}
			return ""
		})
		m.Require("url", "write backend.baseUrl of the Backstage")
		m.URL("url", &b.URL)
		if keys.IsPlain(b.URL) {
			m.ReportValue(rule.Exposed, "url", "use https", "%s would read the keys of tokens over plain HTTP", m.PathTo("url"))
		}
		m.Strings("plugins", &b.Plugins, func(s string) string {
			if !pluginID.MatchString(s) {
				return "the id of a plugin, such as scaffolder"
			}
			return ""
		})
		m.Flag("trustTemplates", &b.TrustTemplates)
		m.FilePath("caFile", &b.CAFile)
		at := m.ValueAt("name")
		if first, twice := seen[b.Name]; twice && b.Name != "" {
			m.Report(rule.Twice, at, m.PathTo("name"), "use a different name for each", "%s is already used by another Backstage, at %s", m.PathTo("name"), first)
		}
		seen[b.Name] = at
		*to = append(*to, b)
	})
}

// development is the environment in which guests are allowed.
const development = "development"

// foreignProviders are Backstage's authentication providers that are not supported
// here.
var foreignProviders = []string{
	"atlassian", "auth0", "awsalb", "awsAlb", "azureEasyAuth", "bitbucket", "bitbucketServer", "cfaccess", "cfAccess", "easyAuth",
	"gcpIap", "gcp-iap", "github", "gitlab", "google", "microsoft", "oauth2", "oauth2Proxy", "oauth2-proxy", "okta", "onelogin",
	"openshift", "pinniped", "saml", "vmwareCloudServices",
}

func (a *Auth) read(m *keys.Map) {
	environment := development
	m.Text("environment", &environment, nil)
	m.Map("session", func(m *keys.Map) {
		m.Secret("secret", &a.SessionSecret)
		m.Strong("secret", a.SessionSecret)
	})
	m.Between("backstageTokenExpiration", &a.TokenLifetime, time.Minute, 24*time.Hour)
	m.Map("membership", func(m *keys.Map) { m.Strings("providers", &a.Membership, nil) })
	readBackstages(m, &a.Backstages)
	// Without a list of providers, guests are enabled, which need no configuration.
	wanted := !m.Has("providers")
	m.Map("providers", func(m *keys.Map) {
		a.Guest.Enabled = wanted && environment == development || m.Has("guest")
		readProvider(m, "guest", environment, func(m *keys.Map) { a.Guest.read(m, environment) })
		if !a.Guest.Enabled {
			m.Out.Delete("guest")
		}
		a.OIDC.Enabled = m.Has("oidc")
		readProvider(m, "oidc", environment, a.OIDC.read)
		if !a.OIDC.Enabled {
			m.Out.Delete("oidc")
		}
		m.Unsupported("use oidc with the address of its issuer, or remove it", foreignProviders...)
	})
	if !a.Guest.Enabled && !m.Out.Has("providers") {
		m.Out.Set("providers", tree.Obj())
	}
	m.NoEffect("identityTokenAlgorithm", "omitIdentityTokenOwnershipClaim", "keyStore", "refreshToken", "experimentalExtraAllowedOrigins",
		"experimentalDynamicClientRegistration", "experimentalClientIdMetadataDocuments", "autologout")
}

// providerMaps are the keys of a provider that hold maps.
var providerMaps = []string{"signIn", "sessionDuration"}

// readProvider reads an authentication provider: its keys, or a map of environments that
// have them, as in Backstage. Only the current environment is read.
func readProvider(m *keys.Map, key, environment string, read func(*keys.Map)) {
	m.Map(key, func(m *keys.Map) {
		m.Note("<environment>", "as `"+key+"`", nil)
		shared, environments := tree.Obj(), []string{}
		for _, f := range m.Fields() {
			if f.Value.IsMap() && !input.IsInclude(f.Value) && !slices.Contains(providerMaps, f.Key) {
				environments = append(environments, f.Key)
				continue
			}
			shared.Fields = append(shared.Fields, f)
		}
		if len(environments) == 0 {
			read(m)
			return
		}
		m.IgnoreRest()
		if !slices.Contains(environments, environment) {
			m.Report(rule.Missing, m.At(), m.Path(), "add that environment, or set auth.environment to an existing one",
				"%s has %s, but not the environment of auth.environment", m.Path(), input.Shorten(text.Enumerate(environments, "and")))
			return
		}
		m.Variant(environment, shared, read)
	})
}

func (g *GuestProvider) read(m *keys.Map, environment string) {
	readUserRef(m, "userEntityRef", &g.UserRef)
	g.OwnershipRefs = []string{g.UserRef}
	if m.Describing() {
		g.OwnershipRefs = nil
	}
	readReferences(m, "ownershipEntityRefs", &g.OwnershipRefs, "Group")
	m.Flag("dangerouslyAllowOutsideDevelopment", &g.AllowOutside)
	m.NoEffect("signIn", "sessionDuration")
	if g.Enabled && environment != development && !g.AllowOutside {
		g.Enabled = false
		m.Report(rule.NoEffect, m.At(), m.Path(), "write dangerouslyAllowOutsideDevelopment: true to let guests in, or remove guest",
			"%s has no effect, because auth.environment is not %s", m.Path(), development)
	}
}

// checkGuests reports guest access from other machines, unless the configuration
// explicitly allows it.
func (l *loader) checkGuests(m *keys.Map) {
	guests := l.c.Auth.Guest
	if !guests.Enabled || guests.AllowOutside || l.c.Backend.Listen.isLoopback() ||
		!l.wants(SectionBackend) || !l.wants(SectionAuth) || m.Describing() {
		return
	}
	hint := "configure sign-in under auth.providers, listen on 127.0.0.1, or write auth: { providers: { guest: { dangerouslyAllowOutsideDevelopment: true } } }"
	if guest, given := m.Written()["auth.providers.guest"]; given {
		hint = "remove " + guest.Path + ", listen on 127.0.0.1, or write dangerouslyAllowOutsideDevelopment: true below " + guest.Path
	}
	listen := m.Written()["backend.listen"]
	m.Report(rule.Open, listen.Place, listen.Path, hint, "%s accepts connections from other machines, and guests are let in without signing in", listen.Path)
}

// wellKnown is the path of an issuer's discovery document.
const wellKnown = "/.well-known/openid-configuration"

func (c *OIDCProvider) read(m *keys.Map) {
	var document string
	m.URL("metadataUrl", &document)
	m.URL("issuer", &c.Issuer)
	given := m.OneOf("metadataUrl", "issuer")
	switch {
	case given == "metadataUrl":
		c.Issuer = strings.TrimSuffix(document, wellKnown)
		m.Out.Delete("metadataUrl")
		m.Out.Set("issuer", tree.OptStr(c.Issuer))
	case given == "" && m.Present():
		m.ReportMissing("issuer", "", "write the address of the issuer", "%s has neither issuer nor metadataUrl", m.Path())
	}
	if keys.IsPlain(c.Issuer) {
		m.ReportValue(rule.Exposed, given, "use https", "%s would send credentials over plain HTTP", m.PathTo(given))
	}
	m.Require("clientId", "write the client id of the portal at the issuer")
	m.Text("clientId", &c.ClientID, nil)
	m.Secret("clientSecret", &c.ClientSecret)
	readScopes(m, &c.Scopes)
	m.Text("audience", &c.Audience, nil)
	m.Strings("authorizedParties", &c.AuthorizedParties, nil)
	m.Text("userClaim", &c.UserClaim, nil)
	m.Text("groupsClaim", &c.GroupsClaim, nil)
	m.Text("userNamespace", &c.UserNamespace, wantNamespace)
	m.Text("groupNamespace", &c.GroupNamespace, wantNamespace)
	m.FilePath("caFile", &c.CAFile)
	m.NoEffect("callbackUrl", "prompt", "tokenEndpointAuthMethod", "tokenSignedResponseAlg", "signIn", "sessionDuration", "timeout",
		"startUrlSearchParams", "enableExperimentalRedirectFlow")
}

// readScopes reads the scopes that are requested from the issuer: scope replaces the
// default, additionalScopes adds to it.
func readScopes(m *keys.Map, to *[]string) {
	all, more := slices.Clone(*to), []string(nil)
	m.StringOrList("scope", &all, nil)
	m.StringOrList("additionalScopes", &more, nil)
	*to = nil
	for _, s := range strings.Fields(strings.Join(append(all, more...), " ")) {
		if !slices.Contains(*to, s) {
			*to = append(*to, s)
		}
	}
	m.Out.Delete("additionalScopes")
	m.Out.Set("scope", keys.List(*to))
}

// readUserRef reads the reference of a user.
func readUserRef(m *keys.Map, key string, to *string) {
	m.Text(key, to, func(s string) string {
		if ref, err := entity.ParseExisting(s, "User", entity.DefaultNamespace); err != nil || !strings.EqualFold(ref.Kind, "User") {
			return "a user, as name, namespace/name or user:namespace/name"
		}
		return ""
	})
	*to = canonical(*to, "User")
	m.Out.Set(key, tree.Str(*to))
}

// readReferences reads a list of references and makes them canonical.
func readReferences(m *keys.Map, key string, to *[]string, kind string) {
	m.Strings(key, to, func(s string) string { return wantReference(s, kind) })
	for i, s := range *to {
		(*to)[i] = canonical(s, kind)
	}
	m.Out.Set(key, keys.List(*to))
}

// wantReference returns what a valid reference looks like, "" if s is one.
func wantReference(s, kind string) string {
	if _, err := entity.ParseExisting(s, kind, entity.DefaultNamespace); err != nil {
		return "name, namespace/name or kind:namespace/name"
	}
	return ""
}

// canonical returns a reference in its canonical form, and an invalid one unchanged.
func canonical(s, kind string) string {
	ref, err := entity.ParseExisting(s, kind, entity.DefaultNamespace)
	if err != nil {
		return s
	}
	return ref.String()
}
