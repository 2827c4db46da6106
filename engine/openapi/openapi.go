// Package openapi writes the OpenAPI document of a composite resource: how to create
// one, and its complete schema.
package openapi

import (
	"strings"
	"sync"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// Info is the info section of the document.
type Info struct {
	Title, Description, Version string
	// Kind is the kind of API, such as REST; empty leaves it out.
	Kind string
}

// Document returns the OpenAPI 3.0.0 document of one version of d as a tree.
func Document(d *xrd.Definition, v *xrd.Version, info Info) *tree.Node {
	return (&converter{}).document(d, v, info)
}

// writers are converters with their buffers. A document is needed only until it is
// written, so its memory is reused for the next one.
var writers = sync.Pool{New: func() any { return &writer{} }}

type writer struct {
	converter
	text []byte
}

// Text returns the document as YAML.
func Text(d *xrd.Definition, v *xrd.Version, info Info) string {
	w := writers.Get().(*writer)
	w.make.Reserve(room(v.Schema))
	w.text = tree.AppendYAML(w.text[:0], w.document(d, v, info))
	text := string(w.text)
	w.make.Reset()
	writers.Put(w)
	return text
}

func (c *converter) document(d *xrd.Definition, v *xrd.Version, info Info) *tree.Node {
	target := d.Target()
	name := schemaName(target.Kind)
	root := "/apis/" + d.Group + "/" + v.Name
	path := root + "/" + target.Plural
	var parameters *tree.Node
	if target.Namespaced {
		path = root + "/namespaces/{namespace}/" + target.Plural
		parameters = tree.Arr(tree.Obj(
			tree.F("name", tree.Str("namespace")),
			tree.F("in", inPath),
			tree.F("required", yes),
			tree.F("description", tree.Str("Namespace the "+target.Kind+" is created in")),
			tree.F("schema", aString),
		))
	}
	ref := tree.Obj(tree.F("$ref", tree.Str("#/components/schemas/"+name)))
	post := tree.Obj(
		tree.F("operationId", tree.Str("create"+name)),
		tree.F("summary", tree.Str("Create "+target.Kind)),
		tree.F("deprecated", deprecated(v)),
		tree.F("parameters", parameters),
		tree.F("requestBody", tree.Obj(
			tree.F("required", yes),
			tree.F("content", content("application/yaml", ref)),
		)),
		tree.F("responses", tree.Obj(
			tree.F("201", tree.Obj(tree.F("description", tree.Str(target.Kind+" created")), tree.F("content", content("application/json", ref)))),
			tree.F("400", badRequest),
			tree.F("401", unknownCaller),
			tree.F("403", forbidden),
			tree.F("409", conflict),
			tree.F("422", mismatch),
		)),
	)
	return tree.Obj(
		tree.F("openapi", tree.Str("3.0.0")),
		tree.F("info", tree.Obj(
			tree.F("title", tree.Str(info.Title)),
			tree.F("description", tree.OptStr(info.Description)),
			tree.F("version", tree.Str(info.Version)),
			tree.F("x-api-kind", tree.OptStr(info.Kind)),
		)),
		tree.F("paths", tree.Obj(tree.F(path, tree.Obj(tree.F("post", post))))),
		tree.F("components", tree.Obj(tree.F("schemas", tree.Obj(tree.F(name, c.object(d, v, target)))))),
	)
}

// Nodes that all documents share.
var (
	yes           = tree.Boolean(true)
	inPath        = tree.Str("path")
	stringType    = tree.Str("string")
	objectType    = tree.Str("object")
	aString       = tree.Obj(tree.F("type", stringType))
	stringMap     = tree.Obj(tree.F("type", objectType), tree.F("additionalProperties", aString))
	badRequest    = response("The request is not valid YAML or JSON")
	unknownCaller = response("The caller is not known")
	forbidden     = response("The caller may not create the resource")
	conflict      = response("A resource of that name exists already")
	mismatch      = response("The resource does not match its schema")
	openSpec      = tree.Obj(tree.F("type", objectType), tree.F("additionalProperties", yes))
	inNamespace   = metadata(true)
	inCluster     = metadata(false)
)

func deprecated(v *xrd.Version) *tree.Node {
	if !v.Deprecated {
		return nil
	}
	return yes
}

func content(mediaType string, schema *tree.Node) *tree.Node {
	return tree.Obj(tree.F(mediaType, tree.Obj(tree.F("schema", schema))))
}

func response(description string) *tree.Node {
	return tree.Obj(tree.F("description", tree.Str(description)))
}

// schemaName returns kind without the characters that a component name must not contain.
func schemaName(kind string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' {
			return r
		}
		return -1
	}, kind)
	if name == "" {
		return "Resource"
	}
	return name
}

// object returns the schema of the whole resource: the fields of every object, then the
// definition's spec and status.
func (c *converter) object(d *xrd.Definition, v *xrd.Version, target xrd.Target) *tree.Node {
	meta := inCluster
	if target.Namespaced {
		meta = inNamespace
	}
	props := tree.Obj(
		tree.F("apiVersion", tree.Obj(tree.F("type", stringType), tree.F("enum", tree.Strs([]string{d.Group + "/" + v.Name})))),
		tree.F("kind", tree.Obj(tree.F("type", stringType), tree.F("enum", tree.Strs([]string{target.Kind})))),
		tree.F("metadata", meta),
	)
	for _, key := range []string{"spec", "status"} {
		if s := v.Schema.Get("properties", key); s.IsMap() {
			props.Set(key, c.schema(s))
		}
	}
	// Crossplane requires a spec, even if the definition does not.
	required := []string{"apiVersion", "kind", "metadata", "spec"}
	if !props.Has("spec") {
		props.Set("spec", openSpec)
	}
	return tree.Obj(
		tree.F("type", objectType),
		tree.F("description", tree.OptStr(v.Schema.Get("description").Str())),
		tree.F("required", tree.Strs(required)),
		tree.F("properties", props),
	)
}

// metadata returns the schema of an object's metadata.
func metadata(namespaced bool) *tree.Node {
	props := tree.Obj(tree.F("name", aString))
	if namespaced {
		props.Set("namespace", aString)
	}
	props.Set("labels", stringMap)
	props.Set("annotations", stringMap)
	return tree.Obj(
		tree.F("type", objectType),
		tree.F("required", tree.Strs([]string{"name"})),
		tree.F("properties", props),
	)
}
