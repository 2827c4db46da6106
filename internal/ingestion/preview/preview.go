// Package preview builds the entities of a text that a user types, without storing anything.
package preview

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/ingestion/inspect"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/source"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// The limits of a preview: anyone may request one.
const (
	mostBytes       = 1 << 20
	mostDocuments   = 1000
	mostDefinitions = 20
	mostAnswer      = 16 << 20
	timeout         = 2 * time.Second
	atOnce          = 2
)

// fileName is the file name of the text in commands and in the origin of entities.
const fileName = "definition.yaml"

// Preview is the result for a text.
type Preview struct {
	Definitions []Previewed `json:"definitions"`
	// Findings are those that belong to no definition, such as syntax errors.
	Findings []Finding `json:"findings"`
	// Passed are objects from which nothing is built.
	Passed []Passed `json:"passed"`
}

// Previewed is the result for a definition.
type Previewed struct {
	Name string `json:"name"`
	// Refused is why the service would not ingest it; empty if it would.
	Refused  string            `json:"refused,omitempty"`
	Entities []json.RawMessage `json:"entities"`
	// YAML contains the same entities as documents, in the order in which Command writes
	// them.
	YAML string `json:"yaml"`
	// Withheld are references of entities that the catalog would refuse.
	Withheld []string        `json:"withheld,omitempty"`
	Values   []inspect.Value `json:"values"`
	Findings []Finding       `json:"findings"`
	// Command builds the same entities from a file with the text.
	Command string `json:"command"`
}

// Finding is a finding with its position in the text.
type Finding struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Path     string `json:"path,omitempty"`
}

// Passed counts objects of a kind from which nothing is built.
type Passed struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Count      int    `json:"count"`
	Why        string `json:"why,omitempty"`
}

// Previewer builds previews, a few at a time. It writes nothing.
type Previewer struct {
	config    *config.Config
	extension engine.Extension
	// turns is a semaphore for concurrent previews.
	turns chan struct{}
	// limit is timeout, except in tests.
	limit time.Duration
}

// New returns a previewer of the configured variants.
func New(c *config.Config, x engine.Extension) *Previewer {
	return &Previewer{config: c, extension: x, turns: make(chan struct{}, atOnce), limit: timeout}
}

// Route returns the route of POST /preview.
func (p *Previewer) Route() rest.Route {
	return rest.Route{
		Method: http.MethodPost, Path: "/preview", Handle: p.preview, Guests: true,
		MaxBody: mostBytes, Timeout: 15 * time.Second,
	}
}

// preview answers POST /preview: the entities that the service would build from the
// body. Errors in the body are part of the response.
func (p *Previewer) preview(w http.ResponseWriter, r *http.Request) error {
	how, err := p.how(r.URL.Query())
	if err != nil {
		return err
	}
	text, err := rest.ReadBody(r)
	if err != nil {
		return err
	}
	answer, err := p.bounded(r.Context(), func(ctx context.Context) (*Preview, error) { return how.make(ctx, text) })
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, answer)
}

// bounded builds a preview if a slot is free. It returns when the timeout expires, but
// the slot stays occupied until the work ends, because the engine cannot be
// interrupted.
func (p *Previewer) bounded(ctx context.Context, work func(context.Context) (*Preview, error)) (*Preview, error) {
	select {
	case p.turns <- struct{}{}:
	default:
		busy := rest.Unavailable(nil, "Too many previews in progress, try again in a second")
		busy.RetryAfter = time.Second
		return nil, busy
	}
	ctx, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	type outcome struct {
		preview *Preview
		err     error
	}
	done := make(chan outcome, 1)
	go func() {
		defer func() { <-p.turns }()
		var o outcome
		defer func() {
			if v := recover(); v != nil {
				o = outcome{err: fmt.Errorf("cannot create preview: %v", v)}
			}
			done <- o
		}()
		o.preview, o.err = work(ctx)
	}()
	select {
	case o := <-done:
		if !errors.Is(o.err, context.DeadlineExceeded) {
			return o.preview, o.err
		}
	case <-ctx.Done():
	}
	return nil, rest.Unavailable(ctx.Err(), "Preview timed out after %s; ingestor-cli has no such limit", p.limit)
}

// manner is the configuration of a preview.
type manner struct {
	extension engine.Extension
	profile   engine.Profile
	filter    xrd.Filter
	options   engine.Options
	// namespaces are those whose composites the service reads; empty means all.
	namespaces []string
	// flags are the equivalent flags of ingestor-cli.
	flags string
}

// how parses the parameters of a request.
func (p *Previewer) how(q url.Values) (*manner, error) {
	profile := engine.ComposerIngestor
	allowed := []engine.Profile{engine.ComposerIngestor, engine.ClusterIngestor, engine.CLI}
	if name := q.Get("profile"); name != "" {
		i := slices.IndexFunc(allowed, func(p engine.Profile) bool { return p.Name == name })
		if i < 0 {
			return nil, rest.Input("profile must be %s, %s or %s, and not %s", allowed[0].Name, allowed[1].Name, allowed[2].Name, rest.Short(name))
		}
		profile = allowed[i]
	}
	m := &manner{extension: p.extension, options: p.config.EngineOptions(profile), flags: " --config app-config.yaml --profile " + profile.Name}
	m.profile, m.filter = p.config.Selection(profile)
	if profile.Name == engine.ComposerIngestor.Name {
		m.namespaces = p.config.Composer.Namespaces
	}
	if name := q.Get("words"); name != "" {
		choice, err := words.ParseChoice(name)
		if err != nil {
			return nil, rest.Input("words must be auto, portal or upstream, and not %s", rest.Short(name))
		}
		m.options.Words = choice
		m.flags += " --words " + choice.String()
	}
	return m, nil
}

