// Package command has commands for scripts in more than one folder: a portal
// backend, queries of its catalog, and programs in a pipe.
package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/server"
)

// Variables of a script for its portal.
const (
	portalURL   = "PORTAL_URL"
	portalToken = "PORTAL_TOKEN"
)

// backendToken is the token of a service account with all permissions.
const backendToken = "a-static-token-of-the-scripts-4711"

// Backend starts a portal backend with an empty catalog that ends with the
// script, and sets $PORTAL_URL and $PORTAL_TOKEN. It may read locations at the
// given hosts:
//
//	backend
//	backend 127.0.0.1:7010
func Backend(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: backend [host...]")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	address := "http://" + l.Addr().String()
	dir, err := os.MkdirTemp(ts.Getenv("WORK"), ".backend-*")
	ts.Check(err)
	p, err := newBackend(dir, address, args)
	ts.Check(err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx, l) }()
	ts.Defer(func() {
		stop()
		if err := errors.Join(<-ended, p.Close()); err != nil && !errors.Is(err, context.Canceled) {
			ts.Logf("backend ended with %v", err)
		}
	})
	ts.Setenv(portalURL, address)
	ts.Setenv(portalToken, backendToken)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, err := ask(address, "/health/ready"); err == nil {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("backend is not ready")
		}
	}
}

// newBackend creates a portal with its database in dir.
func newBackend(dir, address string, hosts []string) (*server.Portal, error) {
	type object = map[string]any
	allow := []object{}
	for _, host := range hosts {
		allow = append(allow, object{"host": host})
	}
	text, err := json.Marshal(object{
		"backend": object{
			"baseUrl": address, "listen": strings.TrimPrefix(address, "http://"),
			"database": object{"client": "sqlite", "connection": object{"filename": filepath.Join(dir, "portal.sqlite")}},
			"auth":     object{"externalAccess": []object{{"type": "static", "options": object{"token": backendToken, "subject": "scripts"}}}},
			"reading":  object{"allow": allow},
		},
		"catalog": object{
			"locationTypes": []string{"url"},
			"rules":         []object{{"allow": []string{"Component", "API", "Resource", "System", "Domain", "Group", "User", "Template", "Location"}}},
		},
	})
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "app-config.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, err
	}
	cfg, found := config.Load([]string{path}, config.Options{})
	for _, f := range found {
		if f.Severity == finding.Error {
			return nil, fmt.Errorf("configuration of the scripts is invalid: %s", f.Message)
		}
	}
	return server.New(context.Background(), server.Options{Config: cfg, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
}

// ask gets a path of a backend.
func ask(address, path string) ([]byte, error) {
	req, err := http.NewRequest(http.MethodGet, address+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+backendToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s returned %d: %s", path, res.StatusCode, text)
	}
	return text, err
}

// Catalog prints the sorted references of the entities in the catalog of the
// script's backend, one per line; or the number of entities of a provider; or
// one entity as JSON. A filter has the catalog's syntax:
//
//	catalog
//	catalog kind=template
//	catalog provider portal-provide
//	catalog entity api:default/databases
func Catalog(ts *testscript.TestScript, neg bool, args []string) {
	address := ts.Getenv(portalURL)
	if neg || address == "" || len(args) > 2 || len(args) == 2 && args[0] != "provider" && args[0] != "entity" {
		ts.Fatalf("usage, after backend: catalog [filter | provider name | entity reference]")
	}
	if len(args) == 2 && args[0] == "provider" {
		n, err := owned(address, args[1])
		ts.Check(err)
		fmt.Fprintln(ts.Stdout(), n)
		return
	}
	if len(args) == 2 {
		text, err := ask(address, "/api/catalog/entities/by-name/"+strings.Replace(args[1], ":", "/", 1))
		ts.Check(err)
		fmt.Fprintf(ts.Stdout(), "%s\n", text)
		return
	}
	path := "/api/catalog/entities"
	if len(args) == 1 {
		path += "?filter=" + url.QueryEscape(args[0])
	}
	text, err := ask(address, path)
	ts.Check(err)
	var all []struct {
		Kind     string
		Metadata struct{ Namespace, Name string }
	}
	ts.Check(json.Unmarshal(text, &all))
	var refs []string
	for _, e := range all {
		refs = append(refs, strings.ToLower(e.Kind)+":"+e.Metadata.Namespace+"/"+e.Metadata.Name)
	}
	slices.Sort(refs)
	for _, ref := range refs {
		fmt.Fprintln(ts.Stdout(), ref)
	}
}

// owned returns the number of entities of a provider in a backend's catalog.
func owned(address, provider string) (int, error) {
	text, err := ask(address, "/api/catalog/providers")
	if err != nil {
		return 0, err
	}
	var list struct {
		Items []struct {
			Name     string
			Entities int
		}
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return 0, err
	}
	for _, item := range list.Items {
		if item.Name == provider {
			return item.Entities, nil
		}
	}
	return 0, nil
}

// Answers starts a server that simulates a failing portal, and sets $PORTAL_URL
// and $PORTAL_TOKEN. It returns the number of entities, and to every other
// request it returns a status, hangs, or closes the connection. The status 401
// is returned to every request.
//
//	answers 500
//	answers hang|die
func Answers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: answers status|hang|die")
	}
	status, err := strconv.Atoi(args[0])
	if err != nil && args[0] != "hang" && args[0] != "die" {
		ts.Fatalf("usage: answers status|hang|die")
	}
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet && status != http.StatusUnauthorized:
			fmt.Fprint(w, `{"items":[]}`)
		case args[0] == "hang":
			_, _ = io.Copy(io.Discard, r.Body)
			<-over
		case args[0] == "die":
			_, _ = r.Body.Read(make([]byte, 1))
			panic(http.ErrAbortHandler)
		default:
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":{"name":"Error","message":"a bad day, %s"}}`, r.Header.Get("Authorization"))
		}
	}))
	ts.Defer(func() {
		close(over)
		server.Close()
	})
	ts.Setenv(portalURL, server.URL)
	ts.Setenv(portalToken, backendToken)
}
