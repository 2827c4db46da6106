package portal_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// difference is a response that differs from that of Backstage on purpose.
// Everything that it does not mention must be equal.
type difference struct {
	reason string
	// status is the portal's status.
	status int
	// name and message are the portal's, in an error that is otherwise equal.
	name, message string
	// body is the portal's whole body, if it differs.
	body string
	// besides is a key that only the portal returns.
	besides string
	// instead has pairs of a text in the Backstage body and the portal's text
	// in its place.
	instead []string
	// values means that the shape is equal and the values differ.
	values bool
	// headers means that headers differ.
	headers bool
	// another means that the whole response differs; other tests check it,
	// except for its status.
	another bool
	// unsent means that the request cannot be made here.
	unsent bool
}

// coloured is the prefix that Backstage adds to log messages of actions, for
// terminals.
const coloured = `\u001b[32minfo\u001b[39m: `

// differences has all differences by transcript. A row that is no longer needed
// is an error.
var differences = map[string]difference{
	"01-auth-guest-refresh-post":        {reason: "Both spellings of the identity are returned (decision 8).", besides: "portalIdentity"},
	"02-auth-guest-refresh-post-nobody": {reason: "Both spellings of the identity are returned (decision 8).", besides: "portalIdentity"},
	"03-auth-guest-refresh-get":         {reason: "Both spellings of the identity are returned (decision 8).", besides: "portalIdentity"},
	"05-auth-openid-config": {reason: "The document lists only what is supported: other services cannot sign users in through this portal.", body: `{
		"issuer": "http://127.0.0.1:7007/api/auth", "jwks_uri": "http://127.0.0.1:7007/api/auth/.well-known/jwks.json",
		"response_types_supported": [], "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["ES256"],
		"scopes_supported": ["openid"], "token_endpoint_auth_methods_supported": [], "claims_supported": ["sub", "ent"],
		"grant_types_supported": []}`},
	"07-entities-badtoken":             {reason: "A bad token returns 403 (decision 8), and every 403 has the same error name.", status: 403, name: "NotAllowedError"},
	"08-entities-expired-forged-token": {reason: "A bad token returns 403 (decision 8), and every 403 has the same error name.", status: 403, name: "NotAllowedError"},
	"09-entities-tampered-signature":   {reason: "A bad token returns 403 (decision 8), and every 403 has the same error name.", status: 403, name: "NotAllowedError"},
	"100-kubernetes-clusters":          {reason: "Callers who may read about ingestion also see the URLs of clusters.", besides: "url"},
	"110-expired-valid-signature":      {reason: "An expired token returns 403 (decision 8), and every 403 has the same error name.", status: 403, name: "NotAllowedError"},
	"111-minted-valid":                 {reason: "Keys do not leave the process, so a test cannot sign a token.", unsent: true},
	"19-locations-post-dryrun-bad": {
		reason:  "The message also has a hint and the position.",
		message: `InputError: Policy check failed for component:default/bad name!; caused by Error: "metadata.name" is not valid; name "bad name!" is not allowed; use letters and digits with - _ . between them, at most 63, such as bad-name-12ad77e9 (http://127.0.0.1:18001/_files/bad.yaml:3:19)`,
	},
	"22-locations-post-badjson": {reason: "another reader of JSON, in its own words", message: "Unexpected end in JSON at position 1 (line 1 column 2)"},
	"24-locations-get":          {reason: "a location says why it cannot be read", besides: "error"},
	"28-location-by-query":      {reason: "a location says why it cannot be read", besides: "error"},
	"56-by-query-cursor":        {reason: "a location that cannot be read is an entity all the same, with its error in its status", values: true},
	"59-by-query-badcursor":     {reason: "cursors are signed, and not looked into before", message: "Malformed cursor: not created by this catalog, or modified since"},
	"66-validate-bad":           {reason: "all mistakes are told at once, in the words of our own rules", values: true},
	"68-validate-template-bad":  {reason: "in the words of our own rules", values: true},
	"73-catalog-unknown-route": {
		reason: "an unknown path is an error like any other (decision 8)", headers: true,
		body: `{"error": {"name": "NotFoundError", "message": "Nothing found at /nosuch"}, "request": {"method": "GET", "url": "/nosuch"}, "response": {"statusCode": 404}}`,
	},
	"74-scaffolder-v2-templates":      {reason: "Templates are listed (decision 8).", status: 200, another: true},
	"75-scaffolder-param-schema":      {reason: "A Template and a task have the origin of the Template.", besides: "origin"},
	"77-scaffolder-param-schema-peer": {reason: "A Template and a task have the origin of the Template.", besides: "origin"},
	"86-scaffolder-tasks":             {reason: "A Template and a task have the origin of the Template.", besides: "origin"},
	"87-scaffolder-tasks-limit":       {reason: "A Template and a task have the origin of the Template.", besides: "origin"},
	"88-scaffolder-task":              {reason: "A Template and a task have the origin of the Template.", besides: "origin"},
	"78-scaffolder-actions":           {reason: "The actions are others, in the same shape.", status: 200, another: true},
	"90-scaffolder-task-events":       {reason: "Log messages of actions are not coloured.", instead: []string{coloured, ""}},
	"91-scaffolder-task-eventstream":  {reason: "Log messages of actions are not coloured.", instead: []string{coloured, ""}},
	"93-scaffolder-dry-run":           {reason: "Log messages of actions are not coloured, the dry run is not a step, and the response lists the changes.", instead: []string{coloured, "", "with 2 steps", "with 1 steps", `"directoryContents":[`, `"changes":[],"directoryContents":[`}},
	"95-permission-authorize-list":    {reason: "A list of requests returns a list of results (decision 8).", status: 200, body: `[{"result": "ALLOW"}]`},
	"98-permission-authorize-badtype": {reason: "The JSON parser is another one, with its own messages.", message: "request/body/items/0/permission must have required property 'attributes', an object"},
}

