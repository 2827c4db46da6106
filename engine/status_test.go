package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// resourceOf returns the Resource of a composite with a status.
func resourceOf(tb testing.TB, v words.Vocabulary, status object) *entity.Entity {
	tb.Helper()
	input := engine.Input{Definition: define(tb, v)}
	give(tb, v, &input, xrd.Origin{File: "x.yaml"}, composite("shop", "orders", set(status, "status")))
	res := transform(tb, engine.CLI, engine.Options{}, input)
	return res.Entities[len(res.Entities)-1]
}

// condition is an entry of status.conditions.
func condition(typ, status, reason string) object {
	return object{"type": typ, "status": status, "reason": reason, "message": "Never shown.", "lastTransitionTime": "2026-01-01T00:00:00Z"}
}

func TestConditions(t *testing.T) {
	many := []any{condition("Synced", "True", "")}
	wantMany := map[string]string{"synced": "True", "ready": "True"}
	for i := range 20 {
		many = append(many, condition(fmt.Sprintf("A%02d", i), "True", ""))
		if i < 10 {
			wantMany[fmt.Sprintf("a%02d", i)] = "True"
		}
	}
	cases := map[string]struct {
		reason     string
		conditions []any
		want       map[string]string
	}{
		"none":     {"Without conditions there are no annotations.", nil, nil},
		"true":     {"The reason of a true condition is not shown.", []any{condition("Ready", "True", "Available")}, map[string]string{"ready": "True"}},
		"false":    {"The reason of a false condition is shown.", []any{condition("Ready", "False", "Creating")}, map[string]string{"ready": "False (Creating)"}},
		"unknown":  {"The reason of an unknown condition is shown.", []any{condition("Synced", "Unknown", "ReconcileError")}, map[string]string{"synced": "Unknown (ReconcileError)"}},
		"bare":     {"A reason can be missing.", []any{object{"type": "Ready", "status": "False"}}, map[string]string{"ready": "False"}},
		"words":    {"A type is split into words.", []any{condition("LastAsyncOperation", "True", ""), condition("DNSReady", "True", ""), condition("platform.io/HTTPSOn", "True", "")}, map[string]string{"last-async-operation": "True", "dns-ready": "True", "platform.io-https-on": "True"}},
		"broken":   {"An invalid type, status or reason is left out.", []any{condition("no type!", "True", ""), condition("Ready-", "True", ""), condition("Odd", "Maybe", ""), condition(strings.Repeat("x", 200), "True", ""), condition("Fine", "False", "a sentence with: everything"), "text", nil}, map[string]string{"fine": "False"}},
		"alike":    {"Of two conditions with the same key the first in order is shown.", []any{condition("ready", "False", ""), condition("Ready", "True", "")}, map[string]string{"ready": "True"}},
		"too many": {"At most twelve conditions are shown, always including Ready and Synced.", append(many, condition("Ready", "True", "")), wantMany},
	}
	for name, tc := range cases {
		for _, v := range vocabularies {
			t.Run(name+" "+v.String(), func(t *testing.T) {
				prefix := in(v, "composer.io/condition-")
				var got map[string]string
				for k, value := range resourceOf(t, v, object{"conditions": tc.conditions}).Metadata.Annotations {
					if typ, ok := strings.CutPrefix(k, prefix); ok {
						if got == nil {
							got = map[string]string{}
						}
						got[typ] = value
					}
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
				}
			})
		}
	}
}

