package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"example.dev/ingestor/xrd"
)

// Check is one step of checking the access to a cluster, and its result.
type Check struct {
	// Name is what was checked, such as "TLS" or "list compositions".
	Name   string
	Result Result
	// Detail is what was found, or what is wrong.
	Detail string
	// Hint says how to solve a failure.
	Hint string
	// Missing is the permission to add, if one is missing.
	Missing Rule
}

// Result is the result of a Check.
type Result string

// Results of checks.
const (
	OK      Result = "ok"
	Failed  Result = "failed"
	Skipped Result = "skipped"
)

// CheckOptions configure what is checked in addition to the connection.
type CheckOptions struct {
	// Composites selects the definitions for whose composites and claims the permission
	// to list is checked; nil means none.
	Composites func(*xrd.Definition) bool
	// Namespaces are those whose composites and claims are read; empty means all.
	Namespaces []string
	// Watch also checks the permissions to follow changes: to watch, and to get single
	// objects.
	Watch bool
	// Workloads are kinds that are listed as well; see the function Workloads.
	Workloads []Kind
	// NoDefinitions skips definitions and what belongs to them.
	NoDefinitions bool
}

// Check checks the access to the cluster step by step and reports each step: the host
// name, the connection, the identity, what is served, and every permission that
// reading requires. Steps after a failed one are skipped.
func (c *Cluster) Check(ctx context.Context, opts CheckOptions, tell func(Check)) {
	t := &checking{Cluster: c, opts: opts, tell: tell}
	for _, step := range []struct {
		name string
		take func(context.Context) (string, error)
	}{
		{"address", t.address}, {"TLS", t.tls}, {"authentication", t.who}, {"version", t.version},
	} {
		t.step(ctx, step.name, step.take)
	}
	if !opts.NoDefinitions {
		t.step(ctx, "definitions", t.served)
	}
	t.permissions(ctx)
}

type checking struct {
	*Cluster
	opts CheckOptions
	tell func(Check)
	// broken is the step that failed.
	broken string
	apis   []API
}

// skip is the error of a step that is skipped, with the reason.
type skip string

// Error returns the reason.
func (s skip) Error() string { return string(s) }

func (t *checking) step(ctx context.Context, name string, take func(context.Context) (string, error)) {
	if t.broken != "" {
		t.tell(Check{Name: name, Result: Skipped, Detail: t.broken + " failed"})
		return
	}
	detail, err := take(ctx)
	if why, ok := errors.AsType[skip](err); ok {
		t.tell(Check{Name: name, Result: Skipped, Detail: string(why)})
		return
	}
	if err == nil {
		t.tell(Check{Name: name, Result: OK, Detail: detail})
		return
	}
	t.broken = name
	e, ok := errors.AsType[*Error](err)
	if !ok {
		e = t.explain(request{doing: "check " + name}, err)
	}
	t.tell(Check{Name: name, Result: Failed, Detail: cause(e.Err).Error(), Hint: e.Hint, Missing: e.Missing})
}

// proxy returns the proxy for the cluster, if there is one.
func (t *checking) proxy() (*url.URL, error) {
	find := t.way.Config.Proxy
	if find == nil {
		find = http.ProxyFromEnvironment
	}
	req, err := http.NewRequest(http.MethodGet, t.way.URL, nil)
	if err != nil {
		return nil, err
	}
	return find(req)
}

func (t *checking) address(ctx context.Context) (string, error) {
	if p, err := t.proxy(); err != nil {
		return "", err
	} else if p != nil {
		return "", skip("connection goes through a proxy")
	}
	u, err := url.Parse(t.way.URL)
	if err != nil {
		return "", err
	}
	if net.ParseIP(u.Hostname()) != nil {
		return u.Host + ", no DNS lookup needed", nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, t.Cluster.opts.Timeout, errSlow)
	defer cancel()
	all, err := net.DefaultResolver.LookupHost(ctx, u.Hostname())
	if err != nil {
		return "", slow(ctx, err)
	}
	return fmt.Sprintf("%s resolves to %s", u.Hostname(), strings.Join(all, ", ")), nil
}

func (t *checking) tls(ctx context.Context) (string, error) {
	u, err := url.Parse(t.way.URL)
	if err != nil {
		return "", err
	}
	if u.Scheme != "https" {
		return "", skip("URL is http; traffic is not encrypted")
	}
	if p, err := t.proxy(); err != nil {
		return "", err
	} else if p != nil {
		return "", skip("connection goes through a proxy")
	}
	config, err := rest.TLSConfigFor(t.way.Config)
	if err != nil {
		return "", err
	}
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	// Authentication is the next step, and must not delay this one.
	config = config.Clone()
	config.Certificates, config.GetClientCertificate = nil, nil
	ctx, cancel := context.WithTimeoutCause(ctx, t.Cluster.opts.Timeout, errSlow)
	defer cancel()
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), "443")
	}
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", host)
	if err != nil {
		return "", slow(ctx, err)
	}
	defer func() { _ = conn.Close() }()
	state := conn.(*tls.Conn).ConnectionState()
	if len(state.PeerCertificates) == 0 {
		return tls.VersionName(state.Version), nil
	}
	cert := state.PeerCertificates[0]
	detail := fmt.Sprintf("%s, certificate for %s, signed by %q, valid until %s", tls.VersionName(state.Version),
		strings.Join(namesOf(cert), ", "), cert.Issuer.CommonName, cert.NotAfter.UTC().Format(time.DateOnly))
	if config.InsecureSkipVerify {
		detail += ", not verified (skipTLSVerify)"
	}
	return detail, nil
}

