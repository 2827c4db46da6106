package config

import (
	"slices"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source"
)

// Orchestrator is the section orchestrator: the clusters of variant B.
type Orchestrator struct {
	// ServiceLocator is LocatorMultiTenant, or empty if there are no clusters.
	ServiceLocator string
	Clusters       []source.Cluster
}

// LocatorMultiTenant looks for a service in all clusters.
const LocatorMultiTenant = "multiTenant"

// locatorConfig is the only supported cluster locator.
const locatorConfig = "config"

func (c *Orchestrator) read(o *object) {
	o.object("serviceLocatorMethod", func(o *object) {
		v, text, ok := o.str("type")
		switch {
		case !ok:
		case text == "singleTenant" || text == "catalogRelation":
			o.r.report(RuleUnsupported, v.at, v.path, "write "+LocatorMultiTenant, "%s: %s is not supported", v.path, text)
		case o.r.isOneOf(v, text, []string{LocatorMultiTenant}):
			c.ServiceLocator = text
		}
		o.done("type", "one of "+LocatorMultiTenant, tree.OptStr(c.ServiceLocator))
	})
	service := o.field("serviceLocatorMethod")
	untyped := service == nil || service.Value.IsMap() && service.Value.Get("type").IsNull() && !isInclude(service.Value)
	if methods := o.field("clusterLocatorMethods"); methods != nil && untyped {
		o.r.report(RuleMissing, o.r.keyPlace(methods), o.pathTo("serviceLocatorMethod.type"), "write serviceLocatorMethod: { type: "+LocatorMultiTenant+" }",
			"%s has clusterLocatorMethods but no serviceLocatorMethod.type", o.path)
	}
	seen := map[string]place{}
	o.list("clusterLocatorMethods", func(o *object) {
		if !o.locator() {
			o.unchecked = true
			return
		}
		o.require("clusters", "write a list of clusters, each with a name and a url")
		o.clusters("clusters", &c.Clusters, seen)
	})
	o.passOver("objectTypes", "customResources", "apiVersionOverrides", "clusterLocatorContinueOnError",
		"googleServiceAccountCredentials", "frontend", "proxy", "auth")
	o.environment(c)
}

// locator reads the type of a cluster locator, and reports whether it is supported.
func (o *object) locator() bool {
	o.require("type", "write type: "+locatorConfig)
	v, text, ok := o.str("type")
	o.done("type", "one of "+locatorConfig, tree.OptStr(text))
	switch {
	case !ok:
		return o.r.describing
	case slices.Contains([]string{"catalog", "localKubectlProxy", "gke"}, text):
		o.r.report(RuleUnsupported, v.at, v.path, "write type: "+locatorConfig+" with a list of clusters; kubeconfig can take the place of a url",
			"%s: clusters of type %s are not supported", v.path, text)
		return false
	}
	return o.r.isOneOf(v, text, []string{locatorConfig})
}

// environmentVariables describe a cluster without a file, in either vocabulary.
var environmentVariables = []struct{ url, name, token, ca string }{
	{"ORCHESTRATOR_API_URL", "ORCHESTRATOR_CLUSTER_NAME", "ORCHESTRATOR_SERVICE_ACCOUNT_TOKEN", "ORCHESTRATOR_CA_FILE"},
	{"KUBERNETES_API_URL", "KUBERNETES_CLUSTER_NAME", "KUBERNETES_SERVICE_ACCOUNT_TOKEN", "KUBERNETES_CA_FILE"},
}

// environment adds the cluster that the environment describes, unless a file describes
// it.
func (o *object) environment(to *Orchestrator) {
	for _, e := range environmentVariables {
		if url, _ := o.r.opts.Lookup(e.url); url == "" || o.r.describing {
			continue
		}
		name, _ := o.r.opts.Lookup(e.name)
		if name == "" {
			o.r.report(RuleMissing, place{}, "", "set "+e.name, "the environment variable %s is set, but %s is not", e.url, e.name)
			continue
		}
		if _, taken := o.r.clusterAt[name]; taken {
			continue
		}
		node := tree.Obj()
		for key, variable := range map[string]string{"url": e.url, "name": e.name, "serviceAccountToken": e.token, "caFile": e.ca} {
			if text, _ := o.r.opts.Lookup(variable); text != "" {
				node.Set(key, tree.Obj(tree.F("$env", tree.Str(variable))))
			}
		}
		item := &object{r: o.r, node: node, path: environment, out: tree.Obj()}
		if c, ok := item.cluster(map[string]place{}); ok {
			to.Clusters = append(to.Clusters, c)
			o.showEnvironment(to, item.out)
		}
	}
}

// showEnvironment adds a cluster to the effective configuration, as a file would
// describe it.
func (o *object) showEnvironment(to *Orchestrator, cluster *tree.Node) {
	to.ServiceLocator = LocatorMultiTenant
	o.out.Set("serviceLocatorMethod", tree.Obj(tree.F("type", tree.Str(LocatorMultiTenant))))
	methods := o.out.Get("clusterLocatorMethods")
	if methods == nil {
		methods = tree.Arr()
		o.out.Set("clusterLocatorMethods", methods)
	}
	methods.Items = append(methods.Items, tree.Obj(tree.F("type", tree.Str(locatorConfig)), tree.F("clusters", tree.Arr(cluster))))
}
