package workload

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/source/cluster"
)

// clusterHeader is the header in which Backstage's frontend names the cluster.
const clusterHeader = "Backstage-Kubernetes-Cluster"

// proxyLogs answers GET /proxy/api/v1/namespaces/{namespace}/pods/{pod}/log.
func (s *Workloads) proxyLogs(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	lines, err := rest.Count(q, "tailLines", mostLines)
	if err != nil {
		return err
	}
	container := q.Get("container")
	if container != "" && !dnsLabel.MatchString(container) {
		return rest.Input("Parameter container must be the name of a container")
	}
	at := place{cluster: r.Header.Get(clusterHeader), namespace: r.PathValue("namespace"), name: r.PathValue("pod")}
	on, leave, err := s.proxied(r, at, "Pod")
	if err != nil {
		return err
	}
	defer leave()
	return writeLog(w, r, on, at, container, lines)
}

// involved is the only selector of events that Backstage's frontend uses.
const involved = "involvedObject.name="

// proxyEvents answers GET /proxy/api/v1/namespaces/{namespace}/events.
func (s *Workloads) proxyEvents(w http.ResponseWriter, r *http.Request) error {
	name, ok := strings.CutPrefix(r.URL.Query().Get("fieldSelector"), involved)
	if !ok {
		return rest.Input("Parameter fieldSelector must be %s and the name of an object", involved)
	}
	at := place{cluster: r.Header.Get(clusterHeader), namespace: r.PathValue("namespace"), name: name}
	on, leave, err := s.proxied(r, at, "Event")
	if err != nil {
		return err
	}
	defer leave()
	items := []json.RawMessage{}
	if _, err := list(r.Context(), on, eventKind, at.namespace, url.Values{"fieldSelector": {involved + name}}, mostObjects, func(n *tree.Node, _ string) bool {
		items = append(items, tree.AppendJSON(nil, redact(n), ""))
		return true
	}); err != nil {
		return fault(at.cluster, err)
	}
	return rest.WriteJSON(w, r, http.StatusOK, map[string]any{"kind": "EventList", "apiVersion": "v1", "metadata": struct{}{}, "items": items})
}

// proxied returns the cluster of a request that names no entity, if the caller may read
// any object of it, or the cluster itself decides what the caller may read. The caller
// calls leave when it has read from the cluster.
func (s *Workloads) proxied(r *http.Request, at place, kind string) (on *cluster.Cluster, leave func(), err error) {
	ctx := r.Context()
	switch {
	case at.cluster == "":
		return nil, nil, rest.Input("Header %s must be the name of a cluster", clusterHeader)
	case !slices.Contains(s.opts.Clusters, at.cluster):
		return nil, nil, rest.NotFound("Cluster %s is not configured", rest.Short(at.cluster))
	case !dnsLabel.MatchString(at.namespace) || !isName(at.name):
		return nil, nil, rest.NotFound("No such object")
	}
	if on, err = s.opts.Cluster(ctx, at.cluster); err != nil {
		return nil, nil, fault(at.cluster, err)
	}
	if err := s.opts.Policy.Require(ctx, permission.KubernetesProxy, &permission.Resource{
		Ref: kind + " " + at.namespace + "/" + at.name, Kind: kind, Namespace: at.namespace, Cluster: at.cluster, Impersonated: on.Impersonates(),
	}); err != nil {
		return nil, nil, err
	}
	leave, err = s.readings.Enter(ctx, at.cluster)
	return on, leave, err
}
