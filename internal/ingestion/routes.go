package ingestion

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/identity/audit"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/ingestion/health"
	"example.dev/ingestor/internal/ingestion/inspect"
	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/internal/ingestion/unit"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/words"
)

// Plugins returns the endpoints below /api/composer-ingestor and /api/orchestrator,
// each under both of its names. more are routes of other slices below the first.
func (in *Ingestion) Plugins(more ...rest.Route) []rest.Plugin {
	return []rest.Plugin{
		{Names: spellings("/api/composer-ingestor/"), Routes: slices.Concat([]rest.Route{
			{Method: http.MethodGet, Path: "/health", Handle: in.health},
			{Method: http.MethodGet, Path: "/runs", Handle: in.runs},
			{Method: http.MethodPost, Path: "/runs", Handle: in.run},
			{Method: http.MethodGet, Path: "/runs/{id}", Handle: in.runOf},
			{Method: http.MethodPost, Path: "/removals/confirm", Handle: in.confirm},
			{Method: http.MethodGet, Path: "/findings", Handle: in.findings},
			{Method: http.MethodGet, Path: "/definitions", Handle: in.definitions},
			{Method: http.MethodGet, Path: "/definitions/by-name", Handle: in.names},
			{Method: http.MethodGet, Path: "/explain/{xrd}", Handle: in.explain},
			{Method: http.MethodGet, Path: "/conditions/{kind}/{namespace}/{name}", Handle: in.conditions},
			{Method: http.MethodGet, Path: "/source/{kind}/{namespace}/{name}", Handle: in.source},
			in.previews.Route(),
			in.admission.Route(),
		}, in.changes.Routes(), more)},
		{Names: spellings("/api/orchestrator/"), Routes: []rest.Route{
			{Method: http.MethodGet, Path: "/clusters", Handle: in.clusters},
		}},
	}
}

// spellings returns the names of a plugin, one of which is fixed by the contract.
func spellings(path string) []string {
	out := words.Spellings(words.Path, path)
	for i := range out {
		out[i] = strings.Trim(strings.TrimPrefix(out[i], "/api/"), "/")
	}
	return out
}

// health answers GET /health. Everyone sees the status; the details contain addresses
// and require the permission to read ingestion.
func (in *Ingestion) health(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	providers, err := in.entities.Providers(ctx)
	if err != nil {
		return err
	}
	entities := 0
	for name, n := range providers {
		if unit.Provides(name) {
			entities += n
		}
	}
	h, err := in.ingest.Health(ctx, entities)
	if err != nil {
		return err
	}
	if !in.policy.Decide(auth.From(ctx), permission.IngestionRead, nil) {
		h.Sources, h.Failures, h.Notices, h.Missing = nil, nil, nil, nil
		h.Unserved, h.UnservedCount = nil, 0
	}
	return rest.WriteJSON(w, r, http.StatusOK, h)
}

// The default and maximum number of runs in a response.
const (
	usualRuns = 50
	mostRuns  = 500
)

// runs answers GET /runs.
func (in *Ingestion) runs(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := in.policy.Require(ctx, permission.IngestionRead, nil); err != nil {
		return err
	}
	limit, err := number(r.URL.Query(), "limit", usualRuns, 1, mostRuns)
	if err != nil {
		return err
	}
	runs, err := in.ingest.Runs(ctx, limit)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, map[string]any{"items": runs})
}

// runOf answers GET /runs/{id}.
func (in *Ingestion) runOf(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := in.policy.Require(ctx, permission.IngestionRead, nil); err != nil {
		return err
	}
	id := r.PathValue("id")
	run, ok, err := in.ingest.RunOf(ctx, id)
	if err != nil {
		return err
	}
	if !ok {
		return rest.NotFound("No run %s found", rest.Short(id))
	}
	return rest.WriteJSON(w, r, http.StatusOK, run)
}

// The default and maximum number of findings in a response, and the maximum offset.
const (
	usualFindings = 50
	mostFindings  = 500
	farFindings   = 1_000_000
)

// findings answers GET /findings.
func (in *Ingestion) findings(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := in.policy.Require(ctx, permission.IngestionRead, nil); err != nil {
		return err
	}
	params := r.URL.Query()
	q := inspect.FindingsQuery{Rule: params.Get("rule"), Cluster: params.Get("cluster"), Definition: params.Get("definition")}
	var err error
	if q.Limit, err = number(params, "limit", usualFindings, 0, mostFindings); err != nil {
		return err
	}
	if q.Offset, err = number(params, "offset", 0, 0, farFindings); err != nil {
		return err
	}
	if text := params.Get("severity"); text != "" {
		all := []finding.Severity{finding.Error, finding.Warning, finding.Info}
		i := slices.IndexFunc(all, func(s finding.Severity) bool { return s.String() == text })
		if i < 0 {
			return rest.Input("severity must be error, warning or info")
		}
		q.Severity = &all[i]
	}
	found, err := in.ingest.Findings(ctx, q)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, found)
}

