package service_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/ingestor"
	"example.dev/ingestor/internal/ingestion/change"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/proxy"
	"example.dev/ingestor/xrd/impact"
)

// sized returns a definition whose field takes some values.
func sized(values string) string {
	return strings.Replace(definition("alphas", "size"), "{type: string, description: A field.}", "{type: string, description: A field., enum: ["+values+"]}", 1)
}

// diffed runs ingestor-cli diff.
func diffed(t *testing.T, token string, args ...string) (code int, out, notes string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = app.Run(t.Context(), ingestor.Name, &app.Env{
		Args: append([]string{"diff"}, args...), Stdout: &stdout, Stderr: &stderr, Now: time.Now,
		Getenv: func(name string) string {
			if name == "PORTAL_TOKEN" {
				return token
			}
			return ""
		},
	}, ingestor.Run)
	return code, stdout.String(), stderr.String()
}

// streamed requests the impact of a narrowed enum with progress, and returns the lines.
func streamed(t *testing.T, s *service) *json.Decoder {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/api/crossplane-ingestor/impact", strings.NewReader(sized("large")))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/x-ndjson")
	req.Header.Set("Authorization", "Bearer "+theToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	if got := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || got != "application/x-ndjson" {
		t.Fatalf("got %s, %s", res.Status, got)
	}
	return json.NewDecoder(res.Body)
}

