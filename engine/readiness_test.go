package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/composed"
)

// running is the origin of objects in a cluster.
func running(name string) xrd.Origin {
	return xrd.Origin{Source: xrd.SourceCluster, Cluster: name, Location: "url:https://" + name}
}

func TestReadiness(t *testing.T) {
	const since = "2026-01-01T00:00:00Z"
	timeless := condition("Ready", "True", "")
	delete(timeless, "lastTransitionTime")
	local := condition("Ready", "True", "")
	local["lastTransitionTime"] = "2026-01-01T02:00:00.5+02:00"
	wrong := condition("Ready", "True", "")
	wrong["lastTransitionTime"] = "yesterday"
	cases := map[string]struct {
		reason string
		origin xrd.Origin
		status any
		want   []string
	}{
		"ready":       {"The condition Ready decides.", running("a"), object{"conditions": []any{condition("Synced", "False", ""), condition("Ready", "True", "")}}, []string{"ready", since}},
		"not ready":   {"A false condition is not ready.", running("a"), object{"conditions": []any{condition("Ready", "False", "Creating")}}, []string{"not ready", since}},
		"unsynced":    {"A composite that cannot be reconciled is not ready.", running("a"), object{"conditions": []any{condition("Synced", "False", "ReconcileError")}}, []string{"not ready", since}},
		"synced":      {"A composite that is only reconciled is unknown, without a time.", running("a"), object{"conditions": []any{condition("Synced", "True", "")}}, []string{"unknown"}},
		"unknown":     {"A condition can be unknown, since a time.", running("a"), object{"conditions": []any{condition("Ready", "Unknown", "")}}, []string{"unknown", since}},
		"no time":     {"A condition without a time has no time.", running("a"), object{"conditions": []any{timeless}}, []string{"ready"}},
		"wrong time":  {"What is no time is omitted.", running("a"), object{"conditions": []any{wrong}}, []string{"ready"}},
		"zone":        {"Times are in UTC, in whole seconds.", running("a"), object{"conditions": []any{local}}, []string{"ready", since}},
		"new":         {"A composite in a cluster that has no status yet is unknown.", running("a"), nil, []string{"unknown"}},
		"odd":         {"An invalid status is unknown.", running("a"), "x", []string{"unknown"}},
		"file":        {"A composite in a file is what it becomes in a cluster: unknown at first.", xrd.Origin{File: "x.yaml"}, nil, []string{"unknown"}},
		"export":      {"A composite in a file with a status was exported from a cluster.", xrd.Origin{File: "x.yaml"}, object{"conditions": []any{condition("Ready", "True", "")}}, []string{"ready", since}},
		"last counts": {"Of several conditions of a type the last one counts.", running("a"), object{"conditions": []any{wrong, condition("Ready", "False", "")}}, []string{"not ready", since}},
	}
	for name, tc := range cases {
		for _, v := range vocabularies {
			t.Run(name+" "+v.String(), func(t *testing.T) {
				var edits []edit
				if tc.status != nil {
					edits = append(edits, set(tc.status, "status"))
				}
				input := engine.Input{Definition: define(t, v)}
				give(t, v, &input, tc.origin, composite("shop", "orders", edits...))
				res := transform(t, engine.CLI, engine.Options{}, input)
				got := []string{}
				for _, key := range []string{"readiness", "readinessSince"} {
					if f := res.Entities[len(res.Entities)-1].Spec.Get(key); f != nil {
						got = append(got, f.Str())
					}
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
				}
			})
		}
	}
}

// TestReadinessOfStored checks arbitrary conditions: the readiness of what is stored of an
// object is that of the whole object, and nothing but a change of it, or of its time,
// changes its fields.
func TestReadinessOfStored(t *testing.T) {
	types := rapid.SampledFrom([]string{"Ready", "Available", "Healthy", "Established", "Complete", "Synced", "Other", ""})
	status := rapid.SampledFrom([]string{"True", "False", "Unknown", "x", ""})
	when := rapid.Custom(func(t *rapid.T) string {
		return time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "seconds"), rapid.Int64Range(0, 2).Draw(t, "nanoseconds")).Format(time.RFC3339Nano)
	})
	rapid.Check(t, func(r *rapid.T) {
		all := tree.Arr()
		for range rapid.IntRange(0, 5).Draw(r, "conditions") {
			all.Items = append(all.Items, tree.Obj(
				tree.F("type", tree.Str(types.Draw(r, "type"))), tree.F("status", tree.Str(status.Draw(r, "status"))),
				tree.F("lastTransitionTime", tree.Str(rapid.OneOf(when, rapid.String()).Draw(r, "time"))),
				tree.F("lastHeartbeatTime", tree.Str(when.Draw(r, "heartbeat"))), tree.F("message", tree.Str(rapid.String().Draw(r, "message"))),
			))
		}
		whole := tree.Obj(tree.F("status", tree.Obj(tree.F("conditions", all))))
		stored := tree.Obj(tree.F("status", engine.Telling(whole.Get("status"))))
		is, by := composed.ReadinessOf(whole)
		isStored, byStored := composed.ReadinessOf(stored)
		at := func(c *composed.Condition) string {
			if c == nil || c.Since.IsZero() {
				return ""
			}
			return c.Since.UTC().Format(time.RFC3339)
		}
		if is != isStored || at(by) != at(byStored) {
			r.Fatalf("whole object is %q since %q, what is stored of it %q since %q", is, at(by), isStored, at(byStored))
		}
		for _, it := range all.Items {
			it.Set("lastHeartbeatTime", tree.Str("later"))
			it.Set("message", tree.Str("another"))
		}
		later := tree.Obj(tree.F("status", engine.Telling(whole.Get("status"))))
		if !stored.Equal(later) {
			r.Fatal("a heartbeat or a message changed what is stored")
		}
	})
}

