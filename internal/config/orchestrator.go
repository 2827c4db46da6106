package config

import (
	"slices"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/input"
	"example.dev/ingestor/internal/config/keys"
	"example.dev/ingestor/internal/config/rule"
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

func (c *Orchestrator) read(m *keys.Map, clusters *clusters) {
	m.Map("serviceLocatorMethod", func(m *keys.Map) {
		v, text, ok := m.Str("type")
		switch {
		case !ok:
		case text == "singleTenant" || text == "catalogRelation":
			v.Report(rule.Unsupported, "write "+LocatorMultiTenant, "%s: %s is not supported", v.Path, text)
		case v.IsOneOf(text, LocatorMultiTenant):
			c.ServiceLocator = text
		}
		m.Done("type", "one of "+LocatorMultiTenant, tree.OptStr(c.ServiceLocator))
	})
	service := m.Raw("serviceLocatorMethod")
	untyped := service == nil || service.IsMap() && service.Get("type").IsNull() && !input.IsInclude(service)
	if m.Has("clusterLocatorMethods") && untyped {
		m.ReportMissing("serviceLocatorMethod.type", "clusterLocatorMethods", "write serviceLocatorMethod: { type: "+LocatorMultiTenant+" }",
			"%s has clusterLocatorMethods but no serviceLocatorMethod.type", m.Path())
	}
	seen := map[string]input.Place{}
	m.List("clusterLocatorMethods", func(m *keys.Map) {
		if !readLocator(m) {
			m.IgnoreRest()
			return
		}
		m.Require("clusters", "write a list of clusters, each with a name and a url")
		clusters.readList(m, "clusters", &c.Clusters, seen)
	})
	m.PassOver("objectTypes", "customResources", "apiVersionOverrides", "clusterLocatorContinueOnError",
		"googleServiceAccountCredentials", "frontend", "proxy", "auth")
	c.readEnvironment(m, clusters)
}

// readLocator reads the type of a cluster locator, and reports whether it is supported.
func readLocator(m *keys.Map) bool {
	m.Require("type", "write type: "+locatorConfig)
	v, text, ok := m.Str("type")
	m.Done("type", "one of "+locatorConfig, tree.OptStr(text))
	switch {
	case !ok:
		return m.Describing()
	case slices.Contains([]string{"catalog", "localKubectlProxy", "gke"}, text):
		v.Report(rule.Unsupported, "write type: "+locatorConfig+" with a list of clusters; kubeconfig can take the place of a url",
			"%s: clusters of type %s are not supported", v.Path, text)
		return false
	}
	return v.IsOneOf(text, locatorConfig)
}

// environmentVariables describe a cluster without a file, in either vocabulary.
var environmentVariables = []struct{ url, name, token, ca string }{
	{"ORCHESTRATOR_API_URL", "ORCHESTRATOR_CLUSTER_NAME", "ORCHESTRATOR_SERVICE_ACCOUNT_TOKEN", "ORCHESTRATOR_CA_FILE"},
	{"KUBERNETES_API_URL", "KUBERNETES_CLUSTER_NAME", "KUBERNETES_SERVICE_ACCOUNT_TOKEN", "KUBERNETES_CA_FILE"},
}

// readEnvironment adds the cluster that the environment describes, unless a file describes
// it.
func (c *Orchestrator) readEnvironment(m *keys.Map, clusters *clusters) {
	for _, e := range environmentVariables {
		if m.Lookup(e.url) == "" || m.Describing() {
			continue
		}
		name := m.Lookup(e.name)
		if name == "" {
			m.Report(rule.Missing, input.Place{}, "", "set "+e.name, "the environment variable %s is set, but %s is not", e.url, e.name)
			continue
		}
		if _, taken := clusters.at[name]; taken {
			continue
		}
		node := tree.Obj()
		for key, variable := range map[string]string{"url": e.url, "name": e.name, "serviceAccountToken": e.token, "caFile": e.ca} {
			if m.Lookup(variable) != "" {
				node.Set(key, tree.Obj(tree.F("$env", tree.Str(variable))))
			}
		}
		item := m.Virtual(node)
		if cluster, ok := clusters.read(item, map[string]input.Place{}); ok {
			c.Clusters = append(c.Clusters, cluster)
			c.showEnvironment(m, item.Out)
		}
	}
}

// showEnvironment adds a cluster to the effective configuration, as a file would
// describe it.
func (c *Orchestrator) showEnvironment(m *keys.Map, cluster *tree.Node) {
	c.ServiceLocator = LocatorMultiTenant
	m.Out.Set("serviceLocatorMethod", tree.Obj(tree.F("type", tree.Str(LocatorMultiTenant))))
	methods := m.Out.Get("clusterLocatorMethods")
	if methods == nil {
		methods = tree.Arr()
		m.Out.Set("clusterLocatorMethods", methods)
	}
	methods.Items = append(methods.Items, tree.Obj(tree.F("type", tree.Str(locatorConfig)), tree.F("clusters", tree.Arr(cluster))))
}
