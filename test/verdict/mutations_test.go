package judge

import "maps"

type (
	object = map[string]any
	list   = []any
)

// mutations are all mutations. Each is applied to the same number of
// definitions.
var mutations = []struct {
	name   string
	change func(*draft) bool
}{
	// Mutations of the object itself.
	{"another apiVersion", setAt("apiVersion", "apiextensions.crossplane.io/v1", "apiextensions.crossplane.io/v2")},
	{"no metadata.name", dropAt("metadata.name")},
	{"another metadata.name", setAt("metadata.name", "others.example.org", "Upper.example.org", "a_b.example.org", "", int64(7))},
	{"label", func(d *draft) bool {
		d.at("metadata", "labels")[pick(d, "a", "example.org/a", "a b", "-a", "example.org/", "/a", "UPPER.example.org/a", many(64))] =
			pick[any](d, "b", "b c", "-b", many(64), true, int64(1), nil, object{})
		return true
	}},
	{"annotation", func(d *draft) bool {
		d.at("metadata", "annotations")[pick(d, "a", "example.org/a", "a b", "-a", "UPPER.example.org/a", "a/b/c")] =
			pick[any](d, "b", "b c", many(64), true, int64(1), nil, list{})
		return true
	}},
	{"finalizer", setAt("metadata.finalizers", list{"example.org/a"}, list{"no slash"}, "example.org/a", list{int64(1)})},
	{"owner", setAt("metadata.ownerReferences", list{object{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "b"}}, list{object{"name": "a"}})},
	{"no spec", dropAt("spec")},
	{"spec of another type", setAt("spec", nil, "a", list{}, object{})},
	{"unknown field of spec", setAt("spec.unknown", "a", object{})},
	{"status", setAt("status", object{}, object{"conditions": list{}}, "a", object{"controllers": int64(1)})},

	// Mutations of names.
	{"no group", dropAt("spec.group")},
	{"group", setAt("spec.group", "example", "Example.org", "example..org", "example.org.", "", int64(1), nil)},
	{"no names", dropAt("spec.names")},
	{"no kind", dropAt("spec.names.kind")},
	{"kind", setAt("spec.names.kind", "lower", "With_Line", "With Space", "9Lives", "", int64(1), nil, many(64), "X"+many(60))},
	{"no plural", dropAt("spec.names.plural")},
	{"plural", setAt("spec.names.plural", "Upper", "with_line", "with.dot", "", int64(1), nil)},
	{"plural and name", func(d *draft) bool {
		plural := pick(d, "Upper", "with_line", "with.dot", "9lives", "a-b", many(64))
		d.at("spec", "names")["plural"] = plural
		group, _ := d.at("spec")["group"].(string)
		d.at("metadata")["name"] = plural + "." + group
		return true
	}},
	{"singular", setAt("spec.names.singular", "Upper", "with_line", "fine", "", int64(1), nil, many(64))},
	{"list kind", setAt("spec.names.listKind", "lower", "With_Line", "FineList", "", int64(1), nil)},
	{"list kind as kind", func(d *draft) bool {
		d.at("spec", "names")["listKind"] = d.at("spec", "names")["kind"]
		return true
	}},
	{"short names", setAt("spec.names.shortNames", list{"a"}, list{"A"}, list{"a b"}, list{"a", "a"}, "a", list{int64(1)}, list{}, list{nil}, nil)},
	{"categories", setAt("spec.names.categories", list{"a"}, list{"A"}, list{"a b"}, list{"a", "a"}, "a", list{int64(1)}, list{}, nil)},
	{"claim names", setAt("spec.claimNames", object{}, object{"kind": "Claim"}, object{"plural": "claims"},
		object{"kind": "Claim", "plural": "claims"}, object{"kind": "claim", "plural": "Claims"}, nil, "Claim")},
	{"claim as composite", func(d *draft) bool {
		names := maps.Clone(d.at("spec", "names"))
		if pick(d, true, false) {
			names["kind"] = "AnotherKind"
		}
		if pick(d, true, false) {
			names["plural"] = "anotherplural"
		}
		if pick(d, true, false) {
			names["singular"] = "anothersingular"
		}
		d.at("spec")["claimNames"] = names
		return true
	}},
	{"scope", setAt("spec.scope", "Namespaced", "Cluster", "LegacyCluster", "Namespace", "", int64(1), nil)},
	{"connection secret keys", setAt("spec.connectionSecretKeys", list{"a"}, list{int64(1)}, "a", list{}, nil, list{"a", "a"})},

	// Mutations of settings.
	{"default composition", setAt("spec.defaultCompositionRef", object{"name": "a"}, object{}, "a", object{"name": int64(1)}, object{"name": ""}, nil)},
	{"enforced composition", setAt("spec.enforcedCompositionRef", object{"name": "a"}, object{}, "a", object{"name": nil}, nil)},
	{"update policy", setAt("spec.defaultCompositionUpdatePolicy", "Automatic", "Manual", "automatic", "", int64(1), nil)},
	{"delete policy", setAt("spec.defaultCompositeDeletePolicy", "Background", "Foreground", "Orphan", "", int64(1), nil)},
	{"revision selector", setAt("spec.defaultCompositionRevisionSelector", object{"matchLabels": object{"a": "b"}}, object{}, object{"matchLabels": "a"}, object{"matchLabels": object{"a": int64(1)}})},
	{"conversion", setAt("spec.conversion", object{"strategy": "None"}, object{"strategy": "Webhook"}, object{"strategy": "Other"}, object{}, "None", nil,
		object{"strategy": "Webhook", "webhook": object{"conversionReviewVersions": list{"v1"}, "clientConfig": object{"url": "https://example.org/a"}}},
		object{"strategy": "Webhook", "webhook": object{"conversionReviewVersions": list{"v1"}, "clientConfig": object{"url": "http://example.org/a"}}},
		object{"strategy": "Webhook", "webhook": object{"clientConfig": object{"service": object{"name": "a", "namespace": "b"}}}})},
	{"metadata for the kind", setAt("spec.metadata", object{"labels": object{"a": "b"}}, object{"labels": object{"a": "b c"}}, object{"labels": object{"a b": "c"}},
		object{"labels": object{"a": int64(1)}}, object{"annotations": object{"a": "b c"}}, object{"annotations": object{"a b": "c"}}, "a", nil)},

	// Mutations of versions.
	{"no versions", dropAt("spec.versions")},
	{"versions of another type", setAt("spec.versions", list{}, nil, object{}, list{"v1"}, list{nil}, list{object{}})},
	{"no version name", setVersion("name")},
	{"version name", setVersion("name", "V1", "v1.1", "1", "v1_1", "", int64(1), nil, "latest", many(64))},
	{"no served", setVersion("served")},
	{"served", setVersion("served", false, "true", nil, int64(1))},
	{"no referenceable", setVersion("referenceable")},
	{"referenceable", setVersion("referenceable", false, "true", nil, int64(1))},
	{"stored but not served", func(d *draft) bool {
		v := d.version()
		v["referenceable"], v["served"] = true, false
		return true
	}},
	{"another version", func(d *draft) bool {
		all, _ := d.at("spec")["versions"].([]any)
		more := clone(d.version())
		more["name"] = pick(d, more["name"], "v9", "v9beta1")
		more["referenceable"] = pick(d, true, false)
		d.at("spec")["versions"] = append(all, more)
		return true
	}},
	{"deprecated", setVersion("deprecated", true, "true", nil)},
	{"deprecation warning", setVersion("deprecationWarning", "going", many(257), int64(1), nil, "")},
	{"deprecated with a warning", func(d *draft) bool {
		v := d.version()
		v["deprecated"], v["deprecationWarning"] = true, pick[any](d, "going", many(256), many(257), "", "two\nlines", "tab\there", string([]rune{'é'})+many(255))
		return true
	}},
	{"unknown field of a version", setVersion("storage", true, "a")},
	{"subresources", setVersion("subresources", object{}, object{"status": object{}}, object{"scale": object{}}, nil, "a",
		object{"scale": object{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}},
		object{"scale": object{"specReplicasPath": ".status.replicas", "statusReplicasPath": ".spec.replicas"}},
		object{"scale": object{"specReplicasPath": ".spec.replicas[0]", "statusReplicasPath": ".status.replicas"}},
		object{"scale": object{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".metadata.selector"}})},
	{"no schema", setVersion("schema")},
	{"schema of another type", setVersion("schema", nil, object{}, "a", object{"openAPIV3Schema": nil}, object{"openAPIV3Schema": "a"}, object{"openAPIV3Schema": object{}})},

	// Mutations of printer columns.
	{"column name", setColumn("name", "Fine", "", int64(1), nil)},
	{"no column name", setColumn("name")},
	{"column type", setColumn("type", "string", "date", "array", "object", "String", "", int64(1), nil)},
	{"no column type", setColumn("type")},
	{"column path", setColumn("jsonPath", ".spec.size", "spec.size", ".spec.list[0]", ".spec.list[*].a", ".spec.list[?(@.a=='b')].c", "{.spec.size}", ".spec[", "", ".", "..", ".spec.a-b", ".metadata.annotations.example\\.org/a", `.spec['a']`, int64(1), nil)},
	{"no column path", setColumn("jsonPath")},
	{"column format", setColumn("format", "int32", "int64", "float", "double", "byte", "date", "date-time", "password", "other", "", int64(1))},
	{"column priority", setColumn("priority", int64(1), int64(0), "1", int64(-1), 1.5, nil)},
	{"column description", setColumn("description", "fine", "", int64(1))},
	{"column default", setColumn("default", "a")},
	{"columns of another type", setVersion("additionalPrinterColumns", object{}, list{"a"}, list{}, nil, list{nil}, list{object{}})},
	{"two columns of one name", setVersion("additionalPrinterColumns", list{object{"name": "A", "type": "string", "jsonPath": ".a"}, object{"name": "A", "type": "string", "jsonPath": ".b"}})},
}
