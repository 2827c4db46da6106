package judge

import (
	"slices"
	"strings"
)

// difference is a way in which our answer differs from the cluster's on purpose.
type difference struct {
	reason string
	// rule and message are of an error that we report and the cluster takes.
	// Without them it is the cluster that refuses, and refusal is in what it says.
	rule, message string
	refusal       string
}

// differences are all there are. One that is not among them fails the test, and
// so does one that is not seen.
var differences = map[string]difference{
	"key twice": {
		reason:  "kubectl takes the last of two equal keys without a word, so one of the two is lost; strict field validation refuses it",
		rule:    "XRD001",
		message: "is given twice",
	},
	"v1beta1": {
		reason:  "Crossplane 2 does not serve it any more, clusters of the first generation do: it is read as v1, with a warning",
		refusal: `no kind in version "v1beta1"`,
	},
	"required but absent": {
		reason:  "the cluster takes the definition and then refuses every composite of it",
		rule:    "XRD072",
		message: "which is not among properties",
	},
	"nothing served": {
		reason:  "the cluster takes the definition, but nothing can be created, so there is no entity to make",
		rule:    "XRD044",
		message: "no version is served",
	},
	"composition without a name": {
		reason:  "the cluster takes an empty name, and no composite finds a Composition",
		rule:    "XRD035",
		message: "names no Composition",
	},
	"status of another type": {
		reason:  "the cluster drops the status of a new object unread; somebody who writes text there means something else",
		rule:    "XRD016",
		message: "status is a string",
	},
}

// explain returns the differences that c is a case of: one for what the cluster
// says, or one for each rule that we say is broken. It returns none if there is
// one that is not known.
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
