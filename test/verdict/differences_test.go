package judge

import (
	"slices"
	"strings"
)

// difference is an intended difference between our result and the cluster's.
type difference struct {
	reason string
	// rule and message are of an error that we report for a definition that the
	// cluster accepts. Without them the cluster refuses, and refusal is a part
	// of its message.
	rule, message string
	refusal       string
}

// differences has all intended differences. An unknown difference fails the
// test, and so does one that does not occur.
var differences = map[string]difference{
	"key twice": {
		reason:  "kubectl silently takes the last of two equal keys, so one of the two is lost; strict field validation refuses it",
		rule:    "XRD001",
		message: "is given twice",
	},
	"v1beta1": {
		reason:  "Crossplane 2 does not serve this version any more, clusters with Crossplane 1 do: it is read as v1, with a warning",
		refusal: `no kind in version "v1beta1"`,
	},
	"required but absent": {
		reason:  "the cluster accepts the definition and then refuses every composite of it",
		rule:    "XRD072",
		message: "which is not among properties",
	},
	"nothing served": {
		reason:  "the cluster accepts the definition, but nothing can be created, so there is no entity to make",
		rule:    "XRD044",
		message: "no version is served",
	},
	"composition without a name": {
		reason:  "the cluster accepts an empty name, and no composite finds a Composition",
		rule:    "XRD035",
		message: "names no Composition",
	},
	"scope of v1 in v2": {
		reason:  "reported as a warning (XRD032), because a cluster also lists its v1 definitions as v2",
		refusal: `spec.scope: Unsupported value: "LegacyCluster": supported values: "Namespaced", "Cluster"`,
	},
	"conversion None": {
		reason:  "Crossplane 2.4 refuses the strategy that it documents as the default: its rule about webhooks demands one always",
		refusal: "Webhook configuration is required when conversion strategy is Webhook",
	},
	"default in a map": {
		reason:  "the cluster checks no defaults inside additionalProperties, but sets them, and refuses every composite that gets one",
		rule:    "XRD075",
		message: "additionalProperties",
	},
	"status of another type": {
		reason:  "the cluster drops the status of a new object unread, but a text there is a mistake of the author",
		rule:    "XRD016",
		message: "status is a string",
	},
}

// explain returns the known differences that apply to c: one for the message of
// the cluster, or one for each rule that we report. It returns none if one of
// them is unknown.
func explain(c *judged) []string {
	if len(c.rules) == 0 {
		for name, d := range differences {
			if d.refusal != "" && slices.ContainsFunc(c.real.Reasons, func(s string) bool { return strings.Contains(s, d.refusal) }) {
				return []string{name}
			}
		}
		return nil
	}
	var all []string
	for i, rule := range c.rules {
		name := ""
		for n, d := range differences {
			if d.rule == rule && strings.Contains(c.told[i], d.message) {
				name = n
			}
		}
		if name == "" {
			return nil
		}
		all = append(all, name)
	}
	return all
}
