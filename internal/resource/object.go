package resource

import (
	"net/http"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/rest"
)

// object answers GET /by-name/{kind}/{namespace}/{name}/object: the object as the cluster
// has it, except for what may be secret.
func (s *Resources) object(w http.ResponseWriter, r *http.Request) error {
	o, err := s.find(r)
	if err != nil {
		return err
	}
	n, err := s.opts.Read(r.Context(), o)
	if err != nil {
		return told(o, err)
	}
	if n == nil {
		return rest.NotFound("%s does not exist in cluster %s", o.Ref, o.Cluster)
	}
	body := tree.Obj(tree.F("cluster", tree.Str(o.Cluster)), tree.F("object", engine.Redact(n)))
	return rest.Write(w, r, rest.Content{Body: tree.AppendJSON(nil, body, "")})
}
