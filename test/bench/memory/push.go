package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"example.dev/ingestor/test/bench/backend"
)

const (
	// pushed is the number of entities in one push.
	pushed     = 200_000
	wantedPush = 400
)

// push measures one push of many entities to an empty catalog, the same push
// again, and one that changes every entity.
func push(w io.Writer, tmp string) error {
	p, err := prepare(tmp, "")
	if err != nil {
		return err
	}
	file := filepath.Join(tmp, "entities.ndjson")
	for _, step := range []struct{ what, text string }{{"new", "one"}, {"unchanged", "one"}, {"changed", "another"}} {
		if err := components(file, step.text); err != nil {
			return err
		}
		mb, err := p.run(func() (bool, error) { return p.push(file) })
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "portal-backend: %d MB at most with one push of %d entities, all of them %s (wanted: at most %d MB)\n", mb, pushed, step.what, wantedPush)
	}
	return nil
}

// components writes entities with a text to a file.
func components(file, text string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	for i := range pushed {
		_, _ = fmt.Fprintf(out, `{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"component-%06[1]d","title":"Component %06[1]d","description":"Answers what the other parts of system %[2]d ask of it, in %[3]s way","labels":{"example.org/cost-center":"c%[4]d"},"annotations":{"backstage.io/kubernetes-id":"component-%06[1]d","example.org/dashboard":"https://dashboards.example.org/d/%06[1]d"},"tags":["go","team-%[5]d"],"links":[{"url":"https://docs.example.org/%06[1]d","title":"Handbook"}]},"spec":{"type":"service","lifecycle":"production","owner":"team-%[5]d","system":"system-%[2]d","dependsOn":["component:component-%06[6]d"]}}`+"\n",
			i, i/10, text, i%97, i%50, i/10*10)
	}
	return errors.Join(out.Flush(), f.Close())
}

// push pushes a file as soon as the portal is ready, and reports whether it
// was.
func (p *portal) push(file string) (bool, error) {
	resp, err := http.Get("http://" + p.address + "/.backstage/health/v1/readiness")
	if err != nil || resp.StatusCode != http.StatusOK {
		// The portal is starting.
		return false, nil
	}
	_ = resp.Body.Close()
	body, err := os.Open(file)
	if err != nil {
		return false, err
	}
	req, err := http.NewRequest(http.MethodPut, "http://"+p.address+"/api/catalog/providers/bench/entities", body)
	if err != nil {
		return false, err
	}
	req.Header.Set("Authorization", "Bearer "+backend.Token)
	req.Header.Set("Content-Type", "application/x-ndjson")
	resp, err = http.DefaultClient.Do(req)
	if err != nil {
		return false, err
	}
	defer func() { _ = resp.Body.Close() }()
	said, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("push returned %s: %s", resp.Status, said)
	}
	return err == nil, err
}
