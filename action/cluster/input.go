package cluster

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
)

// Descriptions and defaults of the actions.
const (
	descriptionApply   = "Applies a manifest to a cluster with server-side apply, after a dry run; takes over fields or objects only if told to."
	descriptionDelete  = "Deletes a resource from a cluster, if the portal has applied it or the step says so."
	defaultPropagation = "background"
)

func (w *writer) applyAction() action.Action {
	return action.Action{
		ID: words.ActionApply, Aliases: aliases(words.ActionApply), Description: descriptionApply,
		Input: parsed(applyInput), Output: parsed(applyOutput), Examples: applyExamples, DryRun: true,
		Check: func(ctx context.Context, c *action.Call) error {
			o, err := w.applyOrder(c)
			if err != nil {
				return err
			}
			return w.checkApply(ctx, c, o)
		},
		Run: func(ctx context.Context, c *action.Call) error {
			o, err := w.applyOrder(c)
			if err != nil {
				return err
			}
			return w.apply(ctx, c, o)
		},
	}
}

// applyOrder reads the input of cluster:apply.
func (w *writer) applyOrder(c *action.Call) (order, error) {
	o, err := w.order(c)
	o.manifest = c.Input.Get("manifest")
	o.update, o.observed = c.Input.Get("update").IsTrue(), c.Input.Get("observed").Str()
	return o, err
}

func (w *writer) deleteAction() action.Action {
	return action.Action{
		ID: words.ActionDelete, Aliases: aliases(words.ActionDelete), Description: descriptionDelete,
		Input: parsed(deleteInput), Output: parsed(deleteOutput), Examples: deleteExamples, DryRun: true,
		Check: func(ctx context.Context, c *action.Call) error {
			d, o, err := w.deleteOrder(c)
			if err != nil {
				return err
			}
			return w.checkDelete(ctx, c, d, o)
		},
		Run: func(ctx context.Context, c *action.Call) error {
			d, o, err := w.deleteOrder(c)
			if err != nil {
				return err
			}
			return w.remove(ctx, c, d, o)
		},
	}
}

// deleteOrder reads the input of cluster:delete.
func (w *writer) deleteOrder(c *action.Call) (*document, order, error) {
	o, err := w.order(c)
	in := c.Input
	d := &document{
		verb: verbDelete, node: tree.Obj(tree.F("metadata", tree.Obj())), apiVersion: in.Get("apiVersion").Str(), kind: in.Get("kind").Str(),
		namespace: in.Get("namespace").Str(), name: in.Get("name").Scalar(),
	}
	word := cmp.Or(in.Get("propagation").Str(), defaultPropagation)
	o.propagation = strings.ToUpper(word[:1]) + strings.ToLower(word[1:])
	o.mustExist = in.Get("mustExist").IsTrue()
	return d, o, err
}

// aliases returns the other names of an action.
func aliases(id string) []string { return words.Spellings(words.Action, id)[1:] }

// order reads the input that the actions have in common.
func (w *writer) order(c *action.Call) (order, error) {
	in := c.Input
	wait, err := w.duration(in.Get("wait"))
	return order{
		cluster:   in.Get("cluster").Str(),
		namespace: cmp.Or(in.Get("namespace").Str(), w.opts.Namespace),
		wait:      wait,
		takeOver:  in.Get("takeOver").IsTrue(),
		dry:       c.DryRun || in.Get("dryRun").IsTrue(),
	}, err
}

// units are the keys of a duration that is an object.
var units = map[string]time.Duration{
	"hours": time.Hour, "minutes": time.Minute, "seconds": time.Second, "milliseconds": time.Millisecond,
}

// duration reads how long to wait: true, a string such as 5m, or an object such as
// {minutes: 5}.
func (w *writer) duration(n *tree.Node) (time.Duration, error) {
	var d time.Duration
	switch {
	case n.IsNull() || n.Kind == tree.Bool && !n.IsTrue() || n.IsString() && n.Str() == "":
		return 0, nil
	case n.IsTrue():
		return w.opts.Wait, nil
	case n.IsString():
		var err error
		if d, err = time.ParseDuration(n.Str()); err != nil {
			return 0, badWait(n)
		}
	case n.IsMap():
		for _, f := range n.Fields {
			v, err := strconv.ParseFloat(f.Value.Scalar(), 64)
			if err != nil || units[f.Key] == 0 {
				return 0, badWait(n)
			}
			d += time.Duration(v * float64(units[f.Key]))
		}
	default:
		return 0, badWait(n)
	}
	if d <= 0 {
		return 0, badWait(n)
	}
	return d, nil
}

func badWait(n *tree.Node) error {
	return wrong("set true, a duration such as 5m, or {minutes: 5}", "cannot use wait: %s is not a duration", tree.AppendJSON(nil, n, ""))
}