// who asks the server for the identity of this client.
func (t *checking) who(ctx context.Context) (string, error) {
	answer, err := t.ask(ctx, request{
		doing: "authenticate", path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
		body: []byte(`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`),
	})
	if isReason(err, Absent) || isReason(err, Forbidden) {
		return "", skip("the server does not support self subject reviews")
	}
	if err != nil {
		return "", err
	}
	return answer.Get("status", "userInfo", "username").Str(), nil
}

func (t *checking) version(ctx context.Context) (string, error) {
	answer, err := t.ask(ctx, request{doing: "read its version", path: "/version"})
	if isReason(err, Forbidden) {
		return "", skip("not allowed for this account")
	}
	if err != nil {
		return "", err
	}
	return answer.Get("gitVersion").Str(), nil
}

func (t *checking) served(ctx context.Context) (string, error) {
	var err error
	if t.apis, err = t.APIs(ctx); err != nil {
		return "", err
	}
	var parts []string
	for _, a := range t.apis {
		parts = append(parts, a.Group+" "+strings.Join(a.Definitions, " and "))
		if len(a.Compositions) == 0 {
			parts = append(parts, "no "+compositions+" there")
		}
	}
	return strings.Join(parts, ", "), nil
}

// permissions checks every permission that reading requires.
func (t *checking) permissions(ctx context.Context) {
	verbs := []string{"list"}
	if t.opts.Watch {
		verbs = append(verbs, "get", "watch")
	}
	if t.broken != "" {
		t.tell(Check{Name: "permissions", Result: Skipped, Detail: t.broken + " failed"})
		return
	}
	listable := true
	for _, api := range t.apis {
		resources := []Resource{api.DefinitionsResource()}
		if len(api.Compositions) > 0 {
			resources = append(resources, api.CompositionsResource())
		}
		for i, res := range resources {
			for _, verb := range verbs {
				ok := t.may(ctx, verb, res, verbs)
				listable = listable && (ok || i > 0 || verb != "list")
			}
		}
	}
	for _, k := range t.opts.Workloads {
		t.may(ctx, "list", k.Resource, []string{"list"})
	}
	if t.opts.Composites == nil || t.opts.NoDefinitions {
		return
	}
	if !listable {
		t.tell(Check{Name: "composites", Result: Skipped, Detail: "definitions cannot be listed"})
		return
	}
	set, err := t.Read(ctx, ReadOptions{NoCompositions: true})
	if err != nil {
		t.step(ctx, "composites", func(context.Context) (string, error) { return "", err })
		return
	}
	var asked []*review
	for _, d := range set.Definitions {
		if !t.opts.Composites(d) {
			continue
		}
		for _, k := range Composites(d, t.opts.Namespaces) {
			for _, verb := range verbs {
				asked = append(asked, &review{verb: verb, res: k.Resource, verbs: verbs})
			}
		}
	}
	// There may be hundreds, and each is a round trip.
	var group errgroup.Group
	group.SetLimit(atOnce)
	var broken atomic.Bool
	for _, r := range asked {
		group.Go(func() error {
			if !broken.Load() {
				r.allowed, r.err = t.review(ctx, r.verb, r.res)
				if r.err != nil {
					broken.Store(true)
				}
			}
			return nil
		})
	}
	_ = group.Wait()
	// Failures are reported first, so that what was not checked is skipped.
	slices.SortStableFunc(asked, func(a, b *review) int { return cmp.Compare(b.rank(), a.rank()) })
	for _, r := range asked {
		t.judge(ctx, r)
	}
}

// review is a permission and the server's decision.
type review struct {
	verb string
	res  Resource
	// verbs are all verbs that are required for the resource, so that the user can add
	// them at once instead of one by one.
	verbs   []string
	allowed bool
	err     error
}

// rank is 1 for a review that failed, otherwise 0.
func (r *review) rank() int {
	if r.err != nil {
		return 1
	}
	return 0
}

// may checks a permission, and reports the result.
func (t *checking) may(ctx context.Context, verb string, res Resource, verbs []string) bool {
	r := &review{verb: verb, res: res, verbs: verbs}
	if t.broken == "" {
		r.allowed, r.err = t.review(ctx, verb, res)
	}
	return t.judge(ctx, r)
}

// review asks the server for a permission.
func (t *checking) review(ctx context.Context, verb string, res Resource) (bool, error) {
	body, err := json.Marshal(map[string]any{
		"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
		"spec": map[string]any{"resourceAttributes": map[string]string{
			"group": res.Group, "version": res.Version, "resource": res.Plural, "namespace": res.Namespace, "verb": verb,
		}},
	})
	if err != nil {
		return false, err
	}
	answer, err := t.ask(ctx, request{doing: "check permissions", path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body: body})
	return answer.Get("status", "allowed").IsTrue(), err
}

// judge reports the server's decision about a permission, and returns whether it is
// granted.
func (t *checking) judge(ctx context.Context, r *review) bool {
	name := r.verb + " " + r.res.String()
	switch {
	case t.broken != "" || r.err != nil:
		t.step(ctx, name, func(context.Context) (string, error) { return "", r.err })
	case r.allowed:
		t.tell(Check{Name: name, Result: OK})
	default:
		missing := permission(r.res, slices.Sorted(slices.Values(r.verbs))...)
		t.tell(Check{Name: name, Result: Failed, Detail: "not allowed for this account", Hint: "add this rule to its ClusterRole:\n" + missing.YAML(), Missing: missing})
	}
	return r.allowed
}
