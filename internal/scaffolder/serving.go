package scaffolder

import (
	"cmp"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/words"
)

// unlocked returns an error if the chosen cluster does not serve the kind that a
// Template creates, according to the last scan. Change requests are not checked,
// because they are applied later.
func (s *Scaffolder) unlocked(t, values *tree.Node) error {
	notes := t.Get("metadata", "annotations").StringMap()
	unserved := engine.Unserved(notes)
	if len(unserved) == 0 || !applies(t) || values.Get(form.ParamDelivery).Str() == form.DeliverChange {
		return nil
	}
	at := values.Get(form.ParamCluster).Str()
	if s.Cluster != nil {
		at = s.Cluster(at)
	}
	name := cmp.Or(words.KeysIn(notes)[words.AnnotationXRDName], "of the Template")
	var why []string
	for _, u := range unserved {
		if u.Cluster == at {
			why = append(why, u.String())
		}
	}
	if len(why) == 0 {
		return nil
	}
	return rest.Conflict("cannot run the Template in cluster %q: XRD %s: %s; wait until the condition is True, or choose another cluster", at, name, strings.Join(why, "; "))
}

// applies reports whether a Template has a step that applies to a cluster.
func applies(t *tree.Node) bool {
	return slices.ContainsFunc(t.Get("spec", "steps").List(), func(step *tree.Node) bool {
		return words.In(words.Action, step.Get("action").Str()) == words.ActionApply
	})
}
