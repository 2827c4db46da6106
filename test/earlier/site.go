package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"example.dev/ingestor/test/process"
)

type object = map[string]any

// token is the token of a service account with all permissions.
const token = "a-static-token-of-the-tests-4711"

// patience is how long to wait for a condition.
const patience = time.Minute

// templates have the steps of the recorded tasks. The task of the last one is
// killed while it waits.
const templates = `
apiVersion: scaffolder.portal.io/v1beta3
kind: Template
metadata: { name: greeting }
spec: { type: service, owner: shop-team, steps: [{ id: greet, action: debug:log, input: { message: good morning } }] }
---
apiVersion: scaffolder.portal.io/v1beta3
kind: Template
metadata: { name: failing }
spec: { type: service, owner: shop-team, steps: [{ id: fetch, action: catalog:fetch, input: { entityRef: component:default/none } }] }
---
apiVersion: scaffolder.portal.io/v1beta3
kind: Template
metadata: { name: waiting }
spec:
  type: service
  owner: shop-team
  steps:
    - { id: before, action: debug:log, input: { message: before the kill } }
    - { id: wait, action: debug:wait, input: { seconds: 5 } }
    - { id: after, action: debug:log, input: { message: after the kill } }
`

// site is an installation of one version.
type site struct {
	version
	program, root string
	address       string
	log           process.Log
}

// state is what a recorded database contains.
type state struct {
	Revision string `json:"revision"`
	// Entities are the uids of the entities by reference.
	Entities map[string]string `json:"entities"`
	// Tasks are the statuses of the tasks by id.
	Tasks map[string]string `json:"tasks"`
}

func (s *state) write(to string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(to, append(data, '\n'), 0o600)
}

// folder is the folder that the program sees as /srv/portal.
func (s *site) folder() string { return filepath.Join(s.root, "portal") }

// prepare writes the files of the installation.
func (s *site) prepare(ctx context.Context, examples string, d database) error {
	if err := os.CopyFS(filepath.Join(s.folder(), "examples"), os.DirFS(examples)); err != nil {
		return err
	}
	port, err := process.FreePort()
	if err != nil {
		return err
	}
	s.address = fmt.Sprintf("127.0.0.1:%d", port)
	connection, err := d.connection(ctx)
	if err != nil {
		return err
	}
	config := object{
		"backend": object{"baseUrl": "http://" + s.address, "listen": s.address, "database": object{"client": d.client(), "connection": connection},
			"auth": object{"externalAccess": []object{{"type": "static", "options": object{"token": token, "subject": "tests"}}}}},
		"auth":    object{"providers": object{"guest": object{}}},
		"catalog": object{"locations": []object{{"type": "file", "target": "./examples/catalog/*.yaml"}}},
	}
	if s.ingests {
		config["composerIngestor"] = object{"sources": []object{{"name": "examples", "type": "file", "path": "./examples", "recursive": false}}}
	}
	data, err := json.Marshal(config)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.folder(), "app-config.yaml"), data, 0o600)
}

// live runs the program, fills its database, and kills it.
func (s *site) live(ctx context.Context) (*state, error) {
	cmd := exec.CommandContext(ctx, "unshare", "--user", "--map-root-user", "--mount", "--uts", "sh", "-ec",
		`hostname portal; mount --bind "$0" /srv; cd /srv/portal; mkdir -p tmp; export TMPDIR=/srv/portal/tmp; exec "$@"`, s.root, s.program, "--config", "app-config.yaml", "--log-level", "warn")
	cmd.Stdout, cmd.Stderr = &s.log, &s.log
	p, err := process.Start(cmd)
	if err != nil {
		return nil, err
	}
	defer p.Kill()
	if err := until("ready", func() error { return s.ask(ctx, http.MethodGet, "/health/ready", nil, nil) }); err != nil {
		return nil, err
	}
	if err := s.ask(ctx, http.MethodPut, "/api/catalog/providers/ci/entities", []byte(templates), nil); err != nil {
		return nil, err
	}
	location := []byte(`{"type":"url","target":"https://git.example.org/shop/catalog-info.yaml"}`)
	if err := s.ask(ctx, http.MethodPost, "/api/catalog/locations", location, nil); err != nil {
		return nil, err
	}
	out := &state{Revision: s.revision}
	if err := s.settle(ctx, out); err != nil {
		return nil, err
	}
	if s.runs {
		err = s.tasks(ctx)
	}
	if err != nil {
		return nil, err
	}
	out.Tasks, err = s.statuses(ctx)
	return out, err
}

// settle waits until the catalog has not changed for some seconds, and reads
// it.
func (s *site) settle(ctx context.Context, out *state) error {
	const rest = 5 * time.Second
	var last string
	since := time.Now()
	return until("catalog at rest", func() error {
		var all []struct {
			Kind     string
			Metadata struct{ Namespace, Name, UID, ETag string }
		}
		if err := s.ask(ctx, http.MethodGet, "/api/catalog/entities", nil, &all); err != nil {
			return err
		}
		if now := fmt.Sprint(all); now != last {
			last, since = now, time.Now()
		}
		out.Entities = map[string]string{}
		for _, e := range all {
			out.Entities[strings.ToLower(e.Kind+":"+e.Metadata.Namespace+"/"+e.Metadata.Name)] = e.Metadata.UID
		}
		if time.Since(since) < rest {
			return errors.New("catalog changed recently")
		}
		return nil
	})
}

// tasks creates the tasks, and waits until they are over or, the last one,
// waits.
func (s *site) tasks(ctx context.Context) error {
	want := map[string]string{"greeting": "completed", "failing": "failed", "waiting": "processing"}
	for _, name := range []string{"greeting", "failing", "waiting"} {
		var made struct{ ID string }
		body := fmt.Appendf(nil, `{"templateRef":"template:default/%s","values":{}}`, name)
		if err := s.ask(ctx, http.MethodPost, "/api/scaffolder/v2/tasks", body, &made); err != nil {
			return err
		}
		err := until("task "+name, func() error {
			all, err := s.statuses(ctx)
			if err == nil && all[made.ID] != want[name] {
				err = fmt.Errorf("status is %q", all[made.ID])
			}
			if err != nil || name != "waiting" {
				return err
			}
			var events json.RawMessage
			if err := s.ask(ctx, http.MethodGet, "/api/scaffolder/v2/tasks/"+made.ID+"/events", nil, &events); err != nil {
				return err
			}
			if !bytes.Contains(events, []byte(`"stepId":"wait"`)) {
				return errors.New("step has not begun")
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// statuses returns the statuses of the tasks by id.
func (s *site) statuses(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	if !s.runs {
		return out, nil
	}
	var all struct{ Tasks []struct{ ID, Status string } }
	err := s.ask(ctx, http.MethodGet, "/api/scaffolder/v2/tasks", nil, &all)
	for _, task := range all.Tasks {
		out[task.ID] = task.Status
	}
	return out, err
}

// ask sends a request, and decodes the response into v unless v is nil.
func (s *site) ask(ctx context.Context, method, path string, body []byte, v any) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+s.address+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPut {
		req.Header.Set("Content-Type", "application/yaml")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, data)
	}
	if v == nil {
		return nil
	}
	return json.Unmarshal(data, v)
}

// until waits until check returns nil.
func until(what string, check func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := check()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: not reached within %v: %w", what, patience, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
