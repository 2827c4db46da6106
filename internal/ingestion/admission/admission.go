// Package admission says whether a cluster would accept a resource, before anything is
// applied: it validates manifests against the ingested definition of their kind, with the
// code of an API server. It reads no cluster.
package admission

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/maypok86/otter/v2"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/structural"
)

// The limits of a validation: everyone who may open a form may request them while typing.
const (
	mostBytes    = 1 << 20
	mostProblems = 100
	timeout      = 5 * time.Second
	// mostKinds is how many compiled kinds are kept.
	mostKinds = 64
)

// Definitions returns a Template, and the definition that it was generated from as JSON, if
// the caller of the context may read the Template. The error is a *rest.Fault otherwise. It
// may be called concurrently.
type Definitions func(ctx context.Context, ref string) (template *tree.Node, definition []byte, err error)

// Validator validates manifests. It is safe for concurrent use.
type Validator struct {
	definitions Definitions
	// kinds has the compiled kinds, by the hash of their definition.
	kinds *otter.Cache[kindKey, *structural.Kind]
	// turns limits how many validations run at once, because each uses a processor.
	turns chan struct{}
	// open counts the validations that each caller waits for.
	open auth.Quota
}

// mostOpen is how many validations a caller may wait for at once.
const mostOpen = 4

// kindKey identifies a kind: its definition, its version, and whether it is the claim.
type kindKey struct {
	definition [sha256.Size]byte
	apiVersion string
	kind       string
}

// New returns a validator.
func New(definitions Definitions) *Validator {
	return &Validator{
		definitions: definitions,
		kinds:       otter.Must(&otter.Options[kindKey, *structural.Kind]{MaximumSize: mostKinds}),
		turns:       make(chan struct{}, runtime.GOMAXPROCS(0)),
		open:        auth.Quota{Most: mostOpen},
	}
}

// Route returns the route of POST /validate.
func (v *Validator) Route() rest.Route {
	return rest.Route{Method: http.MethodPost, Path: "/validate", Handle: v.validate, MaxBody: mostBytes, Timeout: 2 * timeout}
}

// request is the body of a request.
type request struct {
	// Template is the reference of the Template whose form makes the manifest.
	Template string `json:"template"`
	// Manifest is the resource, and Old the one that it replaces; null if it is new.
	Manifest json.RawMessage `json:"manifest"`
	Old      json.RawMessage `json:"old"`
}

// Answer is the result of a validation.
type Answer struct {
	// Accepted reports whether a cluster with the definition accepts the resource.
	Accepted bool      `json:"accepted"`
	Problems []Problem `json:"problems"`
	// Unknown are the paths of fields that a cluster drops.
	Unknown []string `json:"unknown"`
	// RulesSkipped reports whether validation rules were not evaluated because of other
	// problems.
	RulesSkipped bool `json:"rulesSkipped"`
}

// Problem is why a cluster refuses the resource.
type Problem struct {
	// Path are the steps to the field in the manifest; Field is the same as a text.
	Path  []string `json:"path"`
	Field string   `json:"field"`
	// FormPath are the steps to the field in the values of the form; empty if the form does
	// not ask for it.
	FormPath []string `json:"formPath"`
	// Message is the API server's text.
	Message string `json:"message"`
	// Detail is the message without the type of error and the value.
	Detail string `json:"detail"`
	// Missing reports whether the field is required and has no value.
	Missing bool `json:"missing"`
}

