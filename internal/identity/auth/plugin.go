package auth

import (
	"fmt"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/rest"
)

// maxBody is the size limit of a request for a token; the body is not used.
const maxBody = 64 << 10

// defaultGuest is the default user of guests.
const defaultGuest = "user:development/guest"

// Plugin returns the endpoints below /api/auth.
func (a *Auth) Plugin() rest.Plugin {
	routes := []rest.Route{
		{Method: http.MethodGet, Path: "/.well-known/jwks.json", Handle: a.keys},
		{Method: http.MethodGet, Path: "/.well-known/openid-configuration", Handle: a.discovery},
		{Method: http.MethodGet, Path: "/providers", Handle: a.providers},
		{Method: http.MethodGet, Path: "/guest/refresh", Handle: a.guestRefresh},
		{Method: http.MethodPost, Path: "/guest/refresh", Handle: a.guestRefresh},
		{Method: http.MethodGet, Path: "/oidc/start", Handle: a.navigated(a.start), Refuse: a.refuse},
		{Method: http.MethodGet, Path: "/oidc/handler/frame", Handle: a.navigated(a.callback), Refuse: a.refuse},
		{Method: http.MethodGet, Path: "/oidc/refresh", Handle: a.refresh},
		{Method: http.MethodPost, Path: "/oidc/refresh", Handle: a.refresh},
		{Method: http.MethodPost, Path: "/oidc/logout", Handle: a.logout},
	}
	for i := range routes {
		routes[i].Public, routes[i].MaxBody = true, maxBody
	}
	return rest.Plugin{Names: []string{"auth"}, Routes: routes}
}

// providers answers with the enabled sign-in providers, so that a page need not try
// them.
func (a *Auth) providers(w http.ResponseWriter, r *http.Request) error {
	return rest.WriteJSON(w, r, http.StatusOK, struct {
		Guest bool `json:"guest"`
		OIDC  bool `json:"oidc"`
	}{a.guests, a.users != nil})
}

func newGuest(g config.GuestProvider) (identity, error) {
	who := identity{guest: true}
	if !g.Enabled {
		return who, nil
	}
	given := g.UserRef
	if given == "" {
		given = defaultGuest
	}
	ref, err := entity.ParseExisting(given, "user", "")
	if err != nil {
		return identity{}, fmt.Errorf("cannot use auth.providers.guest.userEntityRef: %w", err)
	}
	who.ref = ref.String()
	for _, o := range g.OwnershipRefs {
		ref, err := entity.ParseExisting(o, "group", "")
		if err != nil {
			return identity{}, fmt.Errorf("cannot use auth.providers.guest.ownershipEntityRefs: %w", err)
		}
		who.ownership = append(who.ownership, ref.String())
	}
	if len(who.ownership) == 0 {
		who.ownership = []string{who.ref}
	}
	return who, nil
}

func (a *Auth) guestRefresh(w http.ResponseWriter, r *http.Request) error {
	err := a.admitGuest(w, r)
	a.recordGuest(r.Context(), err)
	return err
}

// admitGuest gives a guest a token.
func (a *Auth) admitGuest(w http.ResponseWriter, r *http.Request) error {
	if !a.guests {
		return rest.NotAllowed("Guest sign-in is disabled: sign in as a user, or enable auth.providers.guest")
	}
	if _, err := rest.ReadBody(r); err != nil {
		return err
	}
	return a.welcome(w, r, a.guest, profile{})
}

// profile is the profile of a user.
type profile struct {
	Email       string `json:"email,omitempty"`
	DisplayName string `json:"displayName,omitempty"`
	Picture     string `json:"picture,omitempty"`
}

// Response to a successful sign-in.
type (
	welcome struct {
		Profile  profile  `json:"profile"`
		Identity admitted `json:"backstageIdentity"`
		// Portal is Identity under the name of the specification.
		Portal admitted `json:"portalIdentity"`
	}
	admitted struct {
		Token    string   `json:"token"`
		Identity userInfo `json:"identity"`
		Expires  int64    `json:"expiresInSeconds"`
	}
	userInfo struct {
		Type      string   `json:"type"`
		Ref       string   `json:"userEntityRef"`
		Ownership []string `json:"ownershipEntityRefs"`
	}
)

// welcome answers with a token for an identity.
func (a *Auth) welcome(w http.ResponseWriter, r *http.Request, who identity, p profile) error {
	token, err := a.issue(r.Context(), who)
	if err != nil {
		return err
	}
	in := admitted{
		Token: token, Expires: int64(a.lifetime / time.Second),
		Identity: userInfo{Type: "user", Ref: who.ref, Ownership: who.ownership},
	}
	w.Header().Set("Cache-Control", "no-store")
	return rest.WriteJSON(w, r, http.StatusOK, welcome{Profile: p, Identity: in, Portal: in})
}

func (a *Auth) keys(w http.ResponseWriter, r *http.Request) error {
	return rest.WriteJSON(w, r, http.StatusOK, jose.JSONWebKeySet{Keys: a.ring.Public(r.Context())})
}

// discovery describes the portal as an issuer. Other applications cannot use the
// portal for sign-in, so there are no endpoints for that.
func (a *Auth) discovery(w http.ResponseWriter, r *http.Request) error {
	return rest.WriteJSON(w, r, http.StatusOK, struct {
		Issuer        string   `json:"issuer"`
		Keys          string   `json:"jwks_uri"`
		ResponseTypes []string `json:"response_types_supported"`
		SubjectTypes  []string `json:"subject_types_supported"`
		Algorithms    []string `json:"id_token_signing_alg_values_supported"`
		Scopes        []string `json:"scopes_supported"`
		AuthMethods   []string `json:"token_endpoint_auth_methods_supported"`
		Claims        []string `json:"claims_supported"`
		Grants        []string `json:"grant_types_supported"`
	}{
		Issuer: a.base, Keys: a.base + "/.well-known/jwks.json",
		ResponseTypes: []string{}, SubjectTypes: []string{"public"}, Algorithms: []string{string(jose.ES256)},
		Scopes: []string{"openid"}, AuthMethods: []string{}, Claims: []string{"sub", "ent"}, Grants: []string{},
	})
}