// unexpected returns how the last response differs from both the response of
// Backstage and the documented difference.
func (r *replay) unexpected(tr *transcript, d difference) []string {
	r.t.Helper()
	want := *tr
	if d.status != 0 {
		want.status = d.status
	}
	if d.body != "" {
		want.got = []byte(d.body)
	}
	if d.instead != nil {
		want.got = []byte(strings.NewReplacer(d.instead...).Replace(string(want.got)))
	}
	if d.besides != "" {
		bare, _ := json.Marshal(without(decode(r.t, r.last.body), d.besides))
		if string(bare) == string(r.last.body) {
			return []string{"response does not have the key " + d.besides}
		}
		defer func(was []byte) { r.last.body = was }(r.last.body)
		r.last.body = bare
	}
	if d.headers {
		want.answer = r.last.header
	}
	if d.another {
		want.got, want.answer = []byte(r.recorded(string(r.last.body))), r.last.header
		return r.compare(&want)
	}
	var all []string
	if d.message != "" || d.status != 0 && d.body == "" {
		var body struct {
			Error    map[string]any `json:"error"`
			Request  map[string]any `json:"request"`
			Response map[string]any `json:"response"`
		}
		if err := json.Unmarshal(want.got, &body); err != nil {
			return []string{fmt.Sprintf("response of Backstage is not an error: %v", err)}
		}
		if d.name != "" {
			body.Error["name"] = d.name
		}
		if d.message != "" {
			body.Error["message"] = d.message
		}
		body.Response["statusCode"] = want.status
		want.got, _ = json.Marshal(body)
	}
	if d.values {
		was, is := decode(r.t, want.got), decode(r.t, r.last.body)
		if diff := cmp.Diff(shape(was), shape(is)); diff != "" {
			all = append(all, "shapes differ (-original +ours):\n"+diff)
		}
		want.got = []byte(r.recorded(string(r.last.body)))
	}
	return append(all, r.compare(&want)...)
}

// without returns a JSON value without a key, at any depth.
func without(v any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, key)
		for k := range v {
			v[k] = without(v[k], key)
		}
	case []any:
		for i := range v {
			v[i] = without(v[i], key)
		}
	}
	return v
}
