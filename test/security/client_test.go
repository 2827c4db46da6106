package security_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
)

const api = "/api/scaffolder/v2"

// client calls a portal as one caller.
type client struct {
	t           *testing.T
	base, token string
	http        *http.Client
}

// client returns a client with a token, or without if the token is empty.
func (b *backend) client(t *testing.T, token string) client {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	t.Cleanup(transport.CloseIdleConnections)
	return client{t: t, base: b.base, token: token, http: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// guest returns a client that is signed in as a guest.
func (b *backend) guest(t *testing.T) client {
	t.Helper()
	var welcome session
	a := b.client(t, "").want(http.StatusOK, http.MethodPost, "/api/auth/guest/refresh", "")
	if err := json.Unmarshal([]byte(a.body), &welcome); err != nil {
		t.Fatal(err)
	}
	return b.client(t, welcome.BackstageIdentity.Token)
}

// answer is a response of a portal.
type answer struct {
	status int
	body   string
}

// node decodes the body as JSON.
func (a answer) node(t *testing.T) *tree.Node {
	t.Helper()
	n, err := wire.Decoder{}.Decode([]byte(a.body))
	if err != nil {
		t.Fatalf("cannot decode %s: %v", a.body, err)
	}
	return n
}

// send sends a body with a media type.
func (c client) send(method, path, media, body string) answer {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer{resp.StatusCode, string(data)}
}

// do sends JSON.
func (c client) do(method, path, body string) answer {
	c.t.Helper()
	return c.send(method, path, "application/json", body)
}

// want sends JSON and checks the status.
func (c client) want(status int, method, path, body string) answer {
	c.t.Helper()
	a := c.do(method, path, body)
	if a.status != status {
		c.t.Fatalf("%s %s: got %d, want %d: %s", method, path, a.status, status, a.body)
	}
	return a
}

// push pushes entities in YAML and returns the response. Other entities of the
// provider are kept.
func (c client) push(provider string, entities ...string) answer {
	c.t.Helper()
	return c.send(http.MethodPost, "/api/catalog/providers/"+provider+"/delta", "application/yaml", strings.Join(entities, "\n---\n"))
}

// pushed pushes entities and checks that all are accepted.
func (c client) pushed(provider string, entities ...string) {
	c.t.Helper()
	if a := c.push(provider, entities...); a.status != http.StatusOK || !strings.Contains(a.body, `"refused":[]`) {
		c.t.Fatalf("cannot push to %s: %d %s", provider, a.status, a.body)
	}
}

// awaitTemplate waits until the catalog has a Template.
func (c client) awaitTemplate(name string) {
	c.t.Helper()
	until(c.t, "the catalog has the Template "+name, func() bool {
		return c.do(http.MethodGet, api+"/templates/default/template/"+name+"/parameter-schema", "").status == http.StatusOK
	})
}

// result is the result of a task.
type result struct {
	// id is empty if the task was not created; status is then "refused".
	id, status string
	// told is everything the caller gets to see: the response, the task and its
	// events.
	told string
}

// run runs a Template until its task ends. Values are JSON.
func (c client) run(template, values string) result {
	c.t.Helper()
	c.awaitTemplate(template)
	a := c.do(http.MethodPost, api+"/tasks", `{"templateRef":"template:default/`+template+`","values":`+values+`}`)
	if a.status == http.StatusForbidden {
		return result{status: "refused", told: a.body}
	}
	if a.status != http.StatusCreated {
		c.t.Fatalf("cannot create a task of %s with %s: %d %s", template, values, a.status, a.body)
	}
	return c.follow(a.node(c.t).Get("id").Str())
}

// follow waits for the end of a task.
func (c client) follow(id string) result {
	c.t.Helper()
	r := result{id: id}
	until(c.t, "task "+id+" ends", func() bool {
		a := c.want(http.StatusOK, http.MethodGet, api+"/tasks/"+id, "")
		r.status, r.told = a.node(c.t).Get("status").Str(), a.body
		return r.status != "open" && r.status != "processing"
	})
	r.told += c.want(http.StatusOK, http.MethodGet, api+"/tasks/"+id+"/events?after=0", "").body
	return r
}

// completes runs a Template and checks that its task completes.
func (c client) completes(template, values string) result {
	c.t.Helper()
	r := c.run(template, values)
	if r.status != "completed" {
		c.t.Fatalf("task of %s with %s is %s, want completed: %s", template, values, r.status, r.told)
	}
	return r
}

// stopped runs a Template and checks that it is refused or fails, with all of
// the given texts.
func (c client) stopped(template, values string, say ...string) result {
	c.t.Helper()
	r := c.run(template, values)
	if r.status != "refused" && r.status != "failed" {
		c.t.Errorf("task of %s with %s is %s, want it refused or failed: %s", template, values, r.status, r.told)
	}
	for _, s := range say {
		if !strings.Contains(r.told, s) {
			c.t.Errorf("response for the task of %s with %s does not contain %q: %s", template, values, s, r.told)
		}
	}
	return r
}

// until waits until a condition is true.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain until %s", patience, what)
		}
	}
}

// template returns a Template without a form, with steps in YAML flow style.
func template(name, annotations, steps string) string {
	return `{apiVersion: scaffolder.backstage.io/v1beta3, kind: Template, metadata: {name: ` + name + `, annotations: {` + annotations + `}},
  spec: {type: x, owner: "group:default/team-b", steps: [` + steps + `]}}`
}

// asJSON returns YAML as JSON.
func asJSON(t *testing.T, text string) string {
	t.Helper()
	docs, errs := parser.DecodeBytes([]byte(text))
	if len(errs) > 0 || len(docs) != 1 {
		t.Fatalf("cannot parse: %d documents, errors %v in\n%s", len(docs), errs, text)
	}
	return string(tree.AppendJSON(nil, docs[0], ""))
}

// quote returns text as JSON.
func quote(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

// made counts generated names, so that a test can run repeatedly.
var made atomic.Int64

// unique returns a name that no other test uses.
func unique(name string) string { return name + "-" + strconv.FormatInt(made.Add(1), 10) }

// find returns an object of the API server, nil if there is none.
func (w *world) find(t *testing.T, path string) *tree.Node {
	t.Helper()
	status, n := w.ask(t, http.MethodGet, path, "")
	if status == http.StatusNotFound {
		return nil
	}
	if status != http.StatusOK {
		t.Fatalf("GET %s: %d %s", path, status, tree.AppendJSON(nil, n, ""))
	}
	return n
}

// ask sends a request to the API server as its administrator.
func (w *world) ask(t *testing.T, method, path, body string) (int, *tree.Node) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, w.cluster.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := w.cluster.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	n, err := wire.Decoder{}.Decode(data)
	if err != nil {
		t.Fatalf("%s %s: cannot decode: %v in %s", method, path, err, data)
	}
	return resp.StatusCode, n
}
