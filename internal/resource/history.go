package resource

import (
	"net/http"
	"time"

	"example.dev/ingestor/internal/rest"
)

// Change is what a task has done to a resource.
type Change struct {
	Task     string    `json:"task"`
	Template string    `json:"template"`
	By       string    `json:"by"`
	At       time.Time `json:"at"`
	// Operation is create, update or delete.
	Operation string `json:"operation"`
	// Fields are the paths of the fields that an update has changed.
	Fields []string `json:"fields,omitempty"`
}

// history answers GET /by-name/{kind}/{namespace}/{name}/history: what tasks have done to
// the resource. Values are left out, because they may be secret.
func (s *Resources) history(w http.ResponseWriter, r *http.Request) error {
	o, err := s.find(r)
	if err != nil {
		return err
	}
	changes, err := s.opts.History(r.Context(), o)
	if err != nil {
		return err
	}
	if changes == nil {
		changes = []Change{}
	}
	return rest.WriteJSON(w, r, http.StatusOK, map[string]any{"items": changes})
}
