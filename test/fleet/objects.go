package fleet

import (
	"fmt"
	"strings"
)

const (
	crossplane = "apiextensions.crossplane.io"
	platform   = "platform.example.org"

	// firstVersion is the resource version of a list that was never changed, and
	// objectVersion that of an object.
	firstVersion  = 1000
	objectVersion = 7
)

// definition is a definition as text. It is shared by the clusters that have it.
type definition struct {
	kind, plural string
	// managed is metadata that a server returns and that is not read, and spec the rest of
	// the object.
	managed, spec string
}

// newDefinition returns a definition of a kind with a number of fields.
func newDefinition(kind string, fields int) definition {
	d := definition{kind: kind, plural: strings.ToLower(kind) + "s"}
	var schema, managed strings.Builder
	for i := range fields {
		if i > 0 {
			schema.WriteString(",")
		}
		fmt.Fprintf(&schema, `"field%d":{"type":"string","description":"What field %[1]d of a %[2]s sets.","enum":["a","b","c"]}`, i, kind)
		fmt.Fprintf(&managed, `,"f:field%d":{".":{},"f:type":{},"f:description":{},"f:enum":{}}`, i)
	}
	d.managed = `"managedFields":[{"manager":"kubectl","operation":"Apply","apiVersion":"` + crossplane + `/v2","time":"2024-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:openportal.dev/ingest":{}}},"f:spec":{"f:group":{},"f:names":{},"f:versions":{}` + managed.String() + `}}}]`
	d.spec = fmt.Sprintf(`"spec":{"group":%q,"scope":"Namespaced","names":{"kind":%q,"plural":%q},"versions":[{"name":"v1","served":true,"referenceable":true,`+
		`"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{%s}}}}}}]},`+
		`"status":{"conditions":[{"type":"Established","status":"True","reason":"WatchingCompositeResource","lastTransitionTime":"2024-01-02T03:04:05Z"}]}`,
		platform, kind, d.plural, schema.String())
	return d
}

// name returns the name of the definition.
func (d *definition) name() string { return d.plural + "." + platform }

// text returns the definition, or only its metadata, as it is after a change.
func (d *definition) text(at change, metadata bool) string {
	title := ""
	if at.title != "" {
		title = fmt.Sprintf(`,"annotations":{"backstage.io/template-title":%q}`, at.title)
	}
	head := fmt.Sprintf(`"metadata":{"name":%q,"uid":"u-%s","resourceVersion":"%d","generation":1,"creationTimestamp":"2024-01-02T03:04:05Z","labels":{"openportal.dev/ingest":"true"}%s,%s}`,
		d.name(), d.plural, max(at.version, objectVersion), title, d.managed)
	if metadata {
		return `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata",` + head + `}`
	}
	return fmt.Sprintf(`{"apiVersion":"%s/v2","kind":"CompositeResourceDefinition",%s,%s}`, crossplane, head, d.spec)
}

// composite returns the composite of the kind.
func (d *definition) composite() string {
	return fmt.Sprintf(`{"apiVersion":"%s/v1","kind":%q,"metadata":{"name":"one","namespace":"default","uid":"c-%s","resourceVersion":"%d","creationTimestamp":"2024-01-02T03:04:05Z"},"spec":{"field0":"a"}}`,
		platform, d.kind, d.plural, objectVersion)
}
