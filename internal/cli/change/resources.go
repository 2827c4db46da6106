package change

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/clusters"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/sink/portal"
	"example.dev/ingestor/xrd/diff"
	"example.dev/ingestor/xrd/impact"
)

// envToken is the environment variable that holds the token of the portal.
const envToken = "PORTAL_TOKEN"

// configure reads the configuration, which selects clusters.
func (s *session) configure() error {
	if !s.live() {
		return nil
	}
	s.choice = &clusters.Choice{Output: &s.Output, Flags: &s.Flags}
	return s.choice.Configure(true)
}

// concerned returns the pairs that resources can be affected by.
func (s *session) concerned() []diff.Pair {
	return slices.DeleteFunc(slices.Clone(s.pairs), func(p diff.Pair) bool {
		return p.Old == nil || !slices.ContainsFunc(p.Changes, func(c diff.Change) bool { return c.Severity > finding.Info })
	})
}

// resources validates live resources, if flags ask for it.
func (s *session) resources(ctx context.Context) error {
	switch {
	case s.portal != "":
		return s.askPortal(ctx)
	case s.live():
		return s.readClusters(ctx)
	}
	return nil
}

// readClusters validates the resources of clusters, all clusters at once. A cluster that
// cannot be read is reported; the others count.
func (s *session) readClusters(ctx context.Context) error {
	var err error
	if s.fleet, err = s.choice.Connect(); err != nil {
		return err
	}
	pairs := s.concerned()
	im := impact.New(pairs, impact.Options{})
	var namespaces []string
	if s.choice.Configured {
		namespaces = s.choice.Config.Composer.Namespaces
	}
	progress := s.Progress("validating", "resources")
	var checked atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, m := range s.fleet.Members {
		if m.Cluster == nil {
			continue
		}
		wg.Go(func() {
			var errs []error
			read := 0
			for i := range pairs {
				err := m.Cluster.Resources(ctx, pairs[i].Old, namespaces, func(n *tree.Node) error {
					counted, err := im.Add(ctx, m.Cluster.Name(), n)
					if counted {
						done := int(checked.Add(1))
						mu.Lock()
						progress.Update(done, 0)
						mu.Unlock()
					}
					return errors.Join(err, ctx.Err())
				})
				if err != nil {
					errs = append(errs, err)
					continue
				}
				read++
			}
			mu.Lock()
			defer mu.Unlock()
			m.Status.Err = errors.Join(errs...)
			m.Status.Lists = max(read, m.Status.Lists)
		})
	}
	wg.Wait()
	progress.Done()
	if err := ctx.Err(); err != nil {
		return err
	}
	s.fleet.Complain(&s.Output)
	for _, m := range s.fleet.Members {
		if m.Status.Err != nil {
			s.partial = append(s.partial, "cluster "+m.Status.Cluster+" could not be read completely")
		}
	}
	result := im.Result()
	s.impact = &result
	return nil
}

// mostAsked is how many definitions a portal compares at once.
const mostAsked = 20

// question is a definition whose resources a portal validates: a new one or, if text is
// empty, the name of one that is removed.
type question struct {
	removed string
	text    []byte
}

// askPortal asks a portal for the resources that the new definitions concern, some
// definitions at a time. A portal that fails is reported; what it answered counts.
func (s *session) askPortal(ctx context.Context) error {
	p, err := portal.New(s.portal, portal.Options{Token: s.token, Timeout: s.portalTimeout, Agent: s.Program + "/" + app.BuildVersion()})
	if err != nil {
		return flags.Usage(err, "see "+s.Program+" diff --help")
	}
	var all []question
	for _, pair := range s.concerned() {
		if pair.New == nil || pair.Renamed() {
			all = append(all, question{removed: pair.Old.Name})
			continue
		}
		all = append(all, question{text: tree.AppendJSON(nil, pair.New.Node, "")})
	}
	var got []impact.Result
	var failed error
	left := 0
	for some := range slices.Chunk(all, mostAsked) {
		if failed != nil {
			left += len(some)
			continue
		}
		results, unanswered, err := s.ask(ctx, p, some)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		got, left = append(got, results...), left+unanswered
		failed = err
	}
	if len(got) > 0 || left == 0 {
		s.impact = joined(got)
	}
	for _, why := range s.partial {
		s.Sayf("incomplete: %s", why)
	}
	if left > 0 {
		s.partial = append(s.partial, "the portal could not validate the resources of "+output.Count(left, "definition", "definitions"))
	}
	return nil
}

// ask asks a portal about some definitions: all at once or, if they exceed a limit of the
// portal, in halves. It returns how many got no answer. The error is why the portal is not to
// be asked again; it has been printed.
func (s *session) ask(ctx context.Context, p *portal.Portal, some []question) (got []impact.Result, unanswered int, err error) {
	var text bytes.Buffer
	query := url.Values{}
	for _, q := range some {
		if len(q.text) == 0 {
			query.Add("removed", q.removed)
			continue
		}
		text.WriteString("---\n")
		text.Write(q.text)
		text.WriteString("\n")
	}
	body, err := p.Post(ctx, "validate resources with", "/api/composer-ingestor/impact", query, "application/yaml", text.Bytes())
	refusal, refused := errors.AsType[*portal.Error](err)
	tooLarge := refused && refusal.Problem == portal.TooLarge
	if tooLarge && len(some) > 1 {
		half := len(some) / 2
		got, unanswered, err = s.ask(ctx, p, some[:half])
		if err != nil {
			return got, unanswered + len(some) - half, err
		}
		more, others, err := s.ask(ctx, p, some[half:])
		return append(got, more...), unanswered + others, err
	}
	var answer struct {
		Impact     *impact.Result `json:"impact"`
		Incomplete []string       `json:"incomplete"`
	}
	hint := ""
	switch {
	case err == nil:
		if err = json.Unmarshal(body, &answer); err != nil || answer.Impact == nil {
			err, hint = fmt.Errorf("cannot use the answer of %s: it has no impact", p.URL()), "check that the portal is of the same version"
		}
	case tooLarge:
		hint = "validate them with --cluster, which has no limits"
	case refused:
		hint = refusal.Hint()
	}
	if err != nil {
		s.unasked = &app.Exit{Code: app.ExitFailed}
		if ctx.Err() == nil {
			s.Complain(err, hint)
		}
		if tooLarge {
			// The portal may answer about other definitions.
			err = nil
		}
		return nil, len(some), err
	}
	for _, why := range answer.Incomplete {
		if !slices.Contains(s.partial, why) {
			s.partial = append(s.partial, why)
		}
	}
	return []impact.Result{*answer.Impact}, 0, nil
}

// joined joins results about different definitions.
func joined(all []impact.Result) *impact.Result {
	out := &impact.Result{Definitions: []impact.Definition{}}
	clusters := map[string]bool{}
	for _, r := range all {
		out.Checked += r.Checked
		out.Affected += r.Affected
		out.Definitions = append(out.Definitions, r.Definitions...)
		for _, d := range r.Definitions {
			for _, name := range d.Clusters {
				clusters[name] = true
			}
		}
	}
	out.Clusters = len(clusters)
	slices.SortStableFunc(out.Definitions, func(a, b impact.Definition) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// token returns the token of the portal.
func (s *session) token() (string, error) {
	if s.tokenFile == "" {
		return s.Env.Getenv(envToken), nil
	}
	text, err := os.ReadFile(s.tokenFile)
	if err != nil {
		return "", fmt.Errorf("cannot read token file: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir() || err != nil && strings.Contains(name, ":")
}
