package impact

import (
	"slices"
	"strings"
)

// Outcome is what happens to resources.
type Outcome string

// The outcomes.
const (
	// Refused means that an API server refuses to create the resource again.
	Refused Outcome = "refused"
	// Dropped means that fields are lost at the next write.
	Dropped Outcome = "dropped"
	// Unserved means that the resource is no longer served as it is.
	Unserved Outcome = "unserved"
)

// consequence returns the outcome as the end of a sentence.
func (o Outcome) consequence() string {
	switch o {
	case Dropped:
		return "would lose data"
	case Unserved:
		return "would no longer be served"
	}
	return "would be refused"
}

// Result is what a change of definitions does to live resources.
type Result struct {
	// Checked counts all resources, and Affected those with at least one effect.
	Checked  int `json:"checked"`
	Affected int `json:"affected"`
	// Clusters counts the clusters with resources.
	Clusters    int          `json:"clusters"`
	Definitions []Definition `json:"definitions"`
}

// Definition is the result for one definition.
type Definition struct {
	Name     string `json:"name"`
	Checked  int    `json:"checked"`
	Affected int    `json:"affected"`
	Refused  int    `json:"refused"`
	Dropped  int    `json:"dropped"`
	Unserved int    `json:"unserved"`
	// Invalid counts resources that the old definition refuses already.
	Invalid  int      `json:"invalid"`
	Clusters []string `json:"clusters"`
	Effects  []Effect `json:"effects"`
}

// Effect is what one change does to resources.
type Effect struct {
	// Rule and Field are those of the change. They are empty if no single change is the
	// reason.
	Rule  string `json:"rule,omitempty"`
	Field string `json:"field,omitempty"`
	// Message says what changed, or why resources are refused.
	Message string  `json:"message"`
	Outcome Outcome `json:"outcome"`
	// Count counts the resources; Resources names the first ones.
	Count     int        `json:"count"`
	Clusters  []string   `json:"clusters"`
	Resources []Resource `json:"resources"`
}

// Resource names a resource.
type Resource struct {
	Cluster   string `json:"cluster"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Owner     string `json:"owner,omitempty"`
	// Entity is the reference of its entity, which Add does not know.
	Entity string `json:"entity,omitempty"`
}

// String returns cluster/namespace/name.
func (r Resource) String() string {
	return strings.Join(slices.DeleteFunc([]string{r.Cluster, r.Namespace, r.Name}, func(s string) bool { return s == "" }), "/")
}

// count adds the verdict about a resource.
func (t *tally) count(r Resource, v verdict, names int) {
	d := &t.result
	d.Checked++
	t.clusters[r.Cluster] = true
	if v.invalid {
		d.Invalid++
	}
	if len(v.effects) == 0 {
		return
	}
	d.Affected++
	seen := map[Outcome]bool{}
	for _, e := range v.effects {
		if !seen[e.outcome] {
			seen[e.outcome] = true
			switch e.outcome {
			case Refused:
				d.Refused++
			case Dropped:
				d.Dropped++
			case Unserved:
				d.Unserved++
			}
		}
		t.countEffect(r, e, names)
	}
}

// countEffect adds a resource to an effect. Reasons that no change explains are told
// apart up to a limit.
func (t *tally) countEffect(r Resource, e effect, names int) {
	i, ok := t.effects[e.effectKey]
	if !ok && e.change < 0 && len(t.effects) >= mostReasons+len(t.pair.Changes) {
		e.reason = "other reasons"
		i, ok = t.effects[e.effectKey]
	}
	if !ok {
		i = len(t.result.Effects)
		t.effects[e.effectKey] = i
		made := Effect{Message: t.describe(e.effectKey), Outcome: e.outcome, Field: e.field, Clusters: []string{}, Resources: []Resource{}}
		if e.change >= 0 {
			made.Rule, made.Field = t.pair.Changes[e.change].Rule, t.pair.Changes[e.change].Field
		}
		t.result.Effects = append(t.result.Effects, made)
	}
	to := &t.result.Effects[i]
	to.Count++
	if !slices.Contains(to.Clusters, r.Cluster) {
		to.Clusters = append(to.Clusters, r.Cluster)
	}
	if len(to.Resources) < names {
		to.Resources = append(to.Resources, r)
	}
}

// Result returns the counts so far: definitions by name, effects with the most resources
// first, and named resources by cluster, namespace and name.
func (im *Impact) Result() Result {
	im.mu.Lock()
	defer im.mu.Unlock()
	out := Result{Definitions: []Definition{}}
	clusters := map[string]bool{}
	for _, t := range im.all {
		d := t.result
		d.Clusters = []string{}
		for c := range t.clusters {
			clusters[c] = true
			d.Clusters = append(d.Clusters, c)
		}
		slices.Sort(d.Clusters)
		d.Effects = slices.Clone(d.Effects)
		for i := range d.Effects {
			e := &d.Effects[i]
			e.Clusters, e.Resources = slices.Sorted(slices.Values(e.Clusters)), slices.Clone(e.Resources)
			slices.SortFunc(e.Resources, func(a, b Resource) int { return strings.Compare(a.String(), b.String()) })
		}
		slices.SortStableFunc(d.Effects, func(a, b Effect) int {
			if a.Count != b.Count {
				return b.Count - a.Count
			}
			return strings.Compare(a.Message, b.Message)
		})
		out.Checked += d.Checked
		out.Affected += d.Affected
		out.Definitions = append(out.Definitions, d)
	}
	out.Clusters = len(clusters)
	slices.SortStableFunc(out.Definitions, func(a, b Definition) int { return strings.Compare(a.Name, b.Name) })
	return out
}
