package ingestion

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"example.dev/ingestor/internal/pipeline/ingest"
	"example.dev/ingestor/internal/portal/auth"
	"example.dev/ingestor/internal/portal/permission"
	"example.dev/ingestor/internal/portal/query"
	"example.dev/ingestor/internal/portal/server"
	"example.dev/ingestor/internal/store"
	"example.dev/ingestor/words"
)

// Plugins are the endpoints below /api/composer-ingestor and /api/orchestrator,
// each under both of its names.
func (in *Ingestion) Plugins() []server.Plugin {
	return []server.Plugin{
		{Names: names("/api/composer-ingestor/"), Routes: []server.Route{
			{Method: http.MethodGet, Path: "/health", Handle: in.health},
			{Method: http.MethodGet, Path: "/runs", Handle: in.runs},
			{Method: http.MethodPost, Path: "/runs", Handle: in.run},
			{Method: http.MethodGet, Path: "/explain/{xrd}", Handle: in.explain},
			in.previews.route(),
		}},
		{Names: names("/api/orchestrator/"), Routes: []server.Route{
			{Method: http.MethodGet, Path: "/clusters", Handle: in.clusters},
		}},
	}
}

// names are those of a plugin, of which one is the contract's.
func names(path string) []string {
	out := words.Spellings(words.Path, path)
	for i := range out {
		out[i] = strings.Trim(strings.TrimPrefix(out[i], "/api/"), "/")
	}
	return out
}

// health answers GET /health. Everybody learns whether it is well; the details
// name addresses, and are for those who may read about ingestion.
func (in *Ingestion) health(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	providers, err := in.store.Providers(ctx)
	if err != nil {
		return err
	}
	entities := 0
	for name, n := range providers {
		if ingest.Provides(name) {
			entities += n
		}
	}
	h, err := in.ingest.Health(ctx, entities)
	if err != nil {
		return err
	}
	if !in.policy.Decide(auth.From(ctx), permission.IngestionRead, nil) {
		h.Sources, h.Failures = nil, nil
	}
	return server.WriteJSON(w, r, http.StatusOK, h)
}

// The number of runs in an answer.
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
	limit := usualRuns
	if text := r.URL.Query().Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > mostRuns {
			return server.Input("limit must be a number from 1 to %d", mostRuns)
		}
		limit = n
	}
	runs, err := in.ingest.Runs(ctx, limit)
	if err != nil {
		return err
	}
	return server.WriteJSON(w, r, http.StatusOK, map[string]any{"items": runs})
}

// run answers POST /runs: sources are scanned now, all or the one that is named.
func (in *Ingestion) run(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := in.policy.Require(ctx, permission.IngestionManage, nil); err != nil {
		return err
	}
	var body struct {
		Source *string `json:"source"`
	}
	if r.ContentLength != 0 {
		if err := server.ReadJSON(r, &body); err != nil {
			return err
		}
	}
	names := []string{}
	for _, p := range in.ingest.Places() {
		if body.Source == nil || *body.Source == p.Name {
			names = append(names, p.Name)
		}
	}
	if body.Source != nil && len(names) == 0 {
		return server.NotFound("No source %s", query.Short(*body.Source))
	}
	for _, name := range names {
		if err := in.scanSoon(ctx, name, ingest.TriggerManual); err != nil {
			return errors.Join(store.ErrUnavailable, err)
		}
	}
	return server.WriteJSON(w, r, http.StatusAccepted, map[string]any{"sources": names})
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
		return server.NotFound("No source has a definition named %s", query.Short(name))
	}
	return server.WriteJSON(w, r, http.StatusOK, x)
}

// clusters answers GET /clusters. Where they are is for those who may read about
// ingestion; how to get in is for nobody.
func (in *Ingestion) clusters(w http.ResponseWriter, r *http.Request) error {
	items := in.ingest.Clusters()
	if !in.policy.Decide(auth.From(r.Context()), permission.IngestionRead, nil) {
		for i := range items {
			items[i].URL = ""
		}
	}
	return server.WriteJSON(w, r, http.StatusOK, map[string]any{"items": items})
}
