package xrd

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// served returns a definition from a cluster with the conditions, and with a
// claim if claim is a field that names it.
func served(t *testing.T, source, cluster, claim, conditions string) *Definition {
	t.Helper()
	return NewDefinition(document(t, `{apiVersion: apiextensions.crossplane.io/v1, kind: CompositeResourceDefinition, metadata: {name: xs.example.org},
		spec: {group: example.org, names: {kind: X, plural: xs}, `+claim+` versions: [{name: v1, served: true}]}, status: {conditions: `+conditions+`}}`),
		Origin{Source: source, Cluster: cluster})
}

// TestUnserved checks the conditions that a cluster reports for a definition.
func TestUnserved(t *testing.T) {
	const claim = `claimNames: {kind: C, plural: cs},`
	cases := map[string]struct {
		reason, source, claim, conditions string
		want                              []string
	}{
		"None":        {"A definition without conditions is not reported.", SourceCluster, "", `[]`, nil},
		"Odd":         {"Invalid conditions are ignored.", SourceCluster, "", `[x, {type: 1}, {status: "False"}]`, nil},
		"Established": {"An established definition is served.", SourceCluster, "", `[{type: Established, status: "True", reason: WatchingCompositeResource}]`, nil},
		"Terminating": {"A definition that is not established is reported with the reason.", SourceCluster, "", `[{type: Established, status: "False", reason: TerminatingCompositeResource, message: "it goes"}]`,
			[]string{"prod: Established is False: TerminatingCompositeResource: it goes"}},
		"Unknown":  {"A status other than True and False is Unknown.", SourceCluster, "", `[{type: Established, status: Perhaps}]`, []string{"prod: Established is Unknown"}},
		"Offered":  {"A claim that is not offered is reported.", SourceCluster, claim, `[{type: Offered, status: "False", reason: R}, {type: Established, status: "True"}]`, []string{"prod: Offered is False: R"}},
		"Both":     {"Both conditions are reported.", SourceCluster, claim, `[{type: Offered, status: "False"}, {type: Established, status: "False"}]`, []string{"prod: Established is False", "prod: Offered is False"}},
		"NoClaim":  {"Offered is ignored if the definition has no claims.", SourceCluster, "", `[{type: Offered, status: "False"}, {type: Established, status: "True"}]`, nil},
		"Twice":    {"The last of several conditions of one type is used.", SourceCluster, "", `[{type: Established, status: "False"}, {type: Established, status: "True"}]`, nil},
		"File":     {"The status in a file is ignored.", SourceFile, "", `[{type: Established, status: "False"}]`, nil},
		"Git":      {"The status in a repository is ignored.", SourceGit, "", `[{type: Established, status: "False"}]`, nil},
		"Password": {"A password in a message is removed.", SourceCluster, "", `[{type: Established, status: "False", message: "cannot ask https://me:secret@host/x"}]`, []string{"prod: Established is False: cannot ask https://host/x"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := served(t, tc.source, "prod", tc.claim, tc.conditions)
			var got []string
			for _, u := range d.Unserved() {
				got = append(got, u.Cluster+": "+u.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
			pruned := NewDefinition(Prune(d.Node, RoleDefinition), d.Origin)
			if diff := cmp.Diff(d.Serving, pruned.Serving); diff != "" {
				t.Errorf("conditions after pruning (-whole, +pruned):\n%s", diff)
			}
		})
	}
	long := served(t, SourceCluster, "prod", "", `[{type: Established, status: "False", message: "`+strings.Repeat("é", 5000)+`"}]`)
	if got := long.Serving[0].Conditions[0].Message; len(got) > longestMessage || !strings.HasSuffix(got, "é…") {
		t.Errorf("message has %d bytes and ends in %q", len(got), got[len(got)-5:])
	}
}

// TestNotServed checks that a kind which is not served counts if the cluster
// has not written the condition, and only then.
func TestNotServed(t *testing.T) {
	const claim = `claimNames: {kind: C, plural: cs},`
	told := func(d *Definition) (out []string) {
		for _, u := range d.Unserved() {
			out = append(out, u.Type+" "+u.Status+" "+u.Reason)
		}
		return out
	}
	none := served(t, SourceCluster, "prod", claim, `[]`)
	none.NotServed("C")
	none.NotServed("X")
	if diff := cmp.Diff([]string{"Established Unknown NotServed", "Offered Unknown NotServed"}, told(none)); diff != "" {
		t.Errorf("definition without conditions (-want, +got):\n%s", diff)
	}
	written := served(t, SourceCluster, "prod", claim, `[{type: Established, status: "True"}, {type: Offered, status: "False", reason: R}]`)
	written.NotServed("X")
	written.NotServed("C")
	if diff := cmp.Diff([]string{"Offered False R"}, told(written)); diff != "" {
		t.Errorf("conditions of the cluster (-want, +got):\n%s", diff)
	}
}

// TestServingOfRecord checks that a record has no conditions, because it may be
// old.
func TestServingOfRecord(t *testing.T) {
	d := served(t, SourceCluster, "prod", "", `[{type: Established, status: "False"}]`)
	var set Set
	set.Add(NewRecord(d).Node(), Origin{File: "record.json"})
	if len(set.Definitions) != 1 || set.Definitions[0].Origin.Cluster != "prod" || set.Definitions[0].Serving != nil {
		t.Errorf("%+v", set.Definitions)
	}
}

// TestMergeServing checks that a merged definition has the conditions of all
// its clusters.
func TestMergeServing(t *testing.T) {
	bad := `[{type: Established, status: "False", reason: R}]`
	good := `[{type: Established, status: "True"}]`
	kept, findings := Merge([]*Definition{
		served(t, SourceCluster, "b", "", bad), served(t, SourceCluster, "a", "", good), served(t, SourceCluster, "b", "", bad), served(t, SourceFile, "", "", bad),
	})
	if len(kept) != 1 || len(findings) != 0 {
		t.Fatalf("%d definitions, findings %v; want a status to make no difference", len(kept), findings)
	}
	want := []Serving{
		{"a", []Condition{{Type: ConditionEstablished, Status: StatusTrue}}},
		{"b", []Condition{{Type: ConditionEstablished, Status: StatusFalse, Reason: "R"}}},
	}
	if diff := cmp.Diff(want, kept[0].Serving); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
