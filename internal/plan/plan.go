// Package plan says what a composite resource or claim would create, change and delete,
// before it is applied. It reads what Crossplane would read, with the permissions of the
// caller, and lets Crossplane's own reconciler render the result. It writes nothing.
//
// It is one package because a plan is one walk over composites: what is read, rendered and
// compared for one of them decides what is read for the next.
package plan

import (
	"fmt"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/xrd/composed"
)

// Action is what Crossplane would do with an object.
type Action string

// The actions.
const (
	Create    Action = "create"
	Change    Action = "change"
	Delete    Action = "delete"
	Unchanged Action = "unchanged"
	// Uncertain is an object that may exist, but that the caller may not read.
	Uncertain Action = "uncertain"
	// Blocked is an object that Crossplane cannot apply; a warning says why.
	Blocked Action = "blocked"
)

// Plan is what would happen if a manifest were applied.
type Plan struct {
	// Cluster is the name of the cluster; empty if everything was read from files.
	Cluster string `json:"cluster,omitempty"`
	// Claim is the claim that the manifest is; nil if it is a composite.
	Claim *composed.Ref `json:"claim,omitempty"`
	// Composite is the composite itself. It is not counted.
	Composite Object `json:"composite"`
	// Composition is the Composition that Crossplane would use.
	Composition Composition `json:"composition"`
	Counts      Counts      `json:"counts"`
	// Objects are what the composite composes, to any depth: each object before its own
	// objects, and otherwise by their names in the Composition.
	Objects []Object `json:"objects"`
	// Results are what functions and Crossplane say, and Fatal is the result that ends the
	// pipeline: nothing would be applied.
	Results []Result `json:"results"`
	Fatal   string   `json:"fatal,omitempty"`
	// Conditions are those that the composite would have.
	Conditions []Condition `json:"conditions"`
	// Unknown is what cannot be known before the manifest is applied.
	Unknown []Unknown `json:"unknown"`
}

// Counts counts the objects by action.
type Counts struct {
	Create    int `json:"create"`
	Change    int `json:"change"`
	Delete    int `json:"delete"`
	Unchanged int `json:"unchanged"`
	Uncertain int `json:"uncertain"`
	Blocked   int `json:"blocked"`
}

// String returns the counts as people read them.
func (c Counts) String() string {
	text := fmt.Sprintf("%d to create, %d to change, %d to delete", c.Create, c.Change, c.Delete)
	if c.Uncertain > 0 {
		text += fmt.Sprintf(", %d uncertain", c.Uncertain)
	}
	if c.Blocked > 0 {
		text += fmt.Sprintf(", %d blocked", c.Blocked)
	}
	return text
}

// Object is an object of the plan.
type Object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	// Name is the name; empty if it is generated when the object is created. GenerateName is
	// then what the name begins with.
	Name         string `json:"name,omitempty"`
	GenerateName string `json:"generateName,omitempty"`
	// Resource is the name of the object in the Composition, and Within the names of the
	// nested composites that it belongs to, the outermost first.
	Resource string   `json:"resource,omitempty"`
	Within   []string `json:"within,omitempty"`
	Action   Action   `json:"action"`
	// Manifest is the object that Crossplane would apply, without the data of Secrets. It is
	// nil for an object that is deleted.
	Manifest *Manifest `json:"manifest,omitempty"`
	// Fields are the fields that would change.
	Fields []Field `json:"fields,omitempty"`
	// Composition is the Composition of a nested composite.
	Composition *Composition `json:"composition,omitempty"`
}

// Title returns kind and name, as people refer to the object.
func (o Object) Title() string {
	name := o.Name
	if name == "" {
		name = o.GenerateName + "(generated)"
	}
	if o.Namespace != "" {
		name = o.Namespace + "/" + name
	}
	return o.Kind + " " + name
}

// Manifest is an object in JSON.
type Manifest struct{ *tree.Node }

// MarshalJSON implements json.Marshaler.
func (m *Manifest) MarshalJSON() ([]byte, error) { return tree.AppendJSON(nil, m.Node, ""), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (m *Manifest) UnmarshalJSON(data []byte) (err error) {
	m.Node, err = wire.Decoder{}.Decode(data)
	return err
}

// Field is a field whose value would change.
type Field struct {
	// Path is the path of the field, such as spec.sizes[0].name.
	Path string `json:"path"`
	// Old and New are the values; nil means that the field is absent. Neither is set for the
	// data of a Secret.
	Old *Manifest `json:"old,omitempty"`
	New *Manifest `json:"new,omitempty"`
}

// Composition is a Composition that is used.
type Composition struct {
	Name string `json:"name"`
	// Revision is the name of the revision; empty if there is none so far.
	Revision string `json:"revision,omitempty"`
}

// Result is what a function or Crossplane says about the composite.
type Result struct {
	// Warning reports that it is about a problem.
	Warning bool   `json:"warning,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message"`
	// Within is the nested composite that it is about; empty for the root.
	Within string `json:"within,omitempty"`
}

// Text returns the message, after the nested composite that it is about.
func (r Result) Text() string {
	if r.Within == "" {
		return r.Message
	}
	return r.Within + ": " + r.Message
}

// Condition is a condition of the composite.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Unknown is something that cannot be known before.
type Unknown struct {
	// Subject is the object or field, and Message says why it is not known.
	Subject string `json:"subject"`
	Message string `json:"message"`
}