func TestLinks(t *testing.T) {
	many := []any{}
	var wantMany []string
	for i := range 15 {
		many = append(many, fmt.Sprintf("https://h%02d.example.org", i))
		if i < 10 {
			wantMany = append(wantMany, fmt.Sprintf("URLs https://h%02d.example.org", i))
		}
	}
	cases := map[string]struct {
		reason string
		status object
		want   []string
	}{
		"url":           {"A URL is unchanged.", object{"url": "https://orders.example.org/a?region=eu-west-1#top"}, []string{"URL https://orders.example.org/a?region=eu-west-1#top"}},
		"http":          {"Plain HTTP is supported.", object{"uri": "http://10.0.0.1:8080/"}, []string{"URI http://10.0.0.1:8080/"}},
		"host":          {"A host name gets https.", object{"host": "orders.example.org"}, []string{"Host https://orders.example.org"}},
		"port":          {"A port is kept.", object{"endpoint": "orders.example.org:8443"}, []string{"Endpoint https://orders.example.org:8443"}},
		"IPv4":          {"An IPv4 address is a host.", object{"address": "192.0.2.7"}, []string{"Address https://192.0.2.7"}},
		"IPv6":          {"An IPv6 address is put in brackets.", object{"hostname": "[2001:db8::7]:443", "address": "2001:db8::7"}, []string{"Hostname https://[2001:db8::7]:443"}},
		"last word":     {"The last word of a field name decides.", object{"consoleURL": "https://a.example.org", "apiEndpoint": "b.example.org", "urlFormat": "https://no.example.org"}, []string{"API Endpoint https://b.example.org", "Console URL https://a.example.org"}},
		"provider":      {"Objects are searched one level deep; atProvider is not part of the title.", object{"atProvider": object{"endpoint": "a.example.org"}, "cluster": object{"url": "https://b.example.org"}}, []string{"Cluster URL https://b.example.org", "Endpoint https://a.example.org"}},
		"too deep":      {"Deeper objects are not searched.", object{"a": object{"b": object{"url": "https://a.example.org"}}}, nil},
		"lists":         {"Lists of URLs are supported, in order.", object{"endpoints": []any{"b.example.org", "a.example.org", 3, object{"url": "https://c.example.org"}}}, []string{"Endpoints https://a.example.org", "Endpoints https://b.example.org"}},
		"twice":         {"Duplicates are removed.", object{"url": "https://a.example.org", "atProvider": object{"host": "a.example.org"}}, []string{"Host https://a.example.org"}},
		"many":          {"At most ten links are shown.", object{"urls": many}, wantMany},
		"other words":   {"Other fields are ignored.", object{"phase": "https://a.example.org", "version": "1.2.3"}, nil},
		"other schemes": {"Only HTTP and HTTPS links are shown.", object{"url": "postgres://a.example.org/db", "uri": "javascript:alert(1)", "endpoint": "ftp://a.example.org", "links": []any{"mailto:a@example.org", "//a.example.org", "https:a.example.org", "https://"}}, nil},
		"no hosts":      {"A value that is not clearly a host is left out.", object{"hosts": []any{"localhost", "db", "a.example.org/path", "1.2", "v1.2.3", "a..example.org", "-a.example.org", "a.example.org:", "a.example.org:0", "a.example.org:70000", "arn:aws:s3:::bucket", "127.0.0.1", "0.0.0.0", "300.1.1.1", "a b.example.org", "user@example.org", "ä.example.org", "a_b.example.org", "", strings.Repeat("a.", 600) + "org"}}, nil},
		"users":         {"URLs with a user name or a password are not shown.", object{"url": "https://me:hunter2@a.example.org", "uri": "https://me@a.example.org", "host": "me:hunter2@a.example.org"}, nil},
		"tokens": {"URLs with credentials in their query are not shown.", object{"urls": []any{
			"https://a.example.org/?token=x", "https://a.example.org/?access_token=x", "https://a.example.org/?a=b&X-Amz-Signature=1", "https://a.example.org/?sig=abc", "https://a.example.org/?apiKey=1",
			"https://a.example.org/#access_token=x", "https://a.example.org/?v=eyJhbGciOiJIUzI1NiIsInR5cCI", "https://a.example.org/?0123456789abcdef0123", "https://a.example.org/?%zz=1",
		}, "tokenUrl": "https://a.example.org", "webhookUrl": "https://a.example.org", "presignedURL": "https://a.example.org", "connectionSecret": object{"url": "https://a.example.org"}}, nil},
		"no status": {"A status can be empty.", object{}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, l := range resourceOf(t, words.Portal, tc.status).Metadata.Links {
				got = append(got, l.Title+" "+l.URL)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestStatusIsSafe checks arbitrary statuses: a catalog accepts the Resources,
// and no secret is in their links.
func TestStatusIsSafe(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`(https?://)?([a-z]{1,5}:[a-z]{1,5}@)?[a-z0-9.:\[\]-]{1,20}(/[ -~]{0,9})?([?#&][a-z_]{0,6}=[ -~]{0,30})?`))
	rapid.Check(t, func(r *rapid.T) {
		key := rapid.SampledFrom([]string{"url", "host", "apiEndpoint", "x", "links"})
		status := object{
			"conditions":                []any{condition(text.Draw(r, "type"), rapid.SampledFrom([]string{"True", "False", "x"}).Draw(r, "status"), text.Draw(r, "why"))},
			key.Draw(r, "key"):          text.Draw(r, "value"),
			text.Draw(r, "any") + "Url": []any{text.Draw(r, "first"), text.Draw(r, "second")},
			"atProvider":                object{key.Draw(r, "inner"): text.Draw(r, "inner value")},
		}
		n, err := tree.From(object{"apiVersion": "platform.io/v1", "kind": "Database", "metadata": object{"name": "x"}, "status": status})
		if err != nil {
			r.Skip("not a document")
		}
		d := define(t, words.Portal)
		var set xrd.Set
		set.Add(n, xrd.Origin{File: "x.yaml"})
		c := xrd.NewComposite(set.Others[0], d)
		res, err := engine.New(engine.CLI, engine.Options{}, engine.Hooks{}).Transform(engine.Input{Definition: d, Composites: []*xrd.Composite{c}})
		if err != nil {
			r.Fatal(err)
		}
		valid(r, res.Entities)
		for _, l := range res.Entities[len(res.Entities)-1].Metadata.Links {
			host := strings.TrimPrefix(strings.TrimPrefix(l.URL, "https://"), "http://")
			if end := strings.IndexAny(host, "/?#"); end >= 0 {
				host = host[:end]
			}
			if strings.Contains(host, "@") || !strings.HasPrefix(l.URL, "http") {
				r.Fatalf("link %q", l.URL)
			}
		}
	})
}

// TestBound checks that a claim depends on the composite it is bound to, if
// that exists.
func TestBound(t *testing.T) {
	claimKind, cluster := set("DatabaseClaim", "kind"), "east"
	to := func(field, kind, namespace, name string) edit {
		return set(object{"apiVersion": "platform.io/v1", "kind": kind, "namespace": namespace, "name": name}, "spec", field)
	}
	cases := map[string]struct {
		reason           string
		claim, composite []edit
		elsewhere        string
		want             bool
	}{
		"claim says":     {"The claim names its composite.", []edit{to("resourceRef", "Database", "", "orders-x")}, nil, cluster, true},
		"composite says": {"The composite names its claim.", nil, []edit{to("claimRef", "DatabaseClaim", "shop", "orders")}, cluster, true},
		"other name":     {"Another composite is not related.", []edit{to("resourceRef", "Database", "", "orders-y")}, nil, cluster, false},
		"other space":    {"A claim with the same name in another namespace is not related.", nil, []edit{to("claimRef", "DatabaseClaim", "web", "orders")}, cluster, false},
		"other cluster":  {"A composite with the same name in another cluster is not related.", []edit{to("resourceRef", "Database", "", "orders-x")}, nil, "west", false},
		"neither":        {"Without a reference between claim and composite there is no relation.", nil, nil, cluster, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			input := engine.Input{Definition: define(t, words.Portal, claimed("DatabaseClaim", "databaseclaims"))}
			at := func(cluster string) xrd.Origin {
				return xrd.Origin{Source: xrd.SourceCluster, Cluster: cluster, Location: "url:https://" + cluster}
			}
			give(t, words.Portal, &input, at(cluster), composite("shop", "orders", append(tc.claim, claimKind)...))
			give(t, words.Portal, &input, at(tc.elsewhere), composite("", "orders-x", tc.composite...))
			res := transform(t, engine.CLI, engine.Options{}, input)
			resolved(t, res.Entities)
			var claim, made *entity.Entity
			for _, e := range res.Entities {
				switch e.Metadata.Title {
				case "orders":
					claim = e
				case "orders-x":
					made = e
				}
			}
			want := []string{"resource:default/databases-xrd"}
			if diff := cmp.Diff(want, made.Spec.Get("dependsOn").Strings()); diff != "" {
				t.Errorf("%s\ndependencies of the composite (-want +got):\n%s", tc.reason, diff)
			}
			if tc.want {
				want = append(want, made.Key())
			}
			if diff := cmp.Diff(want, claim.Spec.Get("dependsOn").Strings()); diff != "" {
				t.Errorf("%s\ndependencies of the claim (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
