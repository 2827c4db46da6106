package migration

import (
	"cmp"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
)

// DefaultPrefix is the prefix of the annotations of kubernetes-ingestor, which
// kubernetesIngestor.annotationPrefix in Backstage changes.
const DefaultPrefix = "terasky.backstage.io"

// originCluster is how the origin of an entity of kubernetes-ingestor begins; the name of
// the cluster follows.
const originCluster = "cluster origin: "

// key identifies what an entity stands for, independently of the entity's name. Empty
// fields are those that the kind of thing does not have.
type key struct {
	// thing is one of the constants below.
	thing string
	// cluster, group, kind, namespace and name are those of a Kubernetes object; for an XRD,
	// name is that of the XRD, and version one of its versions.
	cluster, group, kind, namespace, name, version string
}

// The things that entities of kubernetes-ingestor stand for, as reports name them.
const (
	thingTemplate  = "Template of an XRD"
	thingAPI       = "API of an XRD"
	thingComposite = "composite or claim"
	thingWorkload  = "workload"
	thingNamespace = "System of a namespace"
	thingOther     = "other"
)

// ingestor reads the entities that TeraSky's kubernetes-ingestor made.
type ingestor struct {
	prefix string
	// definitions maps the kind of an XRD, in lower case, and its group to its name, because
	// the names of APIs contain the kind.
	definitions map[[2]string]string
}

// identify returns what an entity of kubernetes-ingestor stands for; false if
// kubernetes-ingestor did not make the entity. It goes by what the entity says, because
// its name depends on the configuration.
func (g *ingestor) identify(n *tree.Node) (key, bool) {
	own := func(name string) string { return n.Get("metadata", "annotations", g.prefix+"/"+name).Str() }
	cluster, made := strings.CutPrefix(annotation(n, words.AnnotationManagedByOrigin), originCluster)
	if !made {
		cluster = cmp.Or(annotation(n, words.AnnotationWorkloadCluster), tagged(n, "cluster:"))
	}
	kind, name := n.Get("kind").Str(), n.Get("metadata", "name").Str()
	selector := labelsOf(annotation(n, words.AnnotationWorkloadSelector))
	switch {
	case own("claim-name") != "":
		return key{thing: thingComposite, cluster: cluster, group: own("claim-group"), kind: own("claim-kind"), namespace: selector["crossplane.io/claim-namespace"], name: own("claim-name")}, true
	case own("composite-name") != "":
		k := key{thing: thingComposite, cluster: cluster, group: own("composite-group"), kind: own("composite-kind"), namespace: own("composite-namespace"), name: own("composite-name")}
		if own("crossplane-scope") == "Cluster" {
			k.namespace = "" // The annotation is "default".
		}
		return k, true
	case own("kubernetes-resource-name") != "":
		// The portal groups workloads by the value of a label.
		return key{thing: thingWorkload, name: selector[words.Upstream.Out(words.Key, words.LabelClusterID)]}, true
	case kind == entity.KindTemplate && own("crossplane-version") != "":
		of := n.Get("spec", "type").Str()
		return key{thing: thingTemplate, name: of, version: strings.TrimPrefix(name, of+"-")}, true
	case kind == entity.KindAPI && hasTag(n, "crossplane") && strings.Contains(name, "--"):
		of, version, _ := strings.Cut(name, "--")
		lower, group, _ := strings.Cut(of, "-")
		return key{thing: thingAPI, group: group, kind: lower, version: version}, true
	case kind == entity.KindSystem && n.Get("spec", "type").Str() == "kubernetes-namespace":
		return key{thing: thingNamespace}, true
	}
	return key{thing: thingOther}, made || own("kro-instance-name") != ""
}

// learn remembers the kind of the XRD of a Template, which stands for k.
func (g *ingestor) learn(n *tree.Node, k key) {
	if k.thing == thingTemplate {
		_, group, _ := strings.Cut(k.name, ".")
		g.definitions[[2]string{strings.ToLower(n.Get("metadata", "title").Str()), group}] = k.name
	}
}

// ours returns what an entity of the portal stands for; false for entities without a
// counterpart in kubernetes-ingestor. The entity is in the contract's vocabulary.
func ours(n *tree.Node) (key, bool) {
	note := func(name string) string { return n.Get("metadata", "annotations", name).Str() }
	of := key{name: note(words.AnnotationXRDName), version: note(words.AnnotationXRDVersion)}
	switch kind := n.Get("kind").Str(); {
	case kind == entity.KindComponent && note(words.AnnotationClusterID) != "":
		return key{thing: thingWorkload, name: note(words.AnnotationClusterID)}, true
	case of.name == "":
		return key{}, false
	case note(words.AnnotationXRName) != "":
		group, _, _ := strings.Cut(note(words.AnnotationXRAPIVersion), "/")
		return key{
			thing: thingComposite, cluster: note(words.AnnotationDiscoveredFrom), group: group, kind: note(words.AnnotationXRKind),
			namespace: note(words.AnnotationClusterNamespace), name: note(words.AnnotationXRName),
		}, true
	case kind == entity.KindTemplate && cmp.Or(note(words.AnnotationTemplatePurpose), words.PurposeCreate) == words.PurposeCreate:
		of.thing = thingTemplate
		return of, true
	case kind == entity.KindAPI:
		of.thing = thingAPI
		return of, true
	}
	return key{}, false
}

// tagged returns the rest of the first tag with a prefix.
func tagged(n *tree.Node, prefix string) string {
	for _, t := range n.Get("metadata", "tags").Strings() {
		if rest, ok := strings.CutPrefix(t, prefix); ok {
			return rest
		}
	}
	return ""
}

func hasTag(n *tree.Node, tag string) bool {
	for _, t := range n.Get("metadata", "tags").Strings() {
		if t == tag {
			return true
		}
	}
	return false
}

// labelsOf returns the labels that a selector of the form a=b,c=d requires.
func labelsOf(selector string) map[string]string {
	labels := map[string]string{}
	for part := range strings.SplitSeq(selector, ",") {
		if k, v, ok := strings.Cut(part, "="); ok {
			labels[strings.TrimSpace(k)] = strings.TrimSpace(v)
		}
	}
	return labels
}
