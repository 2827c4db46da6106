package service_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/test/collector"
)

// Secrets that no export may contain. theToken is one too.
const (
	querySecret   = "a-secret-in-a-query"
	headerSecret  = "a-secret-of-the-collector"
	clusterSecret = "a-secret-of-a-cluster"
	taskSecret    = "a-secret-of-a-task"
)

// parent is the trace of a client.
const parent = "0af7651916cd43dd8448eb211c80319c"

// observed starts a service with a folder, a cluster that serves nothing, and telemetry.
func observed(t *testing.T, telemetry sections) *service {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "alphas.yaml"), alone["alphas.yaml"])
	cluster := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(cluster.Close)
	return start(t, setup{build: "v9.9.9", telemetry: telemetry, sections: sections{
		"composerIngestor": sections{
			"watch": false, "schedule": sections{"frequency": "1h", "timeout": "30s"},
			"sources":  []any{sections{"name": "files", "type": "file", "path": dir}},
			"clusters": []any{sections{"name": "prod", "url": cluster.URL, "serviceAccountToken": clusterSecret}},
		},
		"permission": sections{"rules": []any{sections{
			"who": []any{"tests"}, "permissions": []any{"scaffolder.action.execute"}, "providers": []any{"*"}, "result": "allow",
		}}},
	}})
}

// exercise makes a request that belongs to the trace of a client, and runs a task.
func exercise(t *testing.T, s *service) {
	t.Helper()
	s.waitForRefs("", entities("alphas")...)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+"/api/catalog/entities?filter=kind=api&x="+querySecret, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+theToken)
	req.Header.Set("Traceparent", "00-"+parent+"-b7ad6b7169203331-01")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("status is %s", resp.Status)
	}
	template := `{"apiVersion":"scaffolder.backstage.io/v1beta3","kind":"Template","metadata":{"name":"t"},"spec":{"owner":"o","type":"t","steps":[` +
		`{"id":"say","name":"Say","action":"debug:log","input":{"message":"${{ secrets.TOKEN }}"}}]}}` + "\n"
	push, err := http.NewRequestWithContext(t.Context(), http.MethodPut, s.base+"/api/catalog/providers/mine/entities", strings.NewReader(template))
	if err != nil {
		t.Fatal(err)
	}
	push.Header.Set("Authorization", "Bearer "+theToken)
	push.Header.Set("Content-Type", "application/x-ndjson")
	if resp, err = http.DefaultClient.Do(push); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("cannot push a Template: %v, %v", err, resp)
	}
	resp.Body.Close()
	var task struct{ ID, Status string }
	order := `{"templateRef":"template:default/t","values":{},"secrets":{"TOKEN":"` + taskSecret + `"}}`
	if _, err := s.ask(http.MethodPost, "/api/scaffolder/v2/tasks", strings.NewReader(order), &task); err != nil {
		t.Fatal(err)
	}
	id := task.ID
	s.until("the task ends", func() error {
		if _, err := s.get("/api/scaffolder/v2/tasks/"+id, &task); err != nil || task.Status != "completed" {
			return errors.Join(err, errors.New("status is "+task.Status))
		}
		return nil
	})
}

