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

// answer is the part of the portal's answer that is used.
type answer struct {
	Impact     *impact.Result `json:"impact"`
	Incomplete []string       `json:"incomplete"`
}

// askPortal asks a portal for the resources that the new definitions concern.
func (s *session) askPortal(ctx context.Context) error {
	p, err := portal.New(s.portal, portal.Options{Token: s.token, Timeout: s.portalTimeout, Agent: s.Program + "/" + app.BuildVersion()})
	if err != nil {
		return flags.Usage(err, "see "+s.Program+" diff --help")
	}
	var text bytes.Buffer
	query := url.Values{}
	for _, pair := range s.concerned() {
		if pair.New == nil || pair.Renamed() {
			query.Add("removed", pair.Old.Name)
			continue
		}
		text.WriteString("---\n")
		text.Write(tree.AppendJSON(nil, pair.New.Node, ""))
		text.WriteString("\n")
	}
	if text.Len() == 0 && len(query) == 0 {
		s.impact = &impact.Result{Definitions: []impact.Definition{}}
		return nil
	}
	body, err := p.Post(ctx, "validate resources with", "/api/composer-ingestor/impact", query, "application/yaml", text.Bytes())
	if e, ok := errors.AsType[*portal.Error](err); ok {
		return &app.Exit{Code: app.ExitFailed, Err: err, Hint: e.Hint()}
	}
	if err != nil {
		return err
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil || a.Impact == nil {
		return &app.Exit{Code: app.ExitFailed, Err: fmt.Errorf("cannot use the answer of %s: it has no impact", p.URL()), Hint: "check that the portal is of the same version"}
	}
	s.impact, s.partial = a.Impact, a.Incomplete
	for _, why := range s.partial {
		s.Sayf("incomplete: %s", why)
	}
	return nil
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
