package lint

import (
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// kinds is a set of kinds of values.
type kinds uint8

func kindsOf(of ...tree.Kind) kinds {
	var k kinds
	for _, kind := range of {
		k |= 1 << kind
	}
	return k
}

func (k kinds) has(kind tree.Kind) bool { return k&(1<<kind) != 0 }

// String lists the kinds by their names in messages.
func (k kinds) String() string {
	var names []string
	for kind, name := range kindNames {
		if k.has(tree.Kind(kind)) && !(tree.Kind(kind) == tree.Int && k.has(tree.Float)) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

// keyword is what Kubernetes knows about a schema keyword.
type keyword struct {
	// kinds are the allowed kinds of its value; zero means any.
	kinds kinds
	// of is the type of values that the keyword applies to; empty means any.
	of string
	// instead is what to write instead if Kubernetes rejects the keyword.
	instead string
	// group is what the keyword is about, so that checks can be skipped.
	group group
	// lost are the sections from which Crossplane does not copy the keyword although it
	// matters there.
	lost section
}

// group is a set of topics of keywords.
type group uint8

const (
	aboutValues group = 1 << iota
	aboutMembers
	aboutItems
	aboutBranches
	aboutExtensions
	aboutRules
)

// section is a set of the parts of a schema that Crossplane rebuilds.
type section uint8

const (
	ofRoot section = 1 << iota
	ofSpec
	ofStatus
	ofAll = ofRoot | ofSpec | ofStatus
)

var (
	aString  = kindsOf(tree.String)
	aBool    = kindsOf(tree.Bool)
	aList    = kindsOf(tree.List)
	aMap     = kindsOf(tree.Map)
	anInt    = kindsOf(tree.Int)
	aNumber  = kindsOf(tree.Int, tree.Float)
	aMapBool = kindsOf(tree.Map, tree.Bool)
)

// The types of properties.
const (
	typeObject  = "object"
	typeArray   = "array"
	typeString  = "string"
	typeInteger = "integer"
	typeNumber  = "number"
	typeBoolean = "boolean"
)

// The extensions whose values are checked in detail.
const (
	extPreserve    = "x-kubernetes-preserve-unknown-fields"
	extIntOrString = "x-kubernetes-int-or-string"
	extEmbedded    = "x-kubernetes-embedded-resource"
	extListType    = "x-kubernetes-list-type"
	extListMapKeys = "x-kubernetes-list-map-keys"
	extMapType     = "x-kubernetes-map-type"
	extValidations = "x-kubernetes-validations"
)

// keywords are all keywords that Kubernetes reads.
var keywords = map[string]keyword{
	"type":        {kinds: aString},
	"description": {kinds: aString},
	"title":       {kinds: aString},
	"format":      {kinds: aString},
	"default":     {lost: ofAll, group: aboutValues},
	"example":     {},
	"nullable":    {kinds: aBool, lost: ofAll},
	"enum":        {kinds: aList, lost: ofAll, group: aboutValues},

	"pattern":          {kinds: aString, of: typeString, lost: ofAll, group: aboutValues},
	"minLength":        {kinds: anInt, of: typeString, lost: ofAll, group: aboutValues},
	"maxLength":        {kinds: anInt, of: typeString, lost: ofAll, group: aboutValues},
	"minimum":          {kinds: aNumber, of: typeNumber, lost: ofAll, group: aboutValues},
	"maximum":          {kinds: aNumber, of: typeNumber, lost: ofAll, group: aboutValues},
	"exclusiveMinimum": {kinds: aBool, of: typeNumber, lost: ofAll},
	"exclusiveMaximum": {kinds: aBool, of: typeNumber, lost: ofAll},
	"multipleOf":       {kinds: aNumber, of: typeNumber, lost: ofAll},

	"items":       {kinds: kindsOf(tree.Map, tree.List), of: typeArray, lost: ofAll, group: aboutItems},
	"minItems":    {kinds: anInt, of: typeArray, lost: ofAll, group: aboutValues},
	"maxItems":    {kinds: anInt, of: typeArray, lost: ofAll, group: aboutValues},
	"uniqueItems": {kinds: aBool, of: typeArray, lost: ofAll},

	"properties":           {kinds: aMap, of: typeObject, group: aboutMembers},
	"additionalProperties": {kinds: aMapBool, of: typeObject, lost: ofAll, group: aboutMembers},
	"required":             {kinds: aList, of: typeObject, group: aboutMembers},
	"minProperties":        {kinds: anInt, of: typeObject, lost: ofAll, group: aboutValues},
	"maxProperties":        {kinds: anInt, of: typeObject, lost: ofAll, group: aboutValues},

	"allOf": {kinds: aList, lost: ofAll, group: aboutBranches},
	"anyOf": {kinds: aList, lost: ofAll, group: aboutBranches},
	"oneOf": {kinds: aList, lost: ofRoot, group: aboutBranches},
	"not":   {kinds: aMap, lost: ofAll, group: aboutBranches},

	"externalDocs": {kinds: aMap},

	"$schema":           {kinds: aString, instead: "remove it"},
	"$ref":              {kinds: aString, instead: "write the schema out where it is used"},
	"id":                {kinds: aString, instead: "remove it"},
	"definitions":       {kinds: aMap, instead: "write the schemas out where they are used"},
	"dependencies":      {kinds: aMap, instead: "write an x-kubernetes-validations rule"},
	"patternProperties": {kinds: aMap, instead: "write additionalProperties"},
	"additionalItems":   {kinds: aMapBool, instead: "remove it"},

	extPreserve:    {kinds: aBool, lost: ofRoot | ofStatus, group: aboutExtensions},
	extIntOrString: {kinds: aBool, lost: ofAll, group: aboutExtensions},
	extEmbedded:    {kinds: aBool, lost: ofAll, group: aboutExtensions},
	extListType:    {kinds: aString, lost: ofAll, group: aboutExtensions},
	extListMapKeys: {kinds: aList, lost: ofAll, group: aboutExtensions},
	extMapType:     {kinds: aString, group: aboutExtensions},
	extValidations: {kinds: aList, group: aboutRules},
}

// keywordNames, extensionNames and uiNames are the candidates for suggestions.
var (
	keywordNames, extensionNames = func() (plain, extensions []string) {
		for _, k := range sortedKeys(keywords) {
			if strings.HasPrefix(k, "x-") {
				extensions = append(extensions, k)
				continue
			}
			plain = append(plain, k)
		}
		return plain, extensions
	}()
	uiNames = sortedKeys(uiKeywords)
)

// uiKeywords are the keywords that shape the form.
var uiKeywords = map[string]kinds{
	"x-ui-hidden":      aBool,
	"x-ui-advanced":    aBool,
	"x-ui-order":       anInt,
	"x-ui-field":       aString,
	"x-ui-placeholder": aString,
	"x-ui-options":     aMap,
	xrd.ChoicesKeyword: aMap,
}

// foreign are keywords of JSON Schema and OpenAPI that Kubernetes drops, and common
// mistaken names for keywords, with what to write instead.
var foreign = map[string]string{
	"const":                 "write enum with one value",
	"examples":              "write example",
	"readOnly":              "move fields that the platform sets under status",
	"writeOnly":             "remove it",
	"deprecated":            "mention it in the description",
	"xml":                   "remove it",
	"discriminator":         "remove it",
	"$id":                   "remove it",
	"$comment":              "write a YAML comment",
	"$defs":                 "write the schemas out where they are used",
	"if":                    "write an x-kubernetes-validations rule",
	"then":                  "write an x-kubernetes-validations rule",
	"else":                  "write an x-kubernetes-validations rule",
	"contains":              "write an x-kubernetes-validations rule",
	"propertyNames":         "write an x-kubernetes-validations rule",
	"dependentRequired":     "write an x-kubernetes-validations rule",
	"dependentSchemas":      "write an x-kubernetes-validations rule",
	"unevaluatedProperties": "remove it; unknown fields are dropped anyway",
	"prefixItems":           "write items",
	"contentEncoding":       "write format",
	"contentMediaType":      "mention it in the description",

	"optional": "remove it; properties that required does not list are optional",
	"desc":     "write description",
	"values":   "write enum",
	"options":  "write enum",
	"regex":    "write pattern",
	"min":      "write minimum, minLength or minItems",
	"max":      "write maximum, maxLength or maxItems",
}

// typeHints map common mistaken type names to the right types.
var typeHints = map[string]string{
	"bool": typeBoolean, "boolen": typeBoolean,
	"int": typeInteger, "int32": typeInteger, "int64": typeInteger, "long": typeInteger, "uint": typeInteger,
	"str": typeString, "text": typeString, "date": typeString, "datetime": typeString, "date-time": typeString,
	"password": typeString, "secret": typeString, "enum": typeString, "uuid": typeString,
	"float": typeNumber, "float32": typeNumber, "float64": typeNumber, "double": typeNumber, "decimal": typeNumber,
	"map": typeObject, "dict": typeObject, "struct": typeObject, "hash": typeObject, "json": typeObject,
	"list": typeArray, "slice": typeArray, "set": typeArray,
}

var typeNames = []string{typeArray, typeBoolean, typeInteger, typeNumber, typeObject, typeString}

// keywords checks the keys of the schema n: each must be a keyword with a value of the
// right kind, must not be rejected by Kubernetes, and must apply to type t. It returns
// the topics of n.
func (l *linter) keywords(n *tree.Node, t string) group {
	var about group
	for i := range n.Fields {
		f := &n.Fields[i]
		k, ok := keywords[f.Key]
		if !ok {
			l.unknownKeyword(f)
			if f.Key == xrd.ChoicesKeyword && f.Value.IsMap() {
				l.choices(n, f)
			}
			continue
		}
		about |= k.group
		v := f.Value
		switch {
		case v.IsNull():
			l.nullKeyword(f)
		case k.kinds != 0 && !k.kinds.has(v.Kind):
			l.report(RuleKeywordType, f.Key, v.At(), keywordHint(f, k.kinds), "%s is %s, but must be %s", f.Key, kindNames[kindOf(v)], k.kinds)
		case k.instead != "" && f.Key != "$ref" && (v.Len() == 0 && v.Kind >= tree.List || missing(v)):
			l.report(RuleKeywordNull, f.Key, f.Pos, k.instead, "%s is empty", f.Key)
		case k.instead != "":
			l.report(RuleRefusedKeyword, f.Key, f.Pos, k.instead, "%s is rejected by Kubernetes", f.Key)
		case k.kinds == aString && v.Plain && isYAMLBoolean(v.Text):
			l.report(RuleYAMLBooleanString, f.Key, v.At(), "quote it: \""+v.Text+"\"", "%s is unquoted %s, which Kubernetes reads as a boolean", f.Key, v.Text)
		case k.kinds == anInt && strings.HasPrefix(v.Text, "-"):
			l.report(RuleBounds, f.Key, v.At(), "write zero or more", "%s is negative", f.Key)
		case f.Key == "multipleOf" && (strings.HasPrefix(v.Text, "-") || v.Text == "0"):
			l.report(RuleBounds, f.Key, v.At(), "write a number greater than zero", "multipleOf is not greater than zero")
		case f.Key == "uniqueItems" && v.IsTrue():
			l.report(RuleRefusedKeyword, f.Key, f.Pos, "write x-kubernetes-list-type: set", "uniqueItems: true is rejected by Kubernetes")
		case f.Key == "items" && v.IsList():
			l.report(RuleRefusedKeyword, f.Key, f.Pos, "write one schema for all items", "a list of schemas for items is rejected by Kubernetes")
		case f.Key == "externalDocs":
			l.push(f.Key)
			l.knownFields(v, "externalDocs", fields{"description": tree.String, "url": tree.String})
			l.pop()
		case k.of != "" && t != "" && k.of != t && !(k.of == typeNumber && t == typeInteger):
			l.idle(f, k.of, t)
		}
	}
	return about
}

// idle reports a keyword that does not apply to type t.
func (l *linter) idle(f *tree.Field, of, t string) {
	switch {
	case keywords[f.Key].group&(aboutMembers|aboutItems) == 0:
		l.report(RuleIdleKeyword, f.Key, f.Pos, "remove it, or change the type", "%s has no effect on type %s", f.Key, t)
	case t == typeArray:
		l.report(RuleWrongParent, f.Key, f.Pos, "move it under items", "%s has no effect on an array", f.Key)
	default:
		l.report(RuleWrongParent, f.Key, f.Pos, "write type: "+of+", or remove it", "%s has no effect on type %s", f.Key, t)
	}
}

// nullKeyword reports a keyword without a value, unless a more specific rule does.
func (l *linter) nullKeyword(f *tree.Field) {
	switch f.Key {
	case "type", "items", "default", "example":
		return
	}
	l.report(RuleKeywordNull, f.Key, f.Pos, "fill it in or remove it", "%s has no value", f.Key)
}

func keywordHint(f *tree.Field, want kinds) string {
	switch {
	case f.Key == "required" && f.Value.Kind == tree.Bool:
		return "list the property's name in required of the object it belongs to"
	case f.Key == "required" && f.Value.IsString():
		return "write a list: [" + shorten(f.Value.Text) + "]"
	case f.Key == "exclusiveMinimum", f.Key == "exclusiveMaximum":
		return "write the number as minimum or maximum, and true here"
	case f.Key == "type" && f.Value.IsList():
		return "write one type, and nullable: true if null is allowed"
	case want == aString && f.Value.Kind < tree.List:
		return "put it in quotes"
	}
	return "write " + want.String()
}

// unknownKeyword reports an unknown key with what it probably was meant to be.
func (l *linter) unknownKeyword(f *tree.Field) {
	key := f.Key
	switch {
	case strings.HasPrefix(key, "x-kubernetes-"):
		l.report(RuleUnknownExtension, key, f.Pos, l.didYouMean(key, extensionNames), "%s is not known to Kubernetes", shorten(key))
		return
	case strings.HasPrefix(key, "x-ui-"):
		l.uiKeyword(f)
		return
	case strings.HasPrefix(key, "x-"):
		return
	}
	if instead, ok := foreign[key]; ok && !looksLikeSchema(f.Value) {
		l.report(RuleUnknownKeyword, key, f.Pos, instead, "%s is not a keyword Kubernetes knows, so it is dropped", key)
		return
	}
	near := l.nearest(key, keywordNames)
	if near != "" && !f.Value.IsNull() {
		if k := keywords[near].kinds; k != 0 && !k.has(f.Value.Kind) {
			near = ""
		}
	}
	switch {
	case near != "":
		l.report(RuleMisspelt, key, f.Pos, "write "+near, "%s is not a keyword; it looks like %s", shorten(key), near)
	case looksLikeSchema(f.Value):
		l.report(RuleUnknownKeyword, key, f.Pos, "indent it under properties, or rename it if it is meant as a keyword",
			"%s is not a keyword; it looks like a property that is not indented under properties", shorten(key))
	case strings.Contains(key, " "):
		l.report(RuleUnknownKeyword, key, f.Pos, "quote the text above it, or write it as a block scalar with |",
			"%q is not a keyword; it looks like part of an unquoted string", shorten(key))
	default:
		l.report(RuleUnknownKeyword, key, f.Pos, "remove it, or check the indentation", "%s is not a keyword, so it is dropped", shorten(key))
	}
}

func (l *linter) didYouMean(s string, names []string) string {
	if near := l.nearest(s, names); near != "" {
		return "did you mean " + near + "?"
	}
	return "write one of " + strings.Join(names, ", ")
}

// looksLikeSchema reports whether n is a map with a typical schema keyword.
func looksLikeSchema(n *tree.Node) bool {
	return n.IsMap() && (n.Get("type").IsString() || n.Has("properties") || n.Has("items") ||
		n.Has("additionalProperties") || n.Has(extPreserve) || n.Get("description").IsString())
}

func (l *linter) uiKeyword(f *tree.Field) {
	want, ok := uiKeywords[f.Key]
	switch {
	case !ok:
		l.report(RuleUnknownUI, f.Key, f.Pos, l.didYouMean(f.Key, uiNames), "%s is not known, so it has no effect on the form", shorten(f.Key))
	case !want.has(kindOf(f.Value)):
		l.report(RuleUIValue, f.Key, f.Value.At(), "write "+want.String(), "%s is %s, but must be %s", f.Key, kindNames[kindOf(f.Value)], want)
	}
}
