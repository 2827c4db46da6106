// Package openapi writes the OpenAPI document of a composite resource: how
// one is created, and everything its schema says.
package openapi

import (
	"slices"
	"strings"

	"example.dev/ingestor/tree"
	"example.dev/ingestor/xrd"
)

// Info is what the document says about itself.
type Info struct {
	Title, Description, Version string
	// Kind is the kind of API, such as REST; empty leaves it out.
	Kind string
}

// Document returns the OpenAPI 3.0.0 document of one version of d as a tree.
func Document(d *xrd.Definition, v *xrd.Version, info Info) *tree.Node {
	target := d.Target()
	name := schemaName(target.Kind)
	root := "/apis/" + d.Group + "/" + v.Name
	path := root + "/" + target.Plural
	var parameters *tree.Node
	if target.Namespaced {
		path = root + "/namespaces/{namespace}/" + target.Plural
		parameters = tree.Arr(tree.Obj(
			tree.F("name", tree.Str("namespace")),
			tree.F("in", tree.Str("path")),
			tree.F("required", tree.Boolean(true)),
			tree.F("description", tree.Str("Namespace the "+target.Kind+" is created in")),
			tree.F("schema", tree.Obj(tree.F("type", tree.Str("string")))),
		))
	}
	ref := tree.Obj(tree.F("$ref", tree.Str("#/components/schemas/"+name)))
	post := tree.Obj(
		tree.F("operationId", tree.Str("create"+name)),
		tree.F("summary", tree.Str("Create a "+target.Kind)),
		tree.F("deprecated", deprecated(v)),
		tree.F("parameters", parameters),
		tree.F("requestBody", tree.Obj(
			tree.F("required", tree.Boolean(true)),
			tree.F("content", content("application/yaml", ref)),
		)),
		tree.F("responses", tree.Obj(
			tree.F("201", tree.Obj(tree.F("description", tree.Str(target.Kind+" created")), tree.F("content", content("application/json", ref)))),
			tree.F("400", response("The request is not valid YAML or JSON")),
			tree.F("401", response("The caller is not known")),
			tree.F("403", response("The caller may not create a "+target.Kind)),
			tree.F("409", response("A "+target.Kind+" of that name exists already")),
			tree.F("422", response("The "+target.Kind+" does not match its schema")),
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
		tree.F("components", tree.Obj(tree.F("schemas", tree.Obj(tree.F(name, object(d, v, target)))))),
	)
}

func deprecated(v *xrd.Version) *tree.Node {
	if !v.Deprecated {
		return nil
	}
	return tree.Boolean(true)
}

func content(mediaType string, schema *tree.Node) *tree.Node {
	return tree.Obj(tree.F(mediaType, tree.Obj(tree.F("schema", schema))))
}

func response(description string) *tree.Node {
	return tree.Obj(tree.F("description", tree.Str(description)))
}

// schemaName returns kind with what a component's name may not hold left out.
func schemaName(kind string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' {
			return r
		}
		return -1
	}, kind)
}

// object is the schema of the whole resource: what every object has, then
// what the definition says about spec and status.
func object(d *xrd.Definition, v *xrd.Version, target xrd.Target) *tree.Node {
	meta := tree.Obj(
		tree.F("type", tree.Str("object")),
		tree.F("required", tree.Strs([]string{"name"})),
		tree.F("properties", tree.Obj(
			tree.F("name", tree.Obj(tree.F("type", tree.Str("string")))),
			tree.F("namespace", namespaceProperty(target)),
			tree.F("labels", stringMap()),
			tree.F("annotations", stringMap()),
		)),
	)
	props := tree.Obj(
		tree.F("apiVersion", tree.Obj(tree.F("type", tree.Str("string")), tree.F("enum", tree.Strs([]string{d.Group + "/" + v.Name})))),
		tree.F("kind", tree.Obj(tree.F("type", tree.Str("string")), tree.F("enum", tree.Strs([]string{target.Kind})))),
		tree.F("metadata", meta),
	)
	required := []string{"apiVersion", "kind", "metadata"}
	for _, key := range []string{"spec", "status"} {
		s := v.Schema.Get("properties", key)
		if s.IsMap() {
			props.Set(key, Schema(s))
		}
		if key == "spec" && slices.Contains(v.Schema.Get("required").Strings(), key) {
			required = append(required, key)
		}
	}
	return tree.Obj(
		tree.F("type", tree.Str("object")),
		tree.F("description", tree.OptStr(v.Schema.Get("description").Str())),
		tree.F("required", tree.Strs(required)),
		tree.F("properties", props),
	)
}

func namespaceProperty(target xrd.Target) *tree.Node {
	if !target.Namespaced {
		return nil
	}
	return tree.Obj(tree.F("type", tree.Str("string")))
}

func stringMap() *tree.Node {
	return tree.Obj(
		tree.F("type", tree.Str("object")),
		tree.F("additionalProperties", tree.Obj(tree.F("type", tree.Str("string")))),
	)
}
