package permission

import "example.dev/ingestor/internal/identity/auth"

// ofWorkloads are the permissions for what runs in a cluster. Their resource is the
// entity that selects the workloads, with the cluster; that of KubernetesProxy is a pod.
var ofWorkloads = map[string]bool{KubernetesResources: true, KubernetesLogs: true, KubernetesProxy: true}

// ofWorkload is the default policy for workloads. A cluster that impersonates decides
// itself. In the others the portal's account may read more than the caller, and the
// author of an entity selects what it reads: only entities of a trusted origin may.
func ofWorkload(c auth.Caller, permission string, r *Resource) bool {
	switch {
	case reader(c) && !guestMay[permission]:
		return false
	case r == nil:
		return true
	case r.Impersonated:
		return !reader(c)
	}
	return permission != KubernetesProxy && Trusted(r.Origin)
}

// whyNotWorkload returns the reason why ofWorkload refuses.
func whyNotWorkload(permission string, r *Resource) string {
	if permission == KubernetesProxy {
		return "the cluster does not authorize each user itself, and the request names no entity"
	}
	return "the entity comes from " + r.Origin + ", which is not trusted to select what the portal's account reads"
}