// validate answers POST /validate. Nothing is logged or stored: forms may contain secrets.
func (v *Validator) validate(w http.ResponseWriter, r *http.Request) error {
	var body request
	if err := rest.ReadJSON(r, &body); err != nil {
		return err
	}
	if body.Template == "" {
		return rest.Input("request/body must have required property 'template'")
	}
	manifest, err := readObject("manifest", body.Manifest)
	if err != nil {
		return err
	}
	var old *tree.Node
	if len(body.Old) > 0 && !bytes.Equal(body.Old, []byte("null")) {
		if old, err = readObject("old", body.Old); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	done, ok := v.open.Take(r)
	if !ok {
		return rest.OverLimit(time.Second, "You have %d validations in progress, try again in a second", mostOpen)
	}
	defer done()
	select {
	case v.turns <- struct{}{}:
		defer func() { <-v.turns }()
	case <-ctx.Done():
		return rest.Unavailable(ctx.Err(), "Too many validations in progress, try again in a second")
	}
	template, kind, err := v.kind(ctx, body.Template, manifest)
	if err != nil {
		return err
	}
	answer, err := judge(ctx, kind, manifest, old)
	if err != nil {
		return err
	}
	for i := range answer.Problems {
		answer.Problems[i].FormPath = formPath(template, answer.Problems[i].Path)
	}
	return rest.WriteJSON(w, r, http.StatusOK, answer)
}

// formPath returns where the form of a Template asks for a field. Items of lists are at the
// same place in the form.
func formPath(template *tree.Node, path []string) []string {
	keys := slices.IndexFunc(path, func(step string) bool { _, err := strconv.Atoi(step); return err == nil })
	if keys < 0 {
		keys = len(path)
	}
	at := form.Locate(template.Get("spec"), path[:keys])
	if len(at) == 0 {
		return []string{}
	}
	return append(at, path[keys:]...)
}

// readObject reads a manifest: an object, or a text with one YAML document.
func readObject(name string, data []byte) (*tree.Node, error) {
	if len(data) == 0 {
		return nil, rest.Input("request/body must have required property '%s'", name)
	}
	if data[0] == '"' {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return nil, rest.Input("cannot parse request/body/%s: %s", name, err)
		}
		data = []byte(text)
	}
	all, problems := parser.DecodeBytes(data)
	if len(problems) > 0 {
		return nil, rest.Input("cannot parse request/body/%s: %s", name, problems[0])
	}
	if len(all) != 1 || !all[0].IsMap() {
		return nil, rest.Input("request/body/%s must be one object, or a text with one YAML document", name)
	}
	return all[0], nil
}

// kind returns a Template and the compiled kind of a manifest.
func (v *Validator) kind(ctx context.Context, ref string, manifest *tree.Node) (template *tree.Node, k *structural.Kind, err error) {
	template, text, err := v.definitions(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	key := kindKey{sha256.Sum256(text), manifest.Get("apiVersion").Str(), manifest.Get("kind").Str()}
	if k, ok := v.kinds.GetIfPresent(key); ok {
		return template, k, nil
	}
	if k, err = compile(text, ref, key); err != nil {
		return nil, nil, err
	}
	v.kinds.Set(key, k)
	return template, k, nil
}

// compile compiles the kind of a manifest.
func compile(text []byte, ref string, key kindKey) (*structural.Kind, error) {
	var set xrd.Set
	if err := set.Read(bytes.NewReader(text), xrd.Origin{}); err != nil {
		return nil, fmt.Errorf("cannot read the definition of %s: %w", ref, err)
	}
	if n := len(set.Definitions); n != 1 {
		return nil, fmt.Errorf("cannot read the definition of %s: want one, found %d", ref, n)
	}
	d := set.Definitions[0]
	group, version, _ := strings.Cut(key.apiVersion, "/")
	claim := d.HasClaim() && key.kind == d.Claim.Kind
	if group != d.Group || !claim && key.kind != d.Names.Kind {
		return nil, rest.Input("request/body/manifest is a %s of %s, but %s is generated from definition %s",
			rest.Short(key.kind), rest.Short(key.apiVersion), rest.Short(ref), d.Label())
	}
	k, err := structural.NewKind(d, version, claim)
	if err != nil {
		return nil, rest.Conflict("The manifest cannot be validated: %s", err)
	}
	return k, nil
}

// judge validates a manifest.
func judge(ctx context.Context, kind *structural.Kind, manifest, old *tree.Node) (*Answer, error) {
	object, err := structural.Object(manifest)
	if err != nil {
		return nil, rest.Input("%s", err)
	}
	var before map[string]any
	if old != nil {
		if before, err = structural.Object(old); err != nil {
			return nil, rest.Input("%s", err)
		}
	}
	said := kind.Validate(ctx, object, before)
	if err := ctx.Err(); err != nil {
		return nil, rest.Unavailable(err, "Validation timed out after %s; ingestor-cli --validate has no such limit", timeout)
	}
	a := &Answer{Accepted: len(said.Problems) == 0, Problems: []Problem{}, Unknown: said.Unknown, RulesSkipped: said.RulesSkipped}
	if a.Unknown == nil {
		a.Unknown = []string{}
	}
	for _, p := range said.Problems[:min(len(said.Problems), mostProblems)] {
		path := p.Path
		if path == nil {
			path = []string{}
		}
		a.Problems = append(a.Problems, Problem{Path: path, Field: p.Field, Message: p.Message, Detail: p.Text(), Missing: p.Missing})
	}
	a.Unknown = a.Unknown[:min(len(a.Unknown), mostProblems)]
	return a, nil
}