// TestBreakingChange narrows an enum under the resources of two clusters. The command and
// the portal name those that would be refused, with their owners, and the API server refuses them; with the
// fix, none is affected. A cluster that is down is reported, and the other one counts.
func TestBreakingChange(t *testing.T) {
	t.Parallel()
	old := sized("small, large")
	var resources []string
	for i := range 7 {
		size := "large"
		if i < 3 {
			size = "small"
		}
		r := strings.Replace(composite(fmt.Sprintf("r%d", i), "alphas"), "spec: {}", "spec: {size: "+size+"}", 1)
		if i == 2 {
			r = strings.Replace(r, "namespace: default", "namespace: default, annotations: {terasky.backstage.io/owner: team-blue}", 1)
		}
		resources = append(resources, r)
	}
	east := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: []string{old}})
	west := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: []string{old}})
	east.Apply(t, strings.Join(resources, "---\n"))
	west.Apply(t, strings.Join(resources[2:4], "---\n"))
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// The portal and the command reach west through a proxy.
	address := strings.TrimPrefix(west.URL, "https://")
	slow := proxy.Start(t, address)
	through, err := os.ReadFile(west.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	clusters := composer(nil, cluster("east", east), sections{
		"name": "west", "kubeconfig": write("west.kubeconfig", strings.ReplaceAll(string(through), address, slow.Address())),
	})
	s := start(t, setup{sections: clusters})
	s.composites(9)

	before, after, fixed := write("old.yaml", old), write("new.yaml", sized("large")), write("fixed.yaml", sized("small, large, huge"))
	text, err := json.Marshal(clusters)
	if err != nil {
		t.Fatal(err)
	}
	settings := write("app-config.yaml", string(text))
	const sentence = `v1: spec.size: enum value "small" removed: 4 of 9 resources in 2 clusters would be refused`
	for name, flags := range map[string][]string{
		"Clusters": {"--config", settings, "--cluster", "all"}, "Portal": {"--portal", s.base},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, notes := diffed(t, theToken, append([]string{before, after}, flags...)...)
			if code != app.ExitInvalid || !strings.Contains(out, sentence) || strings.Count(out, "  east  ")+strings.Count(out, "  west  ") != 4 ||
				!strings.Contains(out, "  west  Xalpha  default  r2  team-blue\n") || strings.Count(out, "team-blue") != 2 {
				t.Errorf("exit code %d\n%s%s", code, out, notes)
			}
			code, out, notes = diffed(t, theToken, append([]string{before, after, "--output-format", "markdown"}, flags...)...)
			if code != app.ExitInvalid || !strings.Contains(out, "**4 of 9 live resources in 2 clusters would be affected.**") || !strings.Contains(out, "| west | team-blue | Xalpha | default/r2 |") || !strings.Contains(out, "| east |  | Xalpha | default/r0 |") {
				t.Errorf("exit code %d\n%s%s", code, out, notes)
			}
			code, out, notes = diffed(t, theToken, append([]string{before, fixed}, flags...)...)
			if code != app.ExitOK || strings.Contains(out, "refused") {
				t.Errorf("exit code %d with the fix\n%s%s", code, out, notes)
			}
		})
	}

	t.Run("Endpoint", func(t *testing.T) {
		var got change.Answer
		if status, err := s.ask(http.MethodPost, "/api/composer-ingestor/impact?impact=false", strings.NewReader(sized("large")), &got); status != 200 || err != nil || got.Impact != nil || got.Definitions[0].Changes[0].Rule != "DIF024" {
			t.Errorf("got %d, %v: %+v", status, err, got)
		}
		for failOn, want := range map[string]int{"breaking": app.ExitInvalid, "never": app.ExitFailed} {
			code, out, notes := diffed(t, "", before, after, "--portal", s.base, "--fail-on", failOn)
			if code != want || !strings.Contains(out, "DIF024") || !strings.Contains(notes, "401") && !strings.Contains(notes, "token") {
				t.Errorf("without a token, --fail-on %s: exit code %d, want %d\n%s%s", failOn, code, want, out, notes)
			}
		}
	})

	t.Run("Stream", func(t *testing.T) {
		// While one cluster does not answer, the stream says how many resources of the other
		// one were validated.
		slow.Hang()
		defer slow.Pass()
		lines := streamed(t, s)
		var last struct {
			Checked *int
			Result  *change.Answer
		}
		for last.Checked == nil || *last.Checked < len(resources) {
			if err := lines.Decode(&last); err != nil || last.Result != nil {
				t.Fatalf("stream ended before it said that %d resources were validated: %v, %+v", len(resources), err, last)
			}
		}
		if *last.Checked != len(resources) {
			t.Errorf("stream says that %d resources were validated, want %d", *last.Checked, len(resources))
		}
		slow.Pass()
		for last.Result == nil {
			last.Checked = nil
			if err := lines.Decode(&last); err != nil || (last.Checked == nil) == (last.Result == nil) {
				t.Fatalf("line has neither a number nor a result: %v, %+v", err, last)
			}
		}
		if lines.More() {
			t.Error("stream goes on after the result")
		}
		im := last.Result.Impact
		if im == nil || im.Checked != 9 || im.Affected != 4 {
			t.Fatalf("stream ended with %+v", im)
		}
		want := []impact.Resource{
			{Cluster: "east", Kind: "Xalpha", Namespace: "default", Name: "r0"},
			{Cluster: "east", Kind: "Xalpha", Namespace: "default", Name: "r1"},
			{Cluster: "east", Kind: "Xalpha", Namespace: "default", Name: "r2", Owner: "team-blue"},
			{Cluster: "west", Kind: "Xalpha", Namespace: "default", Name: "r2", Owner: "team-blue"},
		}
		got := im.Definitions[0].Effects[0].Resources
		for i := range got {
			// The reference is that of an entity in the catalog.
			if status, err := s.ask(http.MethodGet, "/api/catalog/entities/by-name/"+strings.Replace(got[i].Entity, ":", "/", 1), nil, nil); status != 200 || err != nil {
				t.Errorf("entity %q of %s: %d, %v", got[i].Entity, got[i], status, err)
			}
			got[i].Entity = ""
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("resources are not named with their owners; -want +got:\n%s", diff)
		}
	})

	t.Run("Hidden", func(t *testing.T) {
		rules := sections{"permission": sections{"enabled": true, "rules": []any{sections{
			"who": []any{"service"}, "permissions": []any{"catalog.entity.read"}, "kinds": []any{"Resource"}, "result": "deny",
		}}}}
		for key, value := range clusters {
			rules[key] = value
		}
		s := start(t, setup{sections: rules})
		var got change.Answer
		s.until("the definition", func() error {
			_, err := s.ask(http.MethodPost, "/api/composer-ingestor/impact", strings.NewReader(sized("large")), &got)
			if err == nil && (got.Impact == nil || got.Impact.Checked != 9) {
				err = fmt.Errorf("got %+v", got)
			}
			return err
		})
		if e := got.Impact.Definitions[0].Effects[0]; e.Count != 4 || len(e.Resources) != 0 {
			t.Errorf("resources of entities that the caller may not read are named: %+v", e)
		}
	})

	t.Run("Real", func(t *testing.T) {
		// What is said to be refused is refused when it is created again.
		east.Apply(t, sized("large"))
		s.until("the refusal", func() error {
			east.Delete(t, resources[0])
			if out, err := east.Do("apply", write("r0.yaml", resources[0])); err == nil || !strings.Contains(out+err.Error(), "Unsupported value") {
				return fmt.Errorf("the resource was created: %s: %w", out, err)
			}
			return nil
		})
	})

	t.Run("Outage", func(t *testing.T) {
		east.Kill()
		code, out, notes := diffed(t, theToken, before, after, "--config", settings, "--cluster", "all", "--timeout", "2s", "--fail-on", "never", "--output-format", "json")
		if code != app.ExitFailed || !strings.Contains(out, `"cluster east could not be read completely"`) || !strings.Contains(out, `"checked": 2`) {
			t.Errorf("exit code %d\n%s%s", code, out, notes)
		}
	})
}
