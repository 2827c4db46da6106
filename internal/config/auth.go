package config

import (
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
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

// development is the environment in which guests are allowed.
const development = "development"

// foreignProviders are Backstage's authentication providers that are not supported
// here.
var foreignProviders = []string{
	"atlassian", "auth0", "awsalb", "awsAlb", "azureEasyAuth", "bitbucket", "bitbucketServer", "cfaccess", "cfAccess", "easyAuth",
	"gcpIap", "gcp-iap", "github", "gitlab", "google", "microsoft", "oauth2", "oauth2Proxy", "oauth2-proxy", "okta", "onelogin",
	"openshift", "pinniped", "saml", "vmwareCloudServices",
}

func (a *Auth) read(o *object) {
	environment := development
	o.text("environment", &environment, nil)
	o.object("session", func(o *object) {
		o.secret("secret", &a.SessionSecret)
		o.strong("secret", a.SessionSecret)
	})
	o.between("backstageTokenExpiration", &a.TokenLifetime, time.Minute, 24*time.Hour)
	o.object("membership", func(o *object) { o.strings("providers", &a.Membership, nil) })
	// Without a list of providers, guests are enabled, which need no configuration.
	wanted := !o.has("providers")
	o.object("providers", func(o *object) {
		a.Guest.Enabled = wanted && environment == development || o.has("guest")
		o.provider("guest", environment, func(o *object) { a.Guest.read(o, environment) })
		if !a.Guest.Enabled {
			o.out.Delete("guest")
		}
		a.OIDC.Enabled = o.has("oidc")
		o.provider("oidc", environment, a.OIDC.read)
		if !a.OIDC.Enabled {
			o.out.Delete("oidc")
		}
		o.unsupported("use oidc with the address of its issuer, or remove it", foreignProviders...)
	})
	if !a.Guest.Enabled && !o.out.Has("providers") {
		o.out.Set("providers", tree.Obj())
	}
	o.noEffect("identityTokenAlgorithm", "omitIdentityTokenOwnershipClaim", "keyStore", "refreshToken", "experimentalExtraAllowedOrigins",
		"experimentalDynamicClientRegistration", "experimentalClientIdMetadataDocuments", "autologout")
}

// providerMaps are the keys of a provider that hold maps.
var providerMaps = []string{"signIn", "sessionDuration"}

// provider reads an authentication provider: its keys, or a map of environments that
// have them, as in Backstage. Only the current environment is read.
func (o *object) provider(key, environment string, read func(*object)) {
	o.object(key, func(o *object) {
		o.note("<environment>", "as `"+key+"`", nil)
		shared, environments := tree.Obj(), []string{}
		if o.node != nil {
			for _, f := range o.node.Fields {
				if f.Value.IsMap() && !isInclude(f.Value) && !slices.Contains(providerMaps, f.Key) {
					environments = append(environments, f.Key)
					continue
				}
				shared.Fields = append(shared.Fields, f)
			}
		}
		if len(environments) == 0 {
			read(o)
			return
		}
		o.unchecked = true
		if !slices.Contains(environments, environment) {
			o.r.report(RuleMissing, o.at, o.path, "add that environment, or set auth.environment to an existing one",
				"%s has %s, but not the environment of auth.environment", o.path, shorten(enumerate(environments, "and")))
			return
		}
		chosen := o.node.Get(environment)
		child := &object{
			r: o.r, node: o.r.merge(shared, chosen), at: o.r.placeOf(chosen), path: o.pathTo(environment), doc: o.doc, lenient: o.lenient, out: o.out,
		}
		read(child)
		child.finish()
	})
}

func (g *GuestProvider) read(o *object, environment string) {
	o.userRef("userEntityRef", &g.UserRef)
	g.OwnershipRefs = []string{g.UserRef}
	if o.r.describing {
		g.OwnershipRefs = nil
	}
	o.references("ownershipEntityRefs", &g.OwnershipRefs, "Group")
	o.flag("dangerouslyAllowOutsideDevelopment", &g.AllowOutside)
	o.noEffect("signIn", "sessionDuration")
	if g.Enabled && environment != development && !g.AllowOutside {
		g.Enabled = false
		o.r.report(RuleNoEffect, o.at, o.path, "write dangerouslyAllowOutsideDevelopment: true to let guests in, or remove guest",
			"%s has no effect, because auth.environment is not %s", o.path, development)
	}
}

// checkGuests reports guest access from other machines, unless the configuration
// explicitly allows it.
func (r *reader) checkGuests(c *Config) {
	if !c.Auth.Guest.Enabled || c.Auth.Guest.AllowOutside || c.Backend.Listen.isLoopback() ||
		!r.wants(SectionBackend) || !r.wants(SectionAuth) || r.describing {
		return
	}
	hint := "configure sign-in under auth.providers, listen on 127.0.0.1, or write auth: { providers: { guest: { dangerouslyAllowOutsideDevelopment: true } } }"
	if guest, given := r.written["auth.providers.guest"]; given {
		hint = "remove " + guest.path + ", listen on 127.0.0.1, or write dangerouslyAllowOutsideDevelopment: true below " + guest.path
	}
	listen := r.written["backend.listen"]
	r.report(RuleOpen, listen.place, listen.path, hint, "%s accepts connections from other machines, and guests are let in without signing in", listen.path)
}

// wellKnown is the path of an issuer's discovery document.
const wellKnown = "/.well-known/openid-configuration"

func (c *OIDCProvider) read(o *object) {
	var document string
	o.url("metadataUrl", &document)
	o.url("issuer", &c.Issuer)
	given := o.oneOf("metadataUrl", "issuer")
	switch {
	case given == "metadataUrl":
		c.Issuer = strings.TrimSuffix(document, wellKnown)
		o.out.Delete("metadataUrl")
		o.out.Set("issuer", tree.OptStr(c.Issuer))
	case given == "" && o.node != nil:
		o.r.report(RuleMissing, o.at, o.pathTo("issuer"), "write the address of the issuer", "%s has neither issuer nor metadataUrl", o.path)
	}
	if isPlain(c.Issuer) {
		o.r.report(RuleExposed, o.valueAt(given), o.pathTo(given), "use https", "%s would send credentials over plain HTTP", o.pathTo(given))
	}
	o.require("clientId", "write the client id of the portal at the issuer")
	o.text("clientId", &c.ClientID, nil)
	o.secret("clientSecret", &c.ClientSecret)
	o.scopes(&c.Scopes)
	o.text("audience", &c.Audience, nil)
	o.strings("authorizedParties", &c.AuthorizedParties, nil)
	o.text("userClaim", &c.UserClaim, nil)
	o.text("groupsClaim", &c.GroupsClaim, nil)
	o.text("userNamespace", &c.UserNamespace, wantNamespace)
	o.text("groupNamespace", &c.GroupNamespace, wantNamespace)
	o.filePath("caFile", &c.CAFile)
	o.noEffect("callbackUrl", "prompt", "tokenEndpointAuthMethod", "tokenSignedResponseAlg", "signIn", "sessionDuration", "timeout",
		"startUrlSearchParams", "enableExperimentalRedirectFlow")
}

// scopes reads the scopes that are requested from the issuer: scope replaces the
// default, additionalScopes adds to it.
func (o *object) scopes(to *[]string) {
	all, more := slices.Clone(*to), []string(nil)
	o.stringOrList("scope", &all, nil)
	o.stringOrList("additionalScopes", &more, nil)
	*to = nil
	for _, s := range strings.Fields(strings.Join(append(all, more...), " ")) {
		if !slices.Contains(*to, s) {
			*to = append(*to, s)
		}
	}
	o.out.Delete("additionalScopes")
	o.out.Set("scope", list(*to))
}

// userRef reads the reference of a user.
func (o *object) userRef(key string, to *string) {
	o.text(key, to, func(s string) string {
		if ref, err := entity.ParseExisting(s, "User", entity.DefaultNamespace); err != nil || !strings.EqualFold(ref.Kind, "User") {
			return "a user, as name, namespace/name or user:namespace/name"
		}
		return ""
	})
	*to = canonical(*to, "User")
	o.out.Set(key, tree.Str(*to))
}

// references reads a list of references and makes them canonical.
func (o *object) references(key string, to *[]string, kind string) {
	o.strings(key, to, func(s string) string { return wantReference(s, kind) })
	for i, s := range *to {
		(*to)[i] = canonical(s, kind)
	}
	o.out.Set(key, list(*to))
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