// TestParts checks which composites a composite depends on.
func TestParts(t *testing.T) {
	ref := func(kind, name string) object {
		return object{"apiVersion": "platform.io/v1", "kind": kind, "name": name}
	}
	other := engine.CompositeKey{Cluster: "east", Group: "net.example.org", Kind: "Network", Namespace: "shop", Name: "net"}
	wide := other
	wide.Namespace = ""
	elsewhere := other
	elsewhere.Cluster = "west"
	network := object{"apiVersion": "net.example.org/v1beta1", "kind": "Network", "name": "net"}
	named := func(k engine.CompositeKey) string { return fmt.Sprintf("%s in %s %s", k.Name, k.Cluster, k.Namespace) }
	cases := map[string]struct {
		reason  string
		spec    object
		related []engine.CompositeKey
		want    []string
	}{
		"none":      {"A composite without references composes nothing.", object{}, []engine.CompositeKey{other}, nil},
		"v1":        {"References of v1 composites are in the spec.", object{"resourceRefs": []any{ref("Database", "carts")}}, nil, []string{"carts in east shop"}},
		"v2":        {"References of v2 composites are in spec.crossplane.", object{"crossplane": object{"resourceRefs": []any{ref("Database", "carts")}}}, nil, []string{"carts in east shop"}},
		"other":     {"A composite of another definition has a Resource, too, whatever version it is read through.", object{"resourceRefs": []any{network}}, []engine.CompositeKey{other}, []string{"net in east shop"}},
		"wide":      {"A composite of a kind without namespaces is found.", object{"resourceRefs": []any{network}}, []engine.CompositeKey{wide}, []string{"net in east "}},
		"elsewhere": {"An object of the same name in another cluster is another one.", object{"resourceRefs": []any{network, ref("Database", "faraway")}}, []engine.CompositeKey{elsewhere}, nil},
		"unknown":   {"An object that has no Resource is no dependency.", object{"resourceRefs": []any{network, ref("Database", "nosuch"), ref("Bucket", "carts")}}, nil, nil},
		"itself":    {"A composite does not depend on itself.", object{"resourceRefs": []any{ref("Database", "orders")}}, nil, nil},
		"twice":     {"Each dependency is listed once, in order.", object{"resourceRefs": []any{ref("Database", "carts"), network, ref("Database", "carts"), ref("Database", "bills")}}, []engine.CompositeKey{other}, []string{"bills in east shop", "carts in east shop", "net in east shop"}},
		"odd":       {"Invalid references are ignored.", object{"resourceRefs": []any{"carts", 7, object{"name": "carts"}, object{"apiVersion": "v1", "kind": "Database", "name": "carts"}}}, nil, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			input := engine.Input{Definition: define(t, words.Portal), Related: tc.related}
			give(t, words.Portal, &input, running("east"), composite("shop", "orders", set(tc.spec, "spec")), composite("shop", "carts"), composite("shop", "bills"))
			give(t, words.Portal, &input, running("west"), composite("shop", "faraway"))
			res := transform(t, engine.CLI, engine.Options{}, input)
			called := map[string]string{}
			for _, c := range input.Composites {
				called[refOf(res.Entities, c.Name)] = named(engine.KeyOf(c))
			}
			var got []string
			for _, to := range find(t, res.Entities, "orders").Spec.Get("dependsOn").Strings()[1:] {
				if known := called[to]; known != "" {
					got = append(got, known)
					continue
				}
				got = append(got, named(tc.related[0]))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// find returns the entity with a title.
func find(t *testing.T, all []*entity.Entity, title string) *entity.Entity {
	t.Helper()
	for _, e := range all {
		if e.Metadata.Title == title {
			return e
		}
	}
	t.Fatalf("no entity has the title %q", title)
	return nil
}

// refOf returns the reference of the entity with a title.
func refOf(all []*entity.Entity, title string) string {
	for _, e := range all {
		if e.Metadata.Title == title {
			return "resource:" + e.Metadata.Namespace + "/" + e.Metadata.Name
		}
	}
	return ""
}

// TestFingerprintRelated checks that composites of other definitions are part of the
// fingerprint.
func TestFingerprintRelated(t *testing.T) {
	in := engine.Input{Definition: define(t, words.Portal)}
	before := engine.Fingerprint(in)
	in.Related = []engine.CompositeKey{{Cluster: "a", Group: "g", Kind: "k", Name: "n"}}
	if engine.Fingerprint(in) == before {
		t.Error("a related composite does not change the fingerprint")
	}
}
