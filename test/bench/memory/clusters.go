package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/sample"
)

const (
	// fleet is the number of clusters, each the number of definitions in one.
	fleet, each = 20, 500
	wantedFleet = 400

	definitionsPath = "/apis/apiextensions.crossplane.io/v1/compositeresourcedefinitions"
)

// clusters measures reading many clusters at once, and a restart without
// changes. They are one real API server under many names, as twenty do not fit
// on a machine.
func clusters(w io.Writer, tmp string) error {
	s, err := apiserver.Run(apiserver.Options{})
	if errors.Is(err, apiserver.ErrOff) {
		fmt.Fprintln(w, "clusters: not measured,", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = s.Stop() }()
	if err := fill(s, each); err != nil {
		return err
	}
	var names strings.Builder
	names.WriteString("  clusters:\n")
	for i := range fleet {
		fmt.Fprintf(&names, "  - { name: c%d, kubeconfig: %q }\n", i, s.Kubeconfig)
	}
	p, err := prepare(tmp, names.String())
	if err != nil {
		return err
	}
	var peaks []int
	for range 2 {
		mb, err := p.run(func() (bool, error) { return p.settled(fleet) })
		if err != nil {
			return err
		}
		peaks = append(peaks, mb)
	}
	fmt.Fprintf(w, "portal-backend: %d MB at most for %d clusters of %d definitions, %d MB when it is started again (wanted: at most %d MB)\n",
		peaks[0], fleet, each, peaks[1], wantedFleet)
	return nil
}

// fill creates definitions.
func fill(s *apiserver.Server, n int) error {
	var group errgroup.Group
	var next atomic.Int64
	for range 8 {
		group.Go(func() error {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				resp, err := s.Client().Post(s.URL+definitionsPath, "application/yaml", bytes.NewReader(sample.Definition(i)))
				if err != nil {
					return err
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusCreated {
					return fmt.Errorf("cannot create definition %d: %s", i, resp.Status)
				}
			}
			return nil
		})
	}
	return group.Wait()
}
