package variant

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/source"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/selector"
)

// Remedy is what makes a variant select a definition.
type Remedy struct {
	// Change is the change to the metadata of the definition; nil if none helps.
	Change *Change `json:"change,omitempty"`
	// Command makes the change in a cluster; empty for files.
	Command string `json:"command,omitempty"`
	// Setting is the configuration key that excludes the definition; empty if none does.
	Setting string `json:"setting,omitempty"`
}

// Change is a change to the labels or annotations of a definition.
type Change struct {
	// Field is labels or annotations.
	Field string `json:"field"`
	Key   string `json:"key"`
	// Value is the value to set. If Remove is set, the key must be removed instead.
	Value  string `json:"value,omitempty"`
	Remove bool   `json:"remove,omitempty"`
}

// Found is a definition that a variant does not select, and where it was found.
type Found struct {
	Name string
	// Why is the reason that Refuse returned.
	Why string
	// Cluster is the name of the cluster; empty for files. Words is the vocabulary of the
	// definition, which is known in clusters only.
	Cluster string
	Words   words.Vocabulary
}

// Remedy returns what makes the variant select a definition; nil if nothing does. A
// definition may be refused for a second reason afterwards.
func (v *Variant) Remedy(f Found) *Remedy {
	if setting := v.excludes(f); setting != "" {
		return &Remedy{Setting: words.Upstream.Out(words.Root, v.Name) + ".xrdFilters." + setting}
	}
	change, ok := v.change(f)
	if !ok {
		return nil
	}
	r := &Remedy{Change: &change}
	if i := slices.IndexFunc(v.Clusters, func(c source.Cluster) bool { return c.Name == f.Cluster }); f.Cluster != "" && i >= 0 {
		r.Command = Command(f.Name, change, f.Words, v.Clusters[i].Context)
	}
	return r
}

// excludes returns the setting of the filter that excludes a definition by its name or
// group.
func (v *Variant) excludes(f Found) string {
	// The filter looks at nothing else of this definition.
	_, group, _ := strings.Cut(f.Name, ".")
	d := &xrd.Definition{Group: group}
	d.Name = f.Name
	for setting, filter := range map[string]xrd.Filter{"exclude": {Exclude: v.Filter.Exclude}, "groups": {Groups: v.Filter.Groups}} {
		if _, why := filter.Admit(d); why == f.Why && why != "" {
			return setting
		}
	}
	return ""
}

// change returns the change to the metadata that removes the reason.
func (v *Variant) change(f Found) (Change, bool) {
	for _, speaks := range []words.Vocabulary{words.Upstream, words.Portal} {
		if v.Profile.RequiredLabel != "" && f.Why == engine.Unlabelled(speaks, v.Profile.RequiredLabel) {
			return Change{Field: "labels", Key: speaks.Out(words.Key, v.Profile.RequiredLabel), Value: "true"}, true
		}
	}
	speaks := f.Words
	if f.Cluster == "" {
		speaks = words.Upstream
	}
	for _, of := range []struct {
		field, word string
		selector    selector.Selector
	}{{"labels", "label", v.Filter.Labels}, {"annotations", "annotation", v.Filter.Annotations}} {
		if fix, ok := of.selector.FixFor(of.word, f.Why); ok {
			return Change{Field: of.field, Key: speaks.Out(words.Key, fix.Key), Value: fix.Value, Remove: fix.Remove}, true
		}
	}
	return Change{}, false
}

// Command returns the command that changes a definition in a cluster. kubeContext is a
// context of kubeconfig; empty means the current one.
func Command(name string, c Change, speaks words.Vocabulary, kubeContext string) string {
	verb := map[string]string{"labels": "label", "annotations": "annotate"}[c.Field]
	change := c.Key + "=" + c.Value
	if c.Remove {
		change = c.Key + "-"
	}
	out := fmt.Sprintf("kubectl %s %ss.%s %s %s", verb, strings.ToLower(xrd.KindDefinition), speaks.Out(words.Group, words.GroupExtensions), quote(name), quote(change))
	if kubeContext != "" {
		out += " --context " + quote(kubeContext)
	}
	return out
}

var plain = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// quote quotes a word for a shell, if that is necessary.
func quote(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
