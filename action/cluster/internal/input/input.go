// Package input has the inputs of the actions that write to clusters: their schemas, and
// what a step asks for.
package input

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/cluster/internal/manifest"
	"example.dev/ingestor/document/tree"
)

// Step is the input of a step.
type Step struct {
	Manifest           *tree.Node
	Cluster, Namespace string
	// Wait is how long the step waits; 0 means that it does not wait.
	Wait          time.Duration
	TakeOver, Dry bool
	Propagation   string
	MustExist     bool
	// Update requires the objects to exist. Observed is the state of the single
	// object that the form was filled from; empty if it was not filled.
	Update   bool
	Observed string
}

// Defaults are for input that a step omits.
type Defaults struct {
	// Namespace is the namespace of namespaced objects.
	Namespace string
	// Wait is how long a step waits that sets wait to true.
	Wait time.Duration
}

// Apply reads the input of cluster:apply.
func (d Defaults) Apply(c *action.Call) (Step, error) {
	s, err := d.step(c)
	s.Manifest = c.Input.Get("manifest")
	s.Update, s.Observed = c.Input.Get("update").IsTrue(), c.Input.Get("observed").Str()
	return s, err
}

// Create reads the input of the action that creates composite resources and claims.
func (d Defaults) Create(c *action.Call) (Step, error) {
	s, err := d.step(c)
	in := c.Input
	s.Manifest = tree.Obj(
		tree.F("apiVersion", in.Get("apiVersion")), tree.F("kind", in.Get("kind")),
		tree.F("metadata", tree.Obj(
			tree.F("name", in.Get("name")),
			tree.F("labels", in.Get("labels")), tree.F("annotations", in.Get("annotations")),
		)),
		tree.F("spec", in.Get("spec")),
	)
	return s, err
}

// Delete reads the input of cluster:delete.
func (d Defaults) Delete(c *action.Call) (*manifest.Document, Step, error) {
	s, err := d.step(c)
	in := c.Input
	word := cmp.Or(in.Get("propagation").Str(), defaultPropagation)
	s.Propagation = strings.ToUpper(word[:1]) + strings.ToLower(word[1:])
	s.MustExist = in.Get("mustExist").IsTrue()
	return &manifest.Document{
		Verb: manifest.VerbDelete, Node: tree.Obj(tree.F("metadata", tree.Obj())), APIVersion: in.Get("apiVersion").Str(), Kind: in.Get("kind").Str(),
		Namespace: in.Get("namespace").Str(), Name: in.Get("name").Scalar(),
	}, s, err
}

// step reads the input that the actions have in common.
func (d Defaults) step(c *action.Call) (Step, error) {
	in := c.Input
	wait, err := d.duration(in.Get("wait"))
	return Step{
		Cluster:   in.Get("cluster").Str(),
		Namespace: cmp.Or(in.Get("namespace").Str(), d.Namespace),
		Wait:      wait,
		TakeOver:  in.Get("takeOver").IsTrue(),
		Dry:       c.DryRun || in.Get("dryRun").IsTrue(),
	}, err
}

// units are the keys of a duration that is an object.
var units = map[string]time.Duration{
	"hours": time.Hour, "minutes": time.Minute, "seconds": time.Second, "milliseconds": time.Millisecond,
}

// duration reads how long to wait: true, a string such as 5m, or an object such as
// {minutes: 5}.
func (d Defaults) duration(n *tree.Node) (time.Duration, error) {
	var total time.Duration
	switch {
	case n.IsNull() || n.Kind == tree.Bool && !n.IsTrue() || n.IsString() && n.Str() == "":
		return 0, nil
	case n.IsTrue():
		return d.Wait, nil
	case n.IsString():
		var err error
		if total, err = time.ParseDuration(n.Str()); err != nil {
			return 0, badWait(n)
		}
	case n.IsMap():
		for _, f := range n.Fields {
			v, err := strconv.ParseFloat(f.Value.Scalar(), 64)
			if err != nil || units[f.Key] == 0 {
				return 0, badWait(n)
			}
			total += time.Duration(v * float64(units[f.Key]))
		}
	default:
		return 0, badWait(n)
	}
	if total <= 0 {
		return 0, badWait(n)
	}
	return total, nil
}

func badWait(n *tree.Node) error {
	return action.Errorf("set true, a duration such as 5m, or {minutes: 5}", "cannot use wait: %s is not a duration", tree.AppendJSON(nil, n, ""))
}
