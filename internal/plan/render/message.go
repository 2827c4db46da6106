package render

import (
	"errors"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane/crossplane/v2/proto/render/v1alpha1"

	"example.dev/ingestor/document/tree"
)

// Input is what a composite is rendered from.
type Input struct {
	Composite, Composition, Definition *tree.Node
	// Observed are the composed resources that exist, Required the objects that functions
	// asked for, and Credentials the Secrets that pipeline steps name.
	Observed, Required, Credentials []*tree.Node
	Functions                       []Function
}

// Output is what the reconciler would do.
type Output struct {
	// Composite is the composite with its status; nil if a function failed before.
	Composite *tree.Node
	// Composed are the objects that would be applied, and Deleted those that would be
	// deleted, in no order.
	Composed, Deleted []*tree.Node
	Events            []Event
	// Selectors are the objects that functions asked for, and Schemas how many schemas.
	Selectors []Selector
	selectors map[string]bool
	Schemas   int
	// Fatal is the fatal result of a function; empty if there is none.
	Fatal string
}

// Event is an event that the reconciler would emit.
type Event struct{ Type, Reason, Message string }

// Selector selects objects that a function asked for: one with a name, or those with
// labels.
type Selector struct {
	APIVersion, Kind, Namespace, Name string
	Labels                            map[string]string
}

// encode returns the request of the renderer. address returns the address of a function.
func (in Input) encode(address func(name string) string) ([]byte, error) {
	var errs []error
	one := func(n *tree.Node) *structpb.Struct {
		if n == nil {
			return nil
		}
		m, _ := n.Any().(map[string]any)
		s, err := structpb.NewStruct(m)
		errs = append(errs, err)
		return s
	}
	all := func(ns []*tree.Node) []*structpb.Struct {
		var out []*structpb.Struct
		for _, n := range ns {
			out = append(out, one(n))
		}
		return out
	}
	c := &v1alpha1.CompositeInput{
		CompositeResource: one(in.Composite), Composition: one(in.Composition), CompositeResourceDefinition: one(in.Definition),
		ObservedResources: all(in.Observed), RequiredResources: all(in.Required), Credentials: all(in.Credentials),
	}
	for _, f := range in.Functions {
		c.Functions = append(c.Functions, &v1alpha1.FunctionInput{Name: f.Name, Address: address(f.Name)})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return marshal.Marshal(&v1alpha1.RenderRequest{Meta: &v1alpha1.RequestMeta{}, Input: &v1alpha1.RenderRequest_Composite{Composite: c}})
}

// decode reads the response of the renderer.
func decode(data []byte) (*Output, error) {
	var response v1alpha1.RenderResponse
	if err := proto.Unmarshal(data, &response); err != nil {
		return nil, err
	}
	c := response.GetComposite()
	if c == nil {
		return nil, errors.New("response has no composite")
	}
	out := &Output{Schemas: len(c.GetRequiredSchemas())}
	var errs []error
	one := func(s *structpb.Struct) *tree.Node {
		if s == nil {
			return nil
		}
		n, err := tree.From(s.AsMap())
		errs = append(errs, err)
		return n
	}
	out.Composite = one(c.GetCompositeResource())
	for _, s := range c.GetComposedResources() {
		out.Composed = append(out.Composed, one(s))
	}
	for _, s := range c.GetDeletedResources() {
		out.Deleted = append(out.Deleted, one(s))
	}
	for _, e := range c.GetEvents() {
		out.Events = append(out.Events, Event{Type: e.GetType(), Reason: e.GetReason(), Message: e.GetMessage()})
	}
	for _, s := range c.GetRequiredResources() {
		out.addSelector(one(s))
	}
	return out, errors.Join(errs...)
}

// MostSelectors is how many selectors are kept of a response, and one more if there are
// others.
const MostSelectors = 500

// addSelector adds a selector once. It is the JSON form of a message. A function may repeat
// one without end, so that comparing each with all would take too long.
func (o *Output) addSelector(n *tree.Node) {
	key := string(tree.AppendCanonical(nil, n))
	if o.selectors[key] || len(o.Selectors) > MostSelectors {
		return
	}
	if o.selectors == nil {
		o.selectors = map[string]bool{}
	}
	o.selectors[key] = true
	s := Selector{
		APIVersion: n.Get("apiVersion").Str(), Kind: n.Get("kind").Str(), Namespace: n.Get("namespace").Str(), Name: n.Get("matchName").Str(),
		Labels: n.Get("matchLabels", "labels").StringMap(),
	}
	o.Selectors = append(o.Selectors, s)
}

// Equal reports whether two selectors select the same objects.
func (s Selector) Equal(o Selector) bool {
	return s.APIVersion == o.APIVersion && s.Kind == o.Kind && s.Namespace == o.Namespace && s.Name == o.Name &&
		tree.StrMap(s.Labels).Equal(tree.StrMap(o.Labels))
}
