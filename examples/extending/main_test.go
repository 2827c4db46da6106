package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestRun holds the example to what its comments promise.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run("../bucket.yaml", &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"owner: team-storage.example.org",               // PreProcess
		"url: https://runbooks.example.org/buckets-api", // PostProcess
		"costCentre:\n          title: Cost centre",     // the wrapper
		"apiVersion: scaffolder.backstage.io/v1beta3",   // translation still comes last
		"kind: Resource\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, out.String())
		}
	}
	if err := run("no-such-file.yaml", &out); err == nil {
		t.Error("a missing file gave no error")
	}
}
