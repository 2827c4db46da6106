package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"example.dev/ingestor/test/bench/backend"
)

// service is a running portal.
type service struct{ *backend.Backend }

// begin starts a program with a database and a number of workers.
func (b *bench) begin(program, database string, workers int) (*service, error) {
	opts := backend.Options{Dir: b.tmp, Program: program, Database: database, Config: fmt.Sprintf(`scaffolder: { concurrentTasksLimit: %d, secretKey: a-key-of-the-benchmark-7c1e, limits: { openTasks: 1000000, runningTasks: 1000, eventStreams: 1000000 }, workingDirectory: %q }
permission: { rules: [{ permissions: [scaffolder.action.execute], actions: ["bench:talk"], providers: ["push:bench"], result: allow }] }
composerIngestor: { sources: [{ name: definitions, type: file, path: %q }] }
orchestrator:
  serviceLocatorMethod: { type: multiTenant }
  clusterLocatorMethods: [{ type: config, clusters: [{ name: bench, kubeconfig: %q }] }]
`, workers, filepath.Join(b.tmp, "work"), filepath.Join(b.tmp, "definitions"), b.cluster.Kubeconfig)}
	if program == b.talking {
		opts.Env = serveConfig
	}
	s, err := backend.Start(opts)
	return &service{s}, err
}

// end stops a portal, and prints its log if that is enabled.
func (b *bench) end(s *service) {
	s.Stop()
	if *logged {
		fmt.Fprint(b.w, s.Log.String())
	}
}

// ask sends a request, and decodes the response into v unless v is nil.
func (s *service) ask(method, path, body string, v any) error {
	_, err := s.Ask(method, path, body, v)
	return err
}

// make creates a task, and returns its id.
func (s *service) make(template, values string) (string, error) {
	var made struct{ ID string }
	err := s.ask(http.MethodPost, "/api/scaffolder/v2/tasks", fmt.Sprintf(`{"templateRef":"template:default/%s","values":%s}`, template, values), &made)
	return made.ID, err
}

// total returns the number of tasks with a status.
func (s *service) total(status ...string) (int, error) {
	var page struct{ TotalTasks int }
	err := s.ask(http.MethodGet, "/api/scaffolder/v2/tasks?limit=0&status="+strings.Join(status, "&status="), "", &page)
	return page.TotalTasks, err
}

// until calls check until it returns no error.
func until(what string, check func() error) error {
	return backend.Until(what, func() (bool, error) {
		err := check()
		return err == nil, err
	})
}
