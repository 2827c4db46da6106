package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/config/rule"
)

// TestLimits checks values at a limit and just beyond it.
func TestLimits(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   []string
	}{
		"LongestLifetime": {
			reason: "The maximum of a duration is allowed.",
			text:   "auth: { backstageTokenExpiration: 24h }",
		},
		"LongLifetime": {
			reason: "A duration that exceeds its maximum by a millisecond is reported.",
			text:   "auth: { backstageTokenExpiration: 24h1ms }",
			want:   []string{"auth.backstageTokenExpiration " + rule.Value},
		},
		"ShortestLifetime": {
			reason: "The minimum of a duration is allowed.",
			text:   "auth: { backstageTokenExpiration: 1m }",
		},
		"ShortLifetime": {
			reason: "A duration that is a millisecond below its minimum is reported.",
			text:   "auth: { backstageTokenExpiration: 59999ms }",
			want:   []string{"auth.backstageTokenExpiration " + rule.Value},
		},
		"LongestDuration": {
			reason: "A duration without its own maximum can be as long as any.",
			text:   "scaffolder: { keepTasks: 366d }",
		},
		"LongDuration": {
			reason: "No duration can exceed the general maximum.",
			text:   "scaffolder: { keepTasks: 366d1ms }",
			want:   []string{"scaffolder.keepTasks " + rule.Value},
		},
		"LargestNumber": {
			reason: "The maximum of a number is allowed.",
			text:   "scaffolder: { concurrentTasksLimit: 1000 }",
		},
		"LargeNumber": {
			reason: "A number above its maximum is reported.",
			text:   "scaffolder: { concurrentTasksLimit: 1001 }",
			want:   []string{"scaffolder.concurrentTasksLimit " + rule.Value},
		},
		"SmallestNumber": {
			reason: "The minimum of a number is allowed.",
			text:   "scaffolder: { concurrentTasksLimit: 1 }",
		},
		"SmallNumber": {
			reason: "A number below its minimum is reported.",
			text:   "scaffolder: { concurrentTasksLimit: 0 }",
			want:   []string{"scaffolder.concurrentTasksLimit " + rule.Value},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, findingsIn(tc.text)); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRuleTargets checks that the patterns of a permission rule apply to all of its
// permissions. A rule without permissions is for all of them, and most have no cluster
// or template that a pattern could match.
func TestRuleTargets(t *testing.T) {
	cases := map[string]struct {
		reason string
		rule   string
		want   []string
	}{
		"Named": {
			reason: "A permission that has a cluster can have a cluster pattern.",
			rule:   "permissions: [cluster.resource.delete], clusters: [prod]",
		},
		"Prefix": {
			reason: "A prefix that only matches such permissions can have a cluster pattern.",
			rule:   "permissions: ['cluster.resource.*'], clusters: [prod]",
		},
		"Other": {
			reason: "A permission that has no cluster cannot have a cluster pattern.",
			rule:   "permissions: [cluster.resource.delete, catalog.entity.delete], clusters: [prod]",
			want:   []string{"permission.rules[0].clusters " + rule.Together},
		},
		"WidePrefix": {
			reason: "A prefix that also matches permissions without a template cannot have a template pattern.",
			rule:   "permissions: ['scaffolder.*'], templates: ['*']",
			want:   []string{"permission.rules[0].templates " + rule.Together},
		},
		"None": {
			reason: "A rule without permissions applies to all, most of which have no cluster.",
			rule:   "clusters: [prod]",
			want:   []string{"permission.rules[0].clusters " + rule.Together},
		},
		"NoneNamespace": {
			reason: "Only rules for resources of clusters can have patterns of namespaces.",
			rule:   "namespaces: ['team-*']",
			want:   []string{"permission.rules[0].namespaces[0] " + rule.Value},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, findingsIn("permission: { rules: [ { "+tc.rule+", result: deny } ] }")); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// findingsIn returns the keys and rules of the findings for a file.
func findingsIn(text string) []string {
	var out []string
	_, fs := load(text, nil)
	for _, f := range fs {
		out = append(out, f.Path+" "+f.Rule)
	}
	return out
}
