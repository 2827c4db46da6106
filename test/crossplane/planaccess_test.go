package crossplane_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	fnv1 "github.com/crossplane/crossplane/v2/proto/fn/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"example.dev/ingestor/internal/plan"
	"example.dev/ingestor/internal/plan/render"
	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/crossplane"
	"example.dev/ingestor/xrd/composed"
)

// planTLS plans with functions over TCP that require Crossplane's certificate.
func planTLS(t *testing.T, s *apiserver.Server, core *crossplane.Core) {
	ca, err := os.ReadFile(filepath.Join(core.Certificates(), "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		t.Fatal("the CA is not in PEM")
	}
	own, err := tls.LoadX509KeyPair(filepath.Join(core.Certificates(), "tls.crt"), filepath.Join(core.Certificates(), "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason, name string
		server       *tls.Config
		// plain configures an endpoint that is called without TLS.
		plain bool
		says  string
	}{
		"Mutual":  {reason: "The function gets Crossplane's certificate.", name: "function-mutual", server: &tls.Config{Certificates: []tls.Certificate{own}, ClientCAs: roots, ClientAuth: tls.RequireAndVerifyClientCert}},
		"Foreign": {reason: "A function with a certificate of another CA is not called.", name: "function-foreign", server: &tls.Config{Certificates: []tls.Certificate{selfSigned(t)}}, says: "cannot connect to function function-foreign: tls: failed to verify certificate"},
		"Plain":   {reason: "Without a certificate the function refuses.", name: "function-plain", server: &tls.Config{Certificates: []tls.Certificate{own}, ClientCAs: roots, ClientAuth: tls.RequireAndVerifyClientCert}, plain: true, says: "function function-plain closed the connection before it answered"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			called := 0
			address := serve(t, func(context.Context, *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
				called++
				return composing(t, nil), nil
			}, grpc.Creds(credentials.NewTLS(tc.server)))
			_, port, err := net.SplitHostPort(address)
			if err != nil {
				t.Fatal(err)
			}
			var functions []plan.Endpoint
			if tc.plain {
				functions = append(functions, plan.Endpoint{Name: tc.name, Address: "localhost:" + port})
			} else {
				core.Register(t, tc.name, "dns:///localhost:"+port)
			}
			core.Define(t, strings.NewReplacer("{name: bad}", "{name: "+tc.name+"}", "function-bad", tc.name).Replace(strings.SplitAfter(badComposition, "---\n")[1]))
			p := newPlanned(t, s, core, render.Options{}, functions...)
			got, err := p.plan(t.Context(), badSite(tc.name))
			if tc.says == "" {
				if err != nil || called == 0 || got.Counts.Create != 1 {
					t.Errorf("%s: called %d times, plan is %+v: %v", tc.reason, called, got, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.says) || called > 0 {
				t.Errorf("%s: called %d times, error is %v, want %s", tc.reason, called, err, tc.says)
			}
		})
	}
}

// selfSigned returns a certificate for localhost of its own.
func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// planDenied plans for a caller who may not read all objects that a function asks for.
func planDenied(t *testing.T, s *apiserver.Server, core *crossplane.Core) {
	namespace := "shops"
	seen := []string{}
	p := newPlanned(t, s, core, render.Options{}, plan.Endpoint{Name: "function-bad", Address: serve(t, func(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
		for _, found := range req.GetRequiredResources() {
			for _, item := range found.GetItems() {
				seen = append(seen, item.GetResource().AsMap()["metadata"].(map[string]any)["name"].(string))
			}
		}
		out := composing(t, nil)
		out.Requirements = &fnv1.Requirements{Resources: map[string]*fnv1.ResourceSelector{
			"listed": {ApiVersion: "v1", Kind: "ConfigMap", Namespace: &namespace, Match: &fnv1.ResourceSelector_MatchLabels{MatchLabels: &fnv1.MatchLabels{Labels: map[string]string{"use": "denied"}}}},
			"named":  {ApiVersion: "v1", Kind: "ConfigMap", Namespace: &namespace, Match: &fnv1.ResourceSelector_MatchName{MatchName: "theirs"}},
		}}
		return out, nil
	})})
	s.Apply(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: theirs, namespace: shops, labels: {use: denied}}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ours, namespace: shops, labels: {use: denied}}\n")
	p.authorize = func(_ context.Context, ref composed.Ref) error {
		if ref.Name != "ours" {
			return errors.New("denied")
		}
		return nil
	}
	got, err := p.plan(t.Context(), badSite(""))
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(seen, "theirs") || !slices.Contains(seen, "ours") {
		t.Errorf("the function got %v, want only ours", seen)
	}
	if unknown := fmt.Sprint(got.Unknown); !strings.Contains(unknown, "a function asks for 1 objects that you may not read") || !strings.Contains(unknown, "required ConfigMap theirs") {
		t.Errorf("unknown is %s", unknown)
	}
}

// planForeign plans a composite that names a revision of a Composition for another kind.
func planForeign(t *testing.T, s *apiserver.Server, core *crossplane.Core) {
	p := newPlanned(t, s, core, render.Options{})
	revisions, err := p.objects().List(t.Context(), "apiextensions.crossplane.io/v1", "CompositionRevision", "", map[string]string{"crossplane.io/composition-name": "shops.shops.example.org"}, 10)
	if err != nil || len(revisions) == 0 {
		t.Fatalf("there are %d revisions: %v", len(revisions), err)
	}
	manifest := strings.Replace(badSite("websites.shops.example.org"), "crossplane: {", "crossplane: {compositionUpdatePolicy: Manual, compositionRevisionRef: {name: "+revisions[0].Get("metadata", "name").Str()+"}, ", 1)
	if _, err = p.plan(t.Context(), manifest); err == nil || !strings.Contains(err.Error(), "is not one of Composition websites.shops.example.org for Website") {
		t.Errorf("revision of another kind returned %v", err)
	}
}

// TestPlanNoCrossplane plans in a cluster without Crossplane.
func TestPlanNoCrossplane(t *testing.T) {
	s := apiserver.Start(t, apiserver.Options{CRDs: "none"})
	s.Apply(t, "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: websites.shops.example.org}\nspec: {group: shops.example.org, scope: Namespaced, names: {kind: Website, plural: websites, singular: website, listKind: WebsiteList}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}\n")
	p := newPlanned(t, s, nil, render.Options{Program: "/bin/false"})
	for begin := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		_, err := p.plan(t.Context(), site("none"))
		e, ok := errors.AsType[*plan.Error](err)
		if ok && e.Reason == plan.NotComposite && strings.Contains(e.Error(), "has no Crossplane") && e.Hint != "" {
			return
		}
		// The kind is served a moment after its definition is stored.
		if time.Since(begin) > 30*time.Second {
			t.Fatalf("a cluster without Crossplane returned %v", err)
		}
	}
}