// definitions answers GET /definitions.
func (in *Ingestion) definitions(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := in.policy.Require(ctx, permission.IngestionRead, nil); err != nil {
		return err
	}
	params := r.URL.Query()
	q := health.DefinitionsQuery{Source: params.Get("source"), Cluster: params.Get("cluster")}
	var err error
	if q.Limit, err = number(params, "limit", usualFindings, 0, mostFindings); err != nil {
		return err
	}
	if q.Offset, err = number(params, "offset", 0, 0, farFindings); err != nil {
		return err
	}
	if text := params.Get("selected"); text != "" {
		chosen := text == "true"
		if !chosen && text != "false" {
			return rest.Input("selected must be true or false")
		}
		q.Selected = &chosen
	}
	items, total, err := in.ingest.Definitions(ctx, q)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, map[string]any{"items": items, "totalItems": total})
}

// names answers GET /definitions/by-name.
func (in *Ingestion) names(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := in.policy.Require(ctx, permission.IngestionRead, nil); err != nil {
		return err
	}
	params := r.URL.Query()
	q := health.NamesQuery{Text: params.Get("text"), Cluster: params.Get("cluster"), Only: params.Get("only")}
	if only := []string{health.OnlySelected, health.OnlyUnselected, health.OnlyFindings}; q.Only != "" && !slices.Contains(only, q.Only) {
		return rest.Input("only must be %s or %s", strings.Join(only[:2], ", "), only[2])
	}
	var err error
	if q.Limit, err = number(params, "limit", usualFindings, 0, mostFindings); err != nil {
		return err
	}
	if q.Offset, err = number(params, "offset", 0, 0, farFindings); err != nil {
		return err
	}
	found, err := in.ingest.Names(ctx, q)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, found)
}

// number parses an integer parameter.
func number(params url.Values, name string, usual, least, most int) (int, error) {
	text := params.Get(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, rest.Input("%s must be a number from %d to %d", name, least, most)
	}
	return n, nil
}

// run answers POST /runs: it requests a scan of all sources, or of the named one.
func (in *Ingestion) run(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := in.policy.Require(ctx, permission.IngestionManage, nil); err != nil {
		return err
	}
	var body struct {
		Source *string `json:"source"`
	}
	if r.ContentLength != 0 {
		if err := rest.ReadJSON(r, &body); err != nil {
			return err
		}
	}
	names := []string{}
	for _, name := range in.ingest.Targets() {
		if body.Source == nil || *body.Source == name {
			names = append(names, name)
		}
	}
	if body.Source != nil && len(names) == 0 {
		return rest.NotFound("No source %s", rest.Short(*body.Source))
	}
	err := in.scanNow(ctx, names)
	in.recordScan(ctx, body.Source, len(names), err)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusAccepted, map[string]any{"sources": names})
}

// confirm answers POST /removals/confirm.
func (in *Ingestion) confirm(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := in.policy.Require(ctx, permission.IngestionManage, nil); err != nil {
		return err
	}
	var body struct {
		Source string    `json:"source"`
		Since  time.Time `json:"since"`
	}
	if err := rest.ReadJSON(r, &body); err != nil {
		return err
	}
	if !slices.Contains(in.ingest.Targets(), body.Source) {
		return rest.NotFound("No source %s", rest.Short(body.Source))
	}
	pending, err := in.ingest.Confirm(ctx, body.Source, auth.From(ctx).Subject, body.Since)
	if errors.Is(err, status.ErrNothingPending) {
		err = rest.Conflict("No removal is pending for %s since then; read the health of the source again", rest.Short(body.Source))
	}
	if err == nil {
		err = in.scanNow(ctx, []string{body.Source})
	}
	in.audit.Done(ctx, audit.Event{Name: audit.IngestionConfirm, Target: map[string]string{"source": body.Source}, Counts: map[string]int{"objects": pending.Objects}}, err)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusAccepted, pending)
}

// explain answers GET /explain/{xrd}.
func (in *Ingestion) explain(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := in.policy.Require(ctx, permission.IngestionRead, nil); err != nil {
		return err
	}
	name := r.PathValue("xrd")
	x, ok, err := in.ingest.Explain(ctx, name)
	if err != nil {
		return err
	}
	if !ok {
		return rest.NotFound("No source has a definition named %s", rest.Short(name))
	}
	return rest.WriteJSON(w, r, http.StatusOK, x)
}

// clusters answers GET /clusters. URLs require the permission to read ingestion;
// credentials are never shown.
func (in *Ingestion) clusters(w http.ResponseWriter, r *http.Request) error {
	if err := in.policy.Require(r.Context(), permission.KubernetesClusters, nil); err != nil {
		return err
	}
	items := in.ingest.Clusters()
	if !in.policy.Decide(auth.From(r.Context()), permission.IngestionRead, nil) {
		for i := range items {
			items[i].URL = ""
		}
	}
	return rest.WriteJSON(w, r, http.StatusOK, map[string]any{"items": items})
}
