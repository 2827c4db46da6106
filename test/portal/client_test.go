package portal_test

import (
	"bytes"
	"context"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestOfficialClient drives the portal with the official Backstage client. A
// proxy checks its requests and the responses against the contract.
func TestOfficialClient(t *testing.T) {
	dir := os.Getenv("INGESTOR_ORACLE_DIR")
	if dir == "" {
		t.Skip("INGESTOR_ORACLE_DIR is not set: run make oracle and set it")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed, which runs the official client")
	}
	served := serveFiles(t, oracleFiles(t))
	w := start(t, setup{allow: []string{served.host}})
	to, err := url.Parse(w.base)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport: w.client.Transport,
	})
	defer proxy.Close()

	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, filepath.Join(dir, "client.js"))
	cmd.Env = append(os.Environ(), "BASE="+proxy.URL, "FILES="+served.base, "TOKEN="+theToken)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		t.Errorf("client failed: %v", err)
	}

	line := regexp.MustCompile(`(?m)^(ok|FAIL) +([\w.]+(?: [a-zA-Z/]+)?)(?: |$)`)
	got := map[string][]string{}
	for _, m := range line.FindAllStringSubmatch(out.String(), -1) {
		got[m[1]] = append(got[m[1]], m[2])
	}
	want := map[string][]string{
		"ok": {
			"addLocation dryRun", "addLocation", "addLocation template", "getEntities", "getEntities order/offset",
			"getEntityByRef", "getEntityByRef missing", "getEntityByName", "getEntitiesByRefs", "queryEntities",
			"queryEntities cursor", "queryEntities fulltext", "queryEntitiesByPredicate", "getEntityFacets", "streamEntities",
			"getEntityAncestors", "getLocations", "queryLocations", "getLocationById", "getLocationByRef",
			"getLocationByEntity", "refreshEntity", "validateEntity ok", "validateEntity bad", "analyzeLocation",
			"scaffolder.getTemplateParameterSchema", "scaffolder.listActions", "scaffolder.scaffold", "scaffolder.getTask",
			"scaffolder.streamLogs", "scaffolder.listTasks", "removeEntityByUid", "removeLocationById",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s%s", diff, out.Bytes(), stderr.Bytes())
	}
	t.Logf("client made %d requests", w.passed())
}