// made is the result of the engine for one definition.
type made struct {
	definition *xrd.Definition
	entities   []*entity.Entity
	sources    []engine.Source
}

// recorder records the results of the engine for each definition, in order.
type recorder struct {
	next engine.Transformer
	made []made
}

// Transform implements engine.Transformer.
func (r *recorder) Transform(in engine.Input) (engine.Result, error) {
	r.made = append(r.made, made{definition: in.Definition})
	res, err := r.next.Transform(in)
	// Clone: the pipeline removes the entities that the catalog would refuse from the
	// list.
	last := &r.made[len(r.made)-1]
	last.entities, last.sources = slices.Clone(res.Entities), res.Sources
	return res, err
}

// make builds the preview of a text.
func (m *manner) make(ctx context.Context, text []byte) (*Preview, error) {
	set := &xrd.Set{}
	err := set.ReadWithin(bytes.NewReader(text), xrd.Origin{Source: xrd.SourceFile, File: fileName}, parser.NewBudget(mostDocuments))
	if over, ok := errors.AsType[*parser.Error](err); ok {
		return nil, rest.TooLarge("cannot create preview: %s; ingestor-cli has no such limit", over.Msg)
	}
	if err != nil {
		return nil, err
	}
	set.Within(m.namespaces)
	if n := len(set.Definitions); n > mostDefinitions {
		return nil, rest.TooLarge("The text has %d definitions, and a preview at most %d", n, mostDefinitions)
	}
	eng, transformer := m.extension.Engine(m.profile, m.options)
	rec := &recorder{next: transformer}
	report, err := pipeline.Run(ctx, pipeline.Options{
		Source: source.Func(func(context.Context) (*xrd.Set, error) { return set, nil }),
		Engine: eng, Transformer: rec, Words: m.options.Words,
		// Show definitions that the service would not ingest too, with the reason.
		Fallback: func(*xrd.Definition) bool { return true },
		// One at a time, to keep the order.
		Parallelism: 1,
	})
	if err != nil {
		return nil, err
	}
	return m.answer(report, rec.made)
}

// answer assembles the response.
func (m *manner) answer(report *pipeline.Report, all []made) (*Preview, error) {
	kept := map[*entity.Entity]bool{}
	for _, e := range report.Entities {
		kept[e] = true
	}
	out := &Preview{Definitions: []Previewed{}, Findings: []Finding{}, Passed: []Passed{}}
	told := map[finding.Finding]int{}
	size := 0
	for i, one := range all {
		d := Previewed{
			Name: one.definition.Name, Refused: m.refusal(one.definition),
			Entities: []json.RawMessage{}, Values: []inspect.Value{}, Command: m.command(one.definition, len(all)),
			Findings: findings(report.Outcomes[i].Findings),
		}
		for _, f := range report.Outcomes[i].Findings {
			told[f]++
		}
		var written []*entity.Entity
		for _, e := range one.entities {
			if !kept[e] {
				d.Withheld = append(d.Withheld, e.Key())
				continue
			}
			written = append(written, e)
			d.Entities = append(d.Entities, entity.AppendNDJSON(nil, e))
			size += len(d.Entities[len(d.Entities)-1])
		}
		entity.Sort(written)
		var docs []byte
		for _, e := range written {
			docs = entity.AppendYAML(append(docs, "---\n"...), e)
		}
		d.YAML = string(docs)
		if size += len(docs); size > mostAnswer {
			return nil, rest.TooLarge("The entities exceed the preview limit of %d MiB; ingestor-cli has no such limit", mostAnswer>>20)
		}
		for _, v := range one.sources {
			d.Values = append(d.Values, inspect.Value{Field: v.Field, Value: v.Value, From: v.From, Key: v.Key})
		}
		out.Definitions = append(out.Definitions, d)
	}
	rest := slices.DeleteFunc(slices.Clone(report.Findings), func(f finding.Finding) bool {
		told[f]--
		return told[f] >= 0
	})
	out.Findings = findings(rest)
	for _, p := range report.Passed {
		out.Passed = append(out.Passed, Passed(p))
	}
	return out, nil
}

// refusal returns why the service would not ingest a definition; empty if it would.
func (m *manner) refusal(d *xrd.Definition) string {
	if ok, why := m.profile.Admit(d); !ok {
		return why
	}
	if ok, why := m.filter.Admit(d); !ok {
		return why
	}
	return ""
}

// plainName matches names that need no quoting in a shell.
var plainName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

// command returns a shell command. It includes only plain names from the text, because
// users copy it.
func (m *manner) command(d *xrd.Definition, definitions int) string {
	c := "ingestor-cli " + fileName + m.flags
	if definitions > 1 && plainName.MatchString(d.Name) {
		c += " --name-pattern '^" + strings.ReplaceAll(d.Name, ".", `\.`) + "$'"
	}
	return c + " --stdout"
}

func findings(fs []finding.Finding) []Finding {
	fs = slices.Clone(fs)
	finding.Sort(fs)
	out := make([]Finding, 0, len(fs))
	for _, f := range fs {
		out = append(out, Finding{
			Rule: f.Rule, Severity: f.Severity.String(), Message: f.Message, Hint: f.Hint,
			Line: int(f.Pos.Line), Column: int(f.Pos.Column), Path: f.Path,
		})
	}
	return out
}
