// Package change answers what a changed definition would break: it compares a text with
// the ingested definition, and validates the live resources of the clusters.
package change

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/diff"
	"example.dev/ingestor/xrd/impact"
)

// The limits of a request.
const (
	mostBytes       = 4 << 20
	mostDocuments   = 1000
	mostDefinitions = 20
	mostChanges     = 2000
	// mostRules is how many validation rules are compiled, which takes milliseconds each.
	mostRules = 500
	// mostResources is how many resources are validated.
	mostResources = 200_000
	// mostNames is how many resources of an effect are named.
	mostNames = 200
	timeout   = 5 * time.Minute
	// atOnce is how many requests read clusters at once, one for each caller.
	atOnce = 2
	// mostOpen is how many comparisons a caller may wait for at once: pages compare while
	// the user types. patience is how long one waits for its turn.
	mostOpen = 4
	patience = 10 * time.Second
	// clustersAtOnce is how many clusters are read at once.
	clustersAtOnce = 4
)

// fileName is the file of the text in positions.
const fileName = "definition.yaml"

// Ingested is a definition as it is ingested, and where its resources are.
type Ingested struct {
	Definition *xrd.Definition
	Clusters   []Cluster
	// Namespaces are those whose resources are read; empty means all.
	Namespaces []string
	// Catalog is the namespace of the entities; empty means the default.
	Catalog string
}

// entity returns the reference of the entity of a resource. The group of its key is that
// of the definition.
func (i Ingested) entity(k engine.CompositeKey) string {
	k.Group = words.In(words.Group, i.Definition.Group)
	return engine.CompositeRef(i.Catalog, k)
}

// Cluster is a cluster of the configuration. If there is an error, Cluster is nil.
type Cluster struct {
	Name    string
	Cluster *cluster.Cluster
	Err     error
}

// Options are the options of New. All are required.
type Options struct {
	// Ingested returns an ingested definition. It reports false if there is none.
	Ingested func(ctx context.Context, name string) (Ingested, bool, error)
	// Definition returns the definition behind an entity that the caller may read. If there
	// is none, the error is a *rest.Fault.
	Definition func(ctx context.Context, ref entity.Ref) (Ingested, error)
	// Readable reports, for each of some references, whether there is an entity that the
	// caller may read.
	Readable func(ctx context.Context, refs []string) ([]bool, error)
	// Cluster returns a cluster whose calls are made for the caller of the context. The error
	// is a *rest.Fault if the caller may not use it.
	Cluster func(ctx context.Context, name string) (*cluster.Cluster, error)
	Policy  *permission.Policy
}

// Changes compares definitions, a few at a time. It writes nothing.
type Changes struct {
	Options
	// turns limits how many comparisons run at once, because each uses a processor, and open
	// counts those that each caller waits for.
	turns chan struct{}
	open  auth.Quota
	// readers and reading are the same for requests that read clusters.
	readers chan struct{}
	reading auth.Quota
}

// New returns a Changes.
func New(opts Options) *Changes {
	return &Changes{
		Options: opts,
		turns:   make(chan struct{}, runtime.GOMAXPROCS(0)), open: auth.Quota{Most: mostOpen},
		readers: make(chan struct{}, atOnce), reading: auth.Quota{Most: 1},
	}
}

// Routes returns the routes of /impact and /versions.
func (c *Changes) Routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodPost, Path: "/impact", Handle: c.impact, MaxBody: mostBytes, Timeout: timeout + time.Minute},
		{Method: http.MethodGet, Path: "/versions/{kind}/{namespace}/{name}", Handle: c.versions},
		{Method: http.MethodGet, Path: "/versions/{kind}/{namespace}/{name}/resources", Handle: c.usage, Timeout: timeout + time.Minute},
	}
}

// again is when a client may retry if too many requests are in progress.
const again = 5 * time.Second

// enter admits a request that reads clusters. It does not wait: such requests take minutes.
func (c *Changes) enter(r *http.Request) (leave func(), err error) {
	done, ok := c.reading.Take(r)
	if !ok {
		return nil, rest.OverLimit(again, "You have a request in progress that reads clusters; try again when it has ended")
	}
	select {
	case c.readers <- struct{}{}:
		return func() {
			<-c.readers
			done()
		}, nil
	default:
		done()
		busy := rest.Unavailable(nil, "Too many requests that read clusters are in progress; try again in a few seconds")
		busy.RetryAfter = again
		return nil, busy
	}
}

// Answer is the response.
type Answer struct {
	Definitions []diff.Compared `json:"definitions"`
	// Findings are documents of the text that cannot be read.
	Findings []Finding `json:"findings"`
	// Impact is what the changes do to live resources; nil if it was not requested.
	Impact *impact.Result `json:"impact,omitempty"`
	// Incomplete says what could not be read.
	Incomplete []string `json:"incomplete,omitempty"`
}

// Finding is a document that cannot be read.
type Finding struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
}

// request is a parsed request.
type request struct {
	// pairs are compared definitions, and ingested what is known of the old ones, by name.
	pairs    []diff.Pair
	ingested map[string]Ingested
	findings []finding.Finding
	// live requests the impact.
	live bool
}

