package engine_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// found is the time at which the definitions of a test were found: not in UTC,
// and with more digits than are written.
var found = time.Date(2026, 3, 1, 1, 2, 3, 456789012, time.FixedZone("east", 2*60*60))

// surrounded returns a definition with a Composition and a composite, each with
// its own origin.
func surrounded(t *testing.T, v words.Vocabulary, edits ...edit) engine.Input {
	t.Helper()
	input := engine.Input{Definition: define(t, v, edits...), Clusters: []string{"east", "west"}}
	input.Definition.Origin = xrd.Origin{Source: xrd.SourceCluster, Cluster: "east", Location: "url:https://east.example.org"}
	give(t, v, &input, xrd.Origin{Source: xrd.SourceGit, Location: "url:https://git.example.org/compositions.yaml"}, composition("postgres"))
	give(t, v, &input, xrd.Origin{Source: xrd.SourceCluster, Cluster: "west", Location: "url:https://west.example.org"},
		composite("shop", "orders", labelled("portal.io/cluster-id", "shop-orders")))
	return input
}

func TestAnnotationsWritten(t *testing.T) {
	const east, west, git = "url:https://east.example.org", "url:https://west.example.org", "url:https://git.example.org/compositions.yaml"
	want := map[string]map[string]string{
		"Template databases": {
			"composer.io/xrd-name":                  "databases.platform.io",
			"composer.io/xrd-version":               "v1",
			"composer.io/composition-ref":           "postgres",
			"portal.io/source-location":             east,
			"portal.io/managed-by-location":         east,
			"portal.io/managed-by-origin-location":  east,
			"portal.io/discovered-at":               "2026-02-28T23:02:03.456Z",
			"portal.io/discovered-from":             "east,west",
			"scaffolder.portal.io/template-origin":  "composer-ingestor",
			"scaffolder.portal.io/template-version": "(hash)",
		},
		"API databases-api": {
			"composer.io/xrd-name":                 "databases.platform.io",
			"composer.io/xrd-version":              "v1",
			"portal.io/source-location":            east,
			"portal.io/managed-by-location":        east,
			"portal.io/managed-by-origin-location": east,
			"portal.io/discovered-at":              "2026-02-28T23:02:03.456Z",
			"portal.io/discovered-from":            "east,west",
		},
		"Resource databases-xrd": {
			"composer.io/xrd-name":                 "databases.platform.io",
			"composer.io/xrd-version":              "v1",
			"composer.io/composition-ref":          "postgres",
			"portal.io/source-location":            east,
			"portal.io/managed-by-location":        east,
			"portal.io/managed-by-origin-location": east,
			"portal.io/discovered-at":              "2026-02-28T23:02:03.456Z",
			"portal.io/discovered-from":            "east,west",
		},
		"Resource postgres-composition": {
			"composer.io/xrd-name":                 "databases.platform.io",
			"composer.io/xrd-version":              "v1",
			"composer.io/composition-ref":          "postgres",
			"portal.io/source-location":            git,
			"portal.io/managed-by-location":        git,
			"portal.io/managed-by-origin-location": git,
			"portal.io/discovered-at":              "2026-02-28T23:02:03.456Z",
			"portal.io/discovered-from":            "east,west",
		},
		"Resource orders": {
			"composer.io/xrd-name":                 "databases.platform.io",
			"composer.io/xrd-version":              "v1",
			"composer.io/composition-ref":          "postgres",
			"composer.vendor.io/xr-name":           "orders",
			"composer.vendor.io/xr-apiversion":     "platform.io/v1",
			"composer.vendor.io/xr-kind":           "Database",
			"portal.io/cluster-id":                 "shop-orders",
			"portal.io/cluster-namespace":          "shop",
			"portal.io/source-location":            west,
			"portal.io/managed-by-location":        west,
			"portal.io/managed-by-origin-location": west,
			"portal.io/discovered-at":              "2026-02-28T23:02:03.456Z",
			"portal.io/discovered-from":            "west",
		},
	}
	hash := regexp.MustCompile(`^[0-9a-f]{8}$`)
	shortened := regexp.MustCompile(`-[0-9a-f]{8}$`)
	for _, v := range vocabularies {
		t.Run(v.String(), func(t *testing.T) {
			input := surrounded(t, v, set(object{"name": "postgres"}, "spec", "defaultCompositionRef"))
			res := transform(t, engine.CLI, engine.Options{Now: found}, input)
			wanted, got := map[string]map[string]string{}, map[string]map[string]string{}
			for name, a := range want {
				wanted[name] = keysIn(v, a)
			}
			if a := wanted["Template databases"]; v == words.Upstream {
				a["scaffolder.backstage.io/template-origin"] = "crossplane-ingestor"
			}
			for _, e := range res.Entities {
				a := e.Metadata.Annotations
				if key := in(v, "scaffolder.portal.io/template-version"); hash.MatchString(a[key]) {
					a[key] = "(hash)"
				}
				got[e.Kind+" "+shortened.ReplaceAllString(e.Metadata.Name, "")] = a
			}
			if diff := cmp.Diff(wanted, got); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAnnotationsLeftOut checks annotations without a value.
func TestAnnotationsLeftOut(t *testing.T) {
	input := engine.Input{Definition: define(t, words.Portal, claimed("Claim", "claims"))}
	give(t, words.Portal, &input, xrd.Origin{File: "xr.yaml"}, composite("", "orders"))
	res := transform(t, engine.CLI, engine.Options{}, input)
	if len(res.Entities) != 4 {
		t.Fatalf("got %q", list(res.Entities))
	}
	for _, e := range res.Entities {
		location := "file:sample.yaml"
		if e.Spec.Get("type").Str() == "composer-xr" {
			location = "file:xr.yaml"
		}
		for key, want := range map[string]string{
			"portal.io/discovered-at":              "", // There is no clock.
			"portal.io/discovered-from":            "", // There is no cluster.
			"composer.io/composition-ref":          "", // There is no Composition.
			"portal.io/cluster-id":                 "",
			"portal.io/cluster-namespace":          "",
			"portal.io/source-location":            location,
			"portal.io/managed-by-location":        location,
			"portal.io/managed-by-origin-location": location,
		} {
			got, there := e.Metadata.Annotations[key]
			if got != want || there && want == "" {
				t.Errorf("%s %s: annotation %s is %q, want %q", e.Kind, e.Metadata.Name, key, got, want)
			}
		}
	}
}

func TestDiscoveredAt(t *testing.T) {
	cases := map[string]struct {
		reason string
		now    time.Time
		want   string
	}{
		"zone":      {"A time is written in UTC with milliseconds.", found, "2026-02-28T23:02:03.456Z"},
		"whole":     {"The format does not depend on the digits.", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), "2026-01-01T00:00:00.000Z"},
		"not round": {"A time is rounded down.", time.Date(2025, 12, 31, 23, 59, 59, 999999999, time.UTC), "2025-12-31T23:59:59.999Z"},
		"zero":      {"Without a clock no time is written.", time.Time{}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			res := transform(t, engine.CLI, engine.Options{Now: tc.now}, engine.Input{Definition: define(t, words.Portal)})
			for _, e := range res.Entities {
				got := e.Metadata.Annotations["portal.io/discovered-at"]
				if got != tc.want {
					t.Errorf("%s\n%s has %q, want %q", tc.reason, e.Kind, got, tc.want)
				}
				if tc.want == "" {
					continue
				}
				at, err := time.Parse(time.RFC3339, got)
				if err != nil || !at.Equal(tc.now.Truncate(time.Millisecond)) {
					t.Errorf("%s\n%q reads as %v, %v", tc.reason, got, at, err)
				}
			}
		})
	}
}

func TestLabelsCopied(t *testing.T) {
	cases := map[string]struct {
		reason string
		edits  []edit
		want   map[string]string
	}{
		"both":   {"The version and type labels are copied.", []edit{labelled("example.dev/version", "1.2.0"), labelled("portal.io/template-type", "storage")}, map[string]string{"example.dev/version": "1.2.0", "portal.io/template-type": "storage"}},
		"others": {"Other labels are not copied.", []edit{labelled("example.dev/ingest", "true"), labelled("team", "a")}, map[string]string{}},
		"empty":  {"An empty value is copied.", []edit{labelled("example.dev/version", "")}, map[string]string{"example.dev/version": ""}},
		"bad":    {"A value that the catalog refuses is repaired.", []edit{labelled("example.dev/version", "1.2 beta")}, map[string]string{"example.dev/version": "1.2-beta-a31512af"}},
	}
	for name, tc := range cases {
		for _, v := range vocabularies {
			t.Run(name+" "+v.String(), func(t *testing.T) {
				res := transform(t, engine.CLI, engine.Options{}, surrounded(t, v, tc.edits...))
				if len(res.Entities) != 5 {
					t.Fatalf("got %q", list(res.Entities))
				}
				for _, e := range res.Entities {
					got := keysIn(words.Portal, e.Metadata.Labels)
					if diff := cmp.Diff(keysIn(v, tc.want), got); diff != "" {
						t.Errorf("%s\nlabels of %s %s (-want +got):\n%s", tc.reason, e.Kind, e.Metadata.Name, diff)
					}
				}
			})
		}
	}
}

// TestShape checks kinds, versions and namespaces of the entities.
func TestShape(t *testing.T) {
	for _, v := range vocabularies {
		res := transform(t, engine.CLI, engine.Options{Namespace: "data", Lifecycle: "experimental"}, surrounded(t, v))
		for _, e := range res.Entities {
			want := in(v, "portal.io/") + "v1alpha1"
			if e.Kind == entity.KindTemplate {
				want = in(v, "scaffolder.portal.io/") + "v1beta3"
			}
			if e.APIVersion != want || e.Metadata.Namespace != "data" {
				t.Errorf("%s %s: apiVersion %q, want %q; namespace %q, want data", e.Kind, e.Metadata.Name, e.APIVersion, want, e.Metadata.Namespace)
			}
		}
		api := first(t, res.Entities, entity.KindAPI).Spec
		if api.Get("type").Str() != "openapi" || api.Get("lifecycle").Str() != "experimental" {
			t.Errorf("API is of type %q, lifecycle %q", api.Get("type").Str(), api.Get("lifecycle").Str())
		}
		step := first(t, res.Entities, entity.KindTemplate).Spec.Get("steps").List()[0]
		if got := step.Get("action").Str(); got != in(v, "cluster:apply") {
			t.Errorf("action of the step is %q", got)
		}
		if got := step.Get("input", "manifest", "metadata", "annotations", in(v, "portal.io/owner")).Str(); got != "${{ parameters.owner }}" {
			t.Errorf("owner of the manifest is %q", got)
		}
	}
	res := transform(t, engine.CLI, engine.Options{}, engine.Input{Definition: define(t, words.Portal)})
	if got := first(t, res.Entities, entity.KindAPI).Spec.Get("lifecycle").Str(); got != "production" {
		t.Errorf("default lifecycle of an API is %q", got)
	}
}
