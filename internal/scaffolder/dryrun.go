package scaffolder

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/identity/audit"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/scaffolder/task"
)

// file is a file next to a Template, or in the workspace after the run.
type file struct {
	Path       string `json:"path"`
	Executable bool   `json:"executable"`
	Content    string `json:"base64Content"`
}

// change is a change that a step would make outside the workspace.
type change struct {
	Step   string  `json:"stepId"`
	Where  string  `json:"where"`
	Name   string  `json:"name"`
	Kind   string  `json:"change"`
	Before *string `json:"before,omitempty"`
	After  *string `json:"after,omitempty"`
	Hidden string  `json:"hidden,omitempty"`
}

// dryRun answers POST /v2/dry-run: a Template that need not be in the catalog is
// dry-run. Rules about kinds, namespaces and owners do not apply, because the
// Template itself claims what it is.
func (s *Scaffolder) dryRun(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := s.mayRun(ctx, permission.TemplateDryRun, nil); err != nil {
		return err
	}
	var body struct {
		Template json.RawMessage `json:"template"`
		filled
		Files []file `json:"directoryContents"`
	}
	if err := rest.ReadJSON(r, &body); err != nil {
		return err
	}
	// Only files may be large: the rest is parsed into memory, where it takes many times
	// its size.
	if len(body.Template)+len(body.Values) > maxTried {
		return rest.Input("request/body/template and request/body/values must NOT have more than %d bytes together", maxTried)
	}
	t, err := s.readTemplate(body.Template)
	if err != nil {
		return err
	}
	order, problems, err := s.order(ctx, t, body.filled)
	if err != nil {
		return err
	}
	var known found
	if order.By, known, err = s.tried(ctx, t); err != nil {
		return err
	}
	if len(problems) > 0 {
		return invalid(w, r, problems)
	}
	if err := s.unlocked(known.Node, order.Values); err != nil {
		return err
	}
	dry := task.DryOrder{Order: order}
	for i, f := range body.Files {
		content, err := base64.StdEncoding.DecodeString(f.Content)
		if err != nil {
			return rest.Input("request/body/directoryContents/%d/base64Content is not base64", i)
		}
		dry.Files = append(dry.Files, task.File{Path: f.Path, Executable: f.Executable, Content: content})
	}
	done, err := s.Tasks.DryRun(ctx, dry)
	s.record(ctx, audit.DryRun, "", entity.RefOf(t).String(), err)
	if err != nil {
		return failed(w, r, err)
	}
	return writeDryRun(w, r, done)
}

// writeDryRun responds with the result of a dry run.
func writeDryRun(w http.ResponseWriter, r *http.Request, done *task.Dry) error {
	out := struct {
		Log     []json.RawMessage `json:"log"`
		Files   []file            `json:"directoryContents"`
		Output  json.RawMessage   `json:"output"`
		Steps   json.RawMessage   `json:"steps"`
		Changes []change          `json:"changes"`
	}{Log: done.Log, Files: []file{}, Changes: []change{}, Output: raw(done.Output), Steps: raw(done.Steps)}
	for _, f := range done.Files {
		out.Files = append(out.Files, file{f.Path, f.Executable, base64.StdEncoding.EncodeToString(f.Content)})
	}
	for _, c := range done.Changes {
		out.Changes = append(out.Changes, change(c))
	}
	return rest.WriteJSON(w, r, http.StatusOK, out)
}

// tried returns the requester of a dry run. If the catalog has the Template exactly
// as the caller sent it, its origin is that of the catalog, and the Template of the
// catalog is returned too.
func (s *Scaffolder) tried(ctx context.Context, t *tree.Node) (task.Requester, found, error) {
	ref := entity.RefOf(t)
	by := task.Requester{Caller: auth.From(ctx), Template: ref.String(), Origin: permission.OriginInline}
	known, err := s.template(ctx, ref)
	if f, ok := errors.AsType[*rest.Fault](err); ok && f.Status < http.StatusInternalServerError {
		return by, found{}, nil
	}
	if err != nil {
		return by, found{}, err
	}
	if known.Get("spec").Equal(t.Get("spec")) {
		return s.by(ctx, known), known, nil
	}
	return by, found{}, nil
}

// readTemplate decodes a Template that a caller sent.
func (s *Scaffolder) readTemplate(data []byte) (*tree.Node, error) {
	if len(data) == 0 {
		return nil, rest.Input("request/body must have required property 'template'")
	}
	n, err := wire.Decoder{}.Decode(bytes.TrimSpace(data))
	if err != nil {
		return nil, rest.Input("cannot parse request/body/template: %s", err)
	}
	if !isTemplate(n) {
		return nil, rest.Input("Input template is not a template")
	}
	if why := s.Catalog.Refusal(n.Clone()); why != "" {
		return nil, rest.Input("Input template is not a template: %s", why)
	}
	return n, nil
}