// impact answers POST /impact.
func (c *Changes) impact(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := c.Policy.Require(ctx, permission.IngestionRead, nil); err != nil {
		return err
	}
	// A slow upload must not take a turn.
	text, err := rest.ReadBody(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := c.compare(ctx, r, text)
	if err != nil {
		return err
	}
	if req.live {
		leave, err := c.enter(r)
		if err != nil {
			return err
		}
		defer leave()
	}
	if !req.live || !strings.Contains(r.Header.Get("Accept"), ndjson) {
		answer, err := c.answer(ctx, req, nil)
		if err != nil {
			return err
		}
		return rest.WriteJSON(w, r, http.StatusOK, answer)
	}
	return c.stream(ctx, w, req)
}

// compare parses a request and compares when it is its turn.
func (c *Changes) compare(ctx context.Context, r *http.Request, text []byte) (*request, error) {
	done, ok := c.open.Take(r)
	if !ok {
		return nil, rest.OverLimit(time.Second, "You have %d comparisons in progress; try again in a second", mostOpen)
	}
	defer done()
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case c.turns <- struct{}{}:
		defer func() { <-c.turns }()
	case <-waiting.Done():
		return nil, rest.Unavailable(waiting.Err(), "Too many comparisons are in progress; try again in a few seconds")
	}
	return c.parse(ctx, r.URL.Query(), text)
}

// parse parses a request, and compares.
func (c *Changes) parse(ctx context.Context, q url.Values, text []byte) (*request, error) {
	req := &request{ingested: map[string]Ingested{}, live: true}
	if q.Has("impact") {
		var err error
		if req.live, err = rest.Flag(q, "impact"); err != nil {
			return nil, err
		}
	}
	newer := &xrd.Set{}
	err := newer.ReadWithin(bytes.NewReader(text), xrd.Origin{Source: xrd.SourceFile, File: fileName}, parser.NewBudget(mostDocuments))
	if over, ok := errors.AsType[*parser.Error](err); ok {
		return nil, rest.TooLarge("cannot compare: %s; ingestor-cli has no such limit", over.Msg)
	}
	if err != nil {
		return nil, err
	}
	req.findings = newer.Findings
	removed := q["removed"]
	if n := len(newer.Definitions) + len(removed); n > mostDefinitions {
		return nil, rest.TooLarge("The request has %d definitions, and a comparison at most %d", n, mostDefinitions)
	}
	if len(newer.Definitions)+len(removed)+len(req.findings) == 0 {
		return nil, rest.Input("The body has no definition; send CompositeResourceDefinitions as YAML or JSON")
	}
	if n := rulesIn(newer); n > mostRules {
		return nil, rest.TooLarge("The definitions have %d validation rules, and a comparison takes at most %d; ingestor-cli has no such limit", n, mostRules)
	}
	names := slices.Clone(removed)
	for _, d := range newer.Definitions {
		names = append(names, d.Name)
	}
	older := &xrd.Set{}
	for _, name := range names {
		if _, ok := req.ingested[name]; ok || name == "" {
			continue
		}
		found, ok, err := c.Ingested(ctx, name)
		if err != nil {
			return nil, err
		}
		if ok {
			req.ingested[name] = found
			older.Definitions = append(older.Definitions, found.Definition)
		}
	}
	req.pairs, err = diff.CompareSets(ctx, older, newer)
	return req, err
}

// rulesIn counts the validation rules of definitions.
func rulesIn(set *xrd.Set) int {
	count := 0
	var visit func(n *tree.Node)
	visit = func(n *tree.Node) {
		if n.IsMap() {
			count += n.Get("x-kubernetes-validations").Len()
			for _, f := range n.Fields {
				visit(f.Value)
			}
		}
		for _, item := range n.List() {
			visit(item)
		}
	}
	for _, d := range set.Definitions {
		visit(d.Node)
	}
	return count
}

// answer compares, and validates resources if they are requested. progress, if not nil,
// is called with the number of validated resources.
func (c *Changes) answer(ctx context.Context, req *request, progress func(int)) (*Answer, error) {
	out := &Answer{Definitions: []diff.Compared{}, Findings: []Finding{}}
	for _, f := range req.findings {
		out.Findings = append(out.Findings, Finding{
			Rule: f.Rule, Severity: f.Severity.String(), Message: f.Message, Hint: f.Hint, Line: int(f.Pos.Line), Column: int(f.Pos.Column),
		})
	}
	left := mostChanges
	for i := range req.pairs {
		d := req.pairs[i].Compared()
		if len(d.Changes) > left {
			out.Incomplete = append(out.Incomplete, "more than "+count(mostChanges)+" changes; ingestor-cli shows all of them")
			d.Changes = d.Changes[:left]
		}
		left -= len(d.Changes)
		out.Definitions = append(out.Definitions, d)
	}
	if !req.live {
		return out, nil
	}
	result, incomplete, err := c.validate(ctx, req, progress)
	if err != nil {
		return nil, err
	}
	out.Impact, out.Incomplete = &result, append(out.Incomplete, incomplete...)
	return out, nil
}