// families returns the names of the metrics at /metrics.
func families(t *testing.T, s *service) map[string]bool {
	t.Helper()
	resp, err := http.Get(s.base + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(resp.Body); err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\S+) `).FindAllStringSubmatch(text.String(), -1) {
		all[m[1]] = true
	}
	return all
}

// TestTelemetry checks the traces and metrics of a service, from requests to clusters.
func TestTelemetry(t *testing.T) {
	t.Parallel()
	c := collector.Start(t)
	s := observed(t, sections{
		"endpoint": c.URL, "serviceName": "portal-of-tests", "interval": "1s",
		"headers": sections{"Authorization": "Bearer " + headerSecret},
	})
	exercise(t, s)
	s.until("metrics are sent before the service stops", func() error {
		if len(c.Metrics()) == 0 {
			return errors.New("none")
		}
		return nil
	})
	there := families(t, s)
	s.stop()

	server := c.Wait("the request of a client", func(s collector.Span) bool { return s.TraceID == parent })
	want := map[string]string{
		"http.request.method": "GET", "http.route": "/api/catalog/entities", "http.response.status_code": "200", "url.path": "/api/catalog/entities",
	}
	if diff := cmp.Diff(want, server.Attributes); diff != "" || server.Name != "GET /api/catalog/entities" || server.Kind != "server" || server.Parent != "b7ad6b7169203331" {
		t.Errorf("span is %+v, attributes differ (-want +got):\n%s", server, diff)
	}
	instance := server.Resource["service.instance.id"]
	resource := map[string]string{"service.name": "portal-of-tests", "service.version": "v9.9.9", "service.instance.id": instance}
	if diff := cmp.Diff(resource, server.Resource); diff != "" || instance == "" {
		t.Errorf("resource (-want +got):\n%s", diff)
	}
	if !strings.Contains(s.log.String(), `"traceId":"`+parent+`"`) {
		t.Error("log line of the request does not name its trace")
	}
	folder := c.Wait("the scan of a folder", func(s collector.Span) bool {
		return s.Name == "job scan" && s.Attributes["job.key"] == "composerIngestor/sources/files"
	})
	if folder.Failed || folder.Attributes["job.result"] != "done" {
		t.Errorf("span of the scan is %+v", folder)
	}
	scan := c.Wait("the scan of a cluster", func(s collector.Span) bool {
		return s.Name == "job scan" && s.Attributes["job.key"] == "composerIngestor/prod"
	})
	call := c.Wait("a call to a cluster", func(s collector.Span) bool { return s.Kind == "client" && s.TraceID == scan.TraceID })
	if call.Attributes["k8s.cluster.name"] != "prod" || call.Attributes["http.response.status_code"] != "404" || !call.Failed {
		t.Errorf("span of a call is %+v", call)
	}
	step := c.Wait("a step", func(s collector.Span) bool { return s.Name == "step debug:log" })
	task := c.Wait("a task", func(s collector.Span) bool { return s.Name == "job task" && s.ID == step.Parent })
	if step.Attributes["scaffolder.task"] != task.Attributes["job.key"] || step.Attributes["scaffolder.outcome"] != "completed" {
		t.Errorf("span of a step is %+v, that of its job %+v", step, task)
	}
	if i := slices.IndexFunc(c.Spans(), func(s collector.Span) bool { return strings.HasPrefix(s.Attributes["url.path"], "/health") }); i >= 0 {
		t.Errorf("a probe is traced: %+v", c.Spans()[i])
	}
	checkMetrics(t, c, there, resource)
	checkExports(t, c)
}

// checkMetrics checks that metrics have the names of /metrics.
func checkMetrics(t *testing.T, c *collector.Collector, there map[string]bool, resource map[string]string) {
	t.Helper()
	sent := map[string]bool{}
	for _, m := range c.Metrics() {
		sent[m.Name] = true
		if diff := cmp.Diff(resource, m.Resource); diff != "" {
			t.Fatalf("resource of metrics (-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff(there, sent); diff != "" || !sent["http_requests_total"] || !sent["jobs_run_duration_seconds"] || !sent["composer_ingestor_xrds"] {
		t.Errorf("names of metrics differ (-/metrics +sent):\n%s", diff)
	}
}

// checkExports checks that exports have the configured headers, and no secret.
func checkExports(t *testing.T, c *collector.Collector) {
	t.Helper()
	for _, r := range c.Requests() {
		if r.Header.Get("Authorization") != "Bearer "+headerSecret {
			t.Errorf("export to %s has no header of the configuration", r.Path)
		}
		for _, secret := range []string{theToken, querySecret, headerSecret, clusterSecret, taskSecret} {
			if bytes.Contains(r.Body, []byte(secret)) {
				t.Errorf("export to %s contains %s", r.Path, secret)
			}
		}
	}
}

// TestTelemetryParts checks what is sent if parts of it are switched off.
func TestTelemetryParts(t *testing.T) {
	cases := map[string]struct {
		reason    string
		telemetry func(url string) sections
		want      []string
	}{
		"Absent":    {"Without the section nothing is sent, even if the environment names a collector.", func(string) sections { return nil }, nil},
		"NoTraces":  {"Without traces only metrics are sent.", func(url string) sections { return sections{"endpoint": url, "traces": false} }, []string{"/v1/metrics"}},
		"NoMetrics": {"Without metrics only traces are sent.", func(url string) sections { return sections{"endpoint": url, "metrics": false} }, []string{"/v1/traces"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := collector.Start(t)
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
			s := observed(t, tc.telemetry(c.URL))
			s.waitForRefs("", entities("alphas")...)
			s.stop()
			var got []string
			for _, r := range c.Requests() {
				got = append(got, r.Path)
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, slices.Compact(got)); diff != "" {
				t.Errorf("%s\nexports (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	t.Run("Sampled", func(t *testing.T) {
		c := collector.Start(t)
		s := observed(t, sections{"endpoint": c.URL, "metrics": false, "sampleRatio": 0})
		exercise(t, s)
		s.stop()
		if all := c.Spans(); len(all) != 1 || all[0].TraceID != parent {
			t.Errorf("with a ratio of 0 only the trace of a client is recorded, got %+v", all)
		}
	})
}

// TestTelemetryOutage checks that a collector that fails disturbs neither requests nor
// shutdown.
func TestTelemetryOutage(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		set    func(*collector.Collector)
	}{
		"Unavailable": {"The collector answers with 503.", func(c *collector.Collector) { c.Refuse(http.StatusServiceUnavailable) }},
		"Hangs":       {"The collector accepts connections and never answers.", (*collector.Collector).Hang},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := collector.Start(t)
			tc.set(c)
			s := observed(t, sections{"endpoint": c.URL, "interval": "1s"})
			s.until("the service tries to export", func() error {
				if len(c.Requests()) == 0 {
					return errors.New("no export")
				}
				return nil
			})
			began := time.Now()
			for i := range 500 {
				if _, err := s.get(fmt.Sprintf("/api/catalog/entities?limit=1&offset=%d", i%2), nil); err != nil {
					t.Fatal(err)
				}
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("%s\n500 requests took %v", tc.reason, took)
			}
			began = time.Now()
			s.stop()
			if took := time.Since(began); took > 15*time.Second {
				t.Errorf("%s\nshutdown took %v", tc.reason, took)
			}
			if n := strings.Count(s.log.String(), "telemetry export failed"); n > 2 {
				t.Errorf("%s\n%d failures were logged, want one for traces and one for metrics", tc.reason, n)
			}
		})
	}
}
