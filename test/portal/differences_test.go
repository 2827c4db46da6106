package portal_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// difference is an answer that is another one than the original's on purpose.
// What it does not mention is the same.
type difference struct {
	reason string
	// status is ours.
	status int
	// name and message are ours, in an error that is otherwise the same.
	name, message string
	// body is ours as a whole, if it is another one.
	body string
	// besides is a key of ours that the original does not have.
	besides string
	// instead are pairs of a text of the original's body and ours in its place.
	instead []string
	// values says that the shape is the same and what stands in it is not.
	values bool
	// headers says that headers differ.
	headers bool
	// another says that the whole answer is another one; but for its status
	// other tests look at it.
	another bool
	// unsent says that the request cannot be made here.
	unsent bool
}

// coloured is how the original begins what actions say, for terminals.
const coloured = `\u001b[32minfo\u001b[39m: `

// differences are all of them, by transcript. A row that is not needed any more
// is an error.
var differences = map[string]difference{
	"01-auth-guest-refresh-post":        {reason: "both spellings of the identity (decision 8)", besides: "portalIdentity"},
	"02-auth-guest-refresh-post-nobody": {reason: "both spellings of the identity (decision 8)", besides: "portalIdentity"},
	"03-auth-guest-refresh-get":         {reason: "both spellings of the identity (decision 8)", besides: "portalIdentity"},
	"05-auth-openid-config": {reason: "it only says what is true: nobody signs in elsewhere through this portal", body: `{
		"issuer": "http://127.0.0.1:7007/api/auth", "jwks_uri": "http://127.0.0.1:7007/api/auth/.well-known/jwks.json",
		"response_types_supported": [], "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["ES256"],
		"scopes_supported": ["openid"], "token_endpoint_auth_methods_supported": [], "claims_supported": ["sub", "ent"],
		"grant_types_supported": []}`},
	"07-entities-badtoken":             {reason: "a bad token is 403 (decision 8), and a 403 has one name", status: 403, name: "NotAllowedError"},
	"08-entities-expired-forged-token": {reason: "a bad token is 403 (decision 8), and a 403 has one name", status: 403, name: "NotAllowedError"},
	"09-entities-tampered-signature":   {reason: "a bad token is 403 (decision 8), and a 403 has one name", status: 403, name: "NotAllowedError"},
	"100-kubernetes-clusters":          {reason: "who may read about ingestion learns where clusters are", besides: "url"},
	"110-expired-valid-signature":      {reason: "an expired token is 403 (decision 8), and a 403 has one name", status: 403, name: "NotAllowedError"},
	"111-minted-valid":                 {reason: "keys do not leave the process, so that nobody can sign a token of their own", unsent: true},
	"19-locations-post-dryrun-bad": {
		reason:  "the message says how to mend it, and where it stands",
		message: `InputError: Policy check failed for component:default/bad name!; caused by Error: "metadata.name" is not valid; name "bad name!" is not allowed; use letters and digits with - _ . between them, at most 63, such as bad-name-12ad77e9 (http://127.0.0.1:18001/_files/bad.yaml:3:19)`,
	},
	"22-locations-post-badjson": {reason: "another reader of JSON, in its own words", message: "Unexpected end in JSON at position 1 (line 1 column 2)"},
	"24-locations-get":          {reason: "a location says why it cannot be read", besides: "error"},
	"28-location-by-query":      {reason: "a location says why it cannot be read", besides: "error"},
	"56-by-query-cursor":        {reason: "a location that cannot be read is an entity all the same, with its error in its status", values: true},
	"59-by-query-badcursor":     {reason: "cursors are signed, and not looked into before", message: "Malformed cursor: it was not made by this catalog, or was changed since"},
	"66-validate-bad":           {reason: "all mistakes are told at once, in the words of our own rules", values: true},
	"68-validate-template-bad":  {reason: "in the words of our own rules", values: true},
	"73-catalog-unknown-route": {
		reason: "an unknown path is an error like any other (decision 8)", headers: true,
		body: `{"error": {"name": "NotFoundError", "message": "There is nothing at /nosuch"}, "request": {"method": "GET", "url": "/nosuch"}, "response": {"statusCode": 404}}`,
	},
	"74-scaffolder-v2-templates":      {reason: "Templates are listed (decision 8)", status: 200, another: true},
	"75-scaffolder-param-schema":      {reason: "a Template and a task say where the Template comes from", besides: "origin"},
	"77-scaffolder-param-schema-peer": {reason: "a Template and a task say where the Template comes from", besides: "origin"},
	"86-scaffolder-tasks":             {reason: "a Template and a task say where the Template comes from", besides: "origin"},
	"87-scaffolder-tasks-limit":       {reason: "a Template and a task say where the Template comes from", besides: "origin"},
	"88-scaffolder-task":              {reason: "a Template and a task say where the Template comes from", besides: "origin"},
	"78-scaffolder-actions":           {reason: "other actions, in the same shape", status: 200, another: true},
	"90-scaffolder-task-events":       {reason: "what actions say is not coloured", instead: []string{coloured, ""}},
	"91-scaffolder-task-eventstream":  {reason: "what actions say is not coloured", instead: []string{coloured, ""}},
	"93-scaffolder-dry-run":           {reason: "what actions say is not coloured, trying out is no step, and what would become different is told", instead: []string{coloured, "", "with 2 steps", "with 1 steps", `"directoryContents":[`, `"changes":[],"directoryContents":[`}},
	"95-permission-authorize-list":    {reason: "a list is answered with a list (decision 8)", status: 200, body: `[{"result": "ALLOW"}]`},
	"98-permission-authorize-badtype": {reason: "another reader of JSON, in its own words", message: "request/body/items/0/permission must have required property 'attributes', an object"},
}

// unexpected returns where the last answer is neither the original's nor what
// the difference says.
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
			return []string{"ours does not have " + d.besides}
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
			return []string{fmt.Sprintf("the original's answer is no error: %v", err)}
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
			all = append(all, "not even the shape is the same (-original +ours):\n"+diff)
		}
		want.got = []byte(r.recorded(string(r.last.body)))
	}
	return append(all, r.compare(&want)...)
}

// without is a JSON value without a key, wherever it stands.
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
