package workload

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd/selector"
)

// selection is what the annotations of an entity select.
type selection struct {
	// labels are label selectors. An object belongs to the entity if one of them matches.
	labels []string
	// namespace is the only namespace; empty means all.
	namespace string
	// cluster is the only cluster; empty means all.
	cluster string
	// found are the clusters that an ingested entity was found in; nil means all. The
	// author of an object in one cluster selects nothing in another.
	found []string
}

// empty reports whether the entity has no workloads.
func (s selection) empty() bool { return len(s.labels) == 0 }

// String distinguishes selections.
func (s selection) String() string { return fmt.Sprintf("%q %q", s.labels, s.namespace) }

// clusters returns the names of the clusters to read.
func (s selection) clusters(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool {
		return s.cluster != "" && s.cluster != name || s.found != nil && !slices.Contains(s.found, name)
	})
}

// has reports whether the objects of a namespace of a cluster can be selected.
func (s selection) has(all []string, cluster, namespace string) bool {
	return !s.empty() && slices.Contains(s.clusters(all), cluster) && (s.namespace == "" || s.namespace == namespace)
}

var (
	labelValue = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
	dnsLabel   = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	dnsName    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

// mostName is the length limit of an object's name.
const mostName = 253

// isName reports whether an object can have a name.
func isName(s string) bool { return len(s) <= mostName && dnsName.MatchString(s) }

// selectionOf reads the annotations of an entity. A value that could select other objects
// than it says is refused. An entity without id and selector selects nothing: its name is
// not used instead, because entities are named without regard to labels of clusters.
func selectionOf(e Entity) (selection, error) {
	notes := words.KeysIn(e.Annotations)
	wrong := func(key, want string) error {
		return rest.Input("Annotation %s of %s is %q, but must be %s", words.Upstream.Out(words.Key, key), e.Resource.Ref, rest.Short(notes[key]), want)
	}
	s := selection{namespace: notes[words.AnnotationClusterNamespace], cluster: notes[words.AnnotationWorkloadCluster]}
	if from := notes[words.AnnotationDiscoveredFrom]; from != "" && e.Resource.Origin == permission.OriginDefinition {
		s.found = strings.Split(from, ",")
	}
	if s.namespace != "" && !dnsLabel.MatchString(s.namespace) {
		return s, wrong(words.AnnotationClusterNamespace, "the name of a namespace")
	}
	id, text := notes[words.AnnotationClusterID], strings.TrimSpace(notes[words.AnnotationWorkloadSelector])
	switch {
	case text != "":
		parsed, err := selector.Parse(text)
		if err != nil {
			return s, wrong(words.AnnotationWorkloadSelector, "a label selector")
		}
		if parsed.Matches(nil) {
			return s, wrong(words.AnnotationWorkloadSelector, "a label selector that requires a label")
		}
		s.labels = []string{text}
	case id != "":
		if !labelValue.MatchString(id) {
			return s, wrong(words.AnnotationClusterID, "the value of a label")
		}
		s.labels = []string{words.Upstream.Out(words.Key, words.LabelClusterID) + "=" + id, words.LabelClusterID + "=" + id}
	}
	return s, nil
}

// kind is a kind of object.
type kind struct {
	// typ is its type in responses.
	typ                    string
	group, version, plural string
}

// path returns the path of the list of a namespace; of all namespaces, if it is empty.
func (k kind) path(namespace string) string {
	p := "/api/" + k.version
	if k.group != "" {
		p = "/apis/" + k.group + "/" + k.version
	}
	if namespace != "" {
		p += "/namespaces/" + namespace
	}
	return p + "/" + k.plural
}

// pods is the kind of pods.
var pods = kind{"pods", "", "v1", "pods"}

// usualKinds are the kinds that Backstage's plugin reads.
var usualKinds = []kind{
	pods,
	{"services", "", "v1", "services"},
	{"configmaps", "", "v1", "configmaps"},
	{"limitranges", "", "v1", "limitranges"},
	{"resourcequotas", "", "v1", "resourcequotas"},
	{"deployments", "apps", "v1", "deployments"},
	{"replicasets", "apps", "v1", "replicasets"},
	{"horizontalpodautoscalers", "autoscaling", "v2", "horizontalpodautoscalers"},
	{"jobs", "batch", "v1", "jobs"},
	{"cronjobs", "batch", "v1", "cronjobs"},
	{"ingresses", "networking.k8s.io", "v1", "ingresses"},
	{"statefulsets", "apps", "v1", "statefulsets"},
	{"daemonsets", "apps", "v1", "daemonsets"},
}

// matcher is a kind in a request.
type matcher struct {
	Group      string `json:"group"`
	APIVersion string `json:"apiVersion"`
	Plural     string `json:"plural"`
}

const (
	// customType is the type of custom resources in responses.
	customType = "customresources"
	// mostCustom is how many kinds a request may have.
	mostCustom = 20
	// secrets are never read, whatever the group that serves them.
	secrets = "secrets"
)

var apiVersion = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)

// customKinds returns the kinds of a request.
func customKinds(all []matcher) ([]kind, error) {
	if len(all) == 0 || len(all) > mostCustom {
		return nil, rest.Input("request/body/customResources must have 1 to %d items", mostCustom)
	}
	var out []kind
	for i, m := range all {
		at := fmt.Sprintf("request/body/customResources/%d/", i)
		switch {
		case m.Group != "" && !isName(m.Group):
			return nil, rest.Input("%sgroup is %q, but must be an API group", at, rest.Short(m.Group))
		case !apiVersion.MatchString(m.APIVersion):
			return nil, rest.Input("%sapiVersion is %q, but must be a version such as v1", at, rest.Short(m.APIVersion))
		case !dnsLabel.MatchString(m.Plural):
			return nil, rest.Input("%splural is %q, but must be the plural of a kind", at, rest.Short(m.Plural))
		case m.Plural == secrets:
			return nil, rest.NotAllowed("Secrets are not shown")
		}
		out = append(out, kind{customType, m.Group, m.APIVersion, m.Plural})
	}
	return out, nil
}

// keyOf distinguishes kinds in the readings that are shared.
func keyOf(kinds []kind) string {
	if len(kinds) > 0 && cmp.Or(kinds[0].typ, customType) != customType {
		return ""
	}
	return fmt.Sprint(kinds)
}
