package task

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/internal/scaffolder/mask"
	"example.dev/ingestor/internal/scaffolder/step"
	"example.dev/ingestor/internal/scaffolder/taskstore"
	"example.dev/ingestor/internal/scaffolder/workspace"
)

// state is the progress of a task, for the process that takes it over. It is stored
// as a line of JSON followed by the files of the workspace.
type state struct {
	step.State
	// failed is the index of the failed step, if there is a failure.
	failed int
	// began is when the task was first begun.
	began time.Time
	// run is the run in which the last step ended: a task that repeatedly crashes its
	// process is given up.
	run int64
	// logged is how many bytes were logged.
	logged int64
	// over says that the task had ended and was retried.
	over bool
	// large says that the workspace is too large to be saved.
	large bool
	// lost says that the workspace was removed after a step had ended.
	lost bool
	// hidden names the part of the state that held a secret and was dropped; empty if
	// there is none.
	hidden string
	files  []byte
}

// forget removes secrets from the state of a task that is over, including those in
// outputs and files: secrets do not outlive the task. A retry may supply other
// secrets, and the old ones could then no longer be masked.
func (s *state) forget(steps []*tree.Node, m *mask.Mask) {
	outputs := map[string]*tree.Node{}
	for _, at := range steps[:min(s.Next, len(steps))] {
		id := at.Get("id").Scalar()
		output := s.Outputs[id]
		if output == nil {
			continue
		}
		if outputs[id] = m.Node(output); !outputs[id].Equal(output) {
			s.hidden = "the outputs of step " + id
		}
	}
	s.Outputs = outputs
	if workspace.Any(s.files, func(text string) bool { return m.Text(text) != text }) {
		s.files, s.hidden = nil, "the workspace"
	}
}

// line is the first line of a stored state.
type line struct {
	Next    int             `json:"next"`
	Steps   map[string]kept `json:"steps,omitempty"`
	Failure *step.Failure   `json:"failure,omitempty"`
	Failed  int             `json:"failed,omitempty"`
	Began   time.Time       `json:"began"`
	Run     int64           `json:"run"`
	Logged  int64           `json:"logged,omitempty"`
	Over    bool            `json:"over,omitempty"`
	Large   bool            `json:"large,omitempty"`
	Lost    bool            `json:"lost,omitempty"`
	Hidden  string          `json:"hidden,omitempty"`
}

type kept struct {
	Output json.RawMessage `json:"output"`
}

// sealState returns a state as it is stored.
func (t *Tasks) sealState(id string, s *state) ([]byte, error) {
	l := line{Next: s.Next, Failure: s.Failure, Failed: s.failed, Began: s.began, Run: s.run, Logged: s.logged, Over: s.over, Large: s.large, Lost: s.lost, Hidden: s.hidden,
		Steps: map[string]kept{}}
	for id, output := range s.Outputs {
		l.Steps[id] = kept{Output: tree.AppendJSON(nil, output, "")}
	}
	data, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("cannot encode state of task %s: %w", id, err)
	}
	data = append(append(data, '\n'), s.files...)
	return t.key.Seal(data, id+"/state"), nil
}

// openState is the reverse of sealState. A task that was never begun has an empty
// state.
func (t *Tasks) openState(stored *taskstore.Task) (*state, error) {
	s := &state{}
	if len(stored.State) == 0 {
		return s, nil
	}
	data, err := t.key.Open(stored.State, stored.ID+"/state")
	if err != nil {
		return nil, err
	}
	first, files, ok := bytes.Cut(data, []byte("\n"))
	var l line
	if !ok || json.Unmarshal(first, &l) != nil || l.Next < 0 {
		return nil, errors.New("data is corrupt")
	}
	s.State = step.State{Next: l.Next, Failure: l.Failure, Outputs: map[string]*tree.Node{}}
	s.failed, s.began, s.run, s.logged, s.over, s.hidden, s.files = l.Failed, l.Began, l.Run, l.Logged, l.Over, l.Hidden, files
	s.large, s.lost = l.Large, l.Lost
	for id, k := range l.Steps {
		if s.Outputs[id], err = (wire.Decoder{}).Decode(k.Output); err != nil {
			return nil, errors.New("data is corrupt")
		}
	}
	return s, nil
}