// number64 returns the integer value of n; 0 if n is not an integer.
func number64(n *tree.Node) int64 {
	v, err := strconv.ParseInt(n.Scalar(), 10, 64)
	if err != nil {
		return 0
	}
	return v
}

// parsed parses one of the schemas below.
func parsed(text string) *tree.Node {
	docs, _ := parser.DecodeBytes([]byte(text))
	return docs[0]
}

const applyInput = `
type: object
required: [manifest]
properties:
  manifest:
    title: Manifest
    description: Objects to apply, as an object, a list of objects, or YAML with one or several documents.
    type: [object, array, string]
` + commonInput + `
  namespace:
    title: Namespace
    description: Namespace of namespaced objects that do not set one.
    type: string
  wait:
    title: Wait
    description: Whether, or how long, to wait until everything is ready; changes of conditions are logged.
    type: [boolean, string, object]
    default: false
  takeOver:
    title: Take over
    description: Whether to change objects that the portal did not create, and to take over fields from other owners.
    type: boolean
    default: false
  update:
    title: Update
    description: Whether the object must already exist. Fields that the manifest omits are then kept, unless observed is set.
    type: boolean
    default: false
  observed:
    title: Observed
    description: >-
      State of the object that the form was filled from. If its requested fields have changed since, the step fails and
      applies nothing; otherwise, fields that the portal applied before and the manifest omits are removed. Fields that
      Crossplane fills in are ignored.
    type: string
`

const commonInput = `
  cluster:
    title: Cluster
    description: The name of the cluster; without it, the default one.
    type: string
  dryRun:
    title: Dry run
    description: Whether to make only a dry run in the cluster.
    type: boolean
    default: false
`

const resourcesOutput = `
type: object
properties:
  resources:
    title: Resources
    description: What it was about.
    type: array
    items:
      type: object
      properties:
        apiVersion: {type: string}
        kind: {type: string}
        namespace: {type: string}
        name: {type: string}
        uid: {type: string}
        cluster: {type: string}
`

const applyOutput = resourcesOutput + `
  manifest:
    title: Manifest
    description: Applied objects, as YAML.
    type: string
`

// namedInput is the input that names one object.
const namedInput = `
type: object
required: [apiVersion, kind, name]
properties:
  apiVersion:
    title: API version
    description: Group and version of the kind.
    type: string
  kind:
    title: Kind
    type: string
  name:
    title: Name
    type: string
  namespace:
    title: Namespace
    description: Namespace of the object, if it is namespaced.
    type: string
`

const deleteInput = namedInput + commonInput + `
  propagation:
    title: Propagation
    description: What happens to its dependent objects.
    type: string
    enum: [background, foreground, orphan]
    default: ` + defaultPropagation + `
  wait:
    title: Wait
    description: Whether, or how long, to wait until it is gone.
    type: [boolean, string, object]
    default: false
  mustExist:
    title: Must exist
    description: Whether it is an error if the object does not exist.
    type: boolean
    default: false
  takeOver:
    title: Take over
    description: Whether to delete the object even if the portal did not create it.
    type: boolean
    default: false
`

const deleteOutput = resourcesOutput + `
  deleted:
    title: Deleted
    description: Whether an object was deleted.
    type: boolean
`

var applyExamples = []action.Example{
	{Description: "Apply a resource and wait until it is ready", Example: `steps:
  - id: apply
    name: Apply
    action: cluster:apply
    input:
      cluster: production
      wait: {minutes: 5}
      manifest:
        apiVersion: platform.example.org/v1alpha1
        kind: Database
        metadata:
          name: ${{ parameters.name }}
          namespace: ${{ parameters.namespace }}
        spec:
          parameters:
            storageGB: ${{ parameters.storageGB }}
`},
	{Description: "Change a field of a resource that is there, and leave the others as they are", Example: `steps:
  - id: apply
    name: Update
    action: cluster:apply
    input:
      update: true
      manifest:
        apiVersion: platform.example.org/v1alpha1
        kind: Database
        metadata:
          name: ${{ parameters.name }}
          namespace: ${{ parameters.namespace }}
        spec:
          parameters:
            storageGB: ${{ parameters.storageGB }}
`},
	{Description: "Apply several documents of YAML", Example: `steps:
  - id: apply
    name: Apply
    action: cluster:apply
    input:
      namespace: shop
      manifest: |
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: colours}
        data: {sky: blue}
        ---
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: shapes}
        data: {sun: round}
`},
}

var deleteExamples = []action.Example{
	{Description: "Delete a resource and wait until it is gone", Example: `steps:
  - id: delete
    name: Delete
    action: cluster:delete
    input:
      apiVersion: platform.example.org/v1alpha1
      kind: Database
      name: ${{ parameters.name }}
      namespace: ${{ parameters.namespace }}
      wait: true
`},
}
