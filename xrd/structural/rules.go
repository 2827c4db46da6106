package structural

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"example.dev/ingestor/xrd/lint"
)

// The API server's limits on the worst-case cost of rules: for one rule, and for all
// rules of a resource together. They are copied because their package links a client.
const (
	mostOfOne = 10_000_000
	mostOfAll = 100_000_000
)

const validations = "x-kubernetes-validations"

// environmentOfRules is the CEL environment of rules. It is created once because that is
// slow.
var environmentOfRules = sync.OnceValue(func() *environment.EnvSet {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
})

// compiler compiles the rules of one resource. Its messages are the API server's.
type compiler struct {
	faults []lint.SchemaFault
	cost   uint64
	// dear are the paths of the rules with the highest costs, ordered by cost.
	dear []spent
}

// spent is the maximum cost of a rule.
type spent struct {
	path []string
	cost uint64
}

func newCompiler() *compiler { return &compiler{} }

// walk compiles the rules of a schema and of the schemas in it. most is the maximum
// number of values that the schema describes in one resource, nil if unlimited. loose is
// the path of the outermost schema whose entries cannot be compared with their previous
// states, empty if there is none. As an API server does, it does not compile the rules of a
// schema that has an invalid field path inside, and returns true for it.
func (c *compiler) walk(s *apiextensions.JSONSchemaProps, path []string, root bool, most *uint64, loose string) (invalid bool) {
	if s == nil {
		return false
	}
	inside := product(most, elements(s))
	within := func(loosens bool) string {
		if loosens && loose == "" {
			return written(path)
		}
		return loose
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		invalid = c.walk(&p, join(path, "properties", name), false, inside, within(!cel.MapIsCorrelatable(s.XMapType))) || invalid
	}
	if s.AdditionalProperties != nil {
		invalid = c.walk(s.AdditionalProperties.Schema, join(path, "additionalProperties"), false, inside, loose) || invalid
	}
	if s.Items != nil {
		invalid = c.walk(s.Items.Schema, join(path, "items"), false, inside, within(s.XListType == nil || *s.XListType != "map")) || invalid
	}
	if len(s.XValidations) == 0 {
		return invalid
	}
	return c.rules(s, join(path, validations), root, most, loose, invalid)
}

// join returns the path extended by more. The result shares no memory with path.
func join(path []string, more ...string) []string { return slices.Concat(path, more) }

// written returns a path of schemas as the API server writes it, from the keyword that all
// versions have in common.
func written(path []string) string {
	p := field.NewPath("openAPIV3Schema")
	for len(path) > 0 {
		step := path[0]
		p, path = p.Child(step), path[1:]
		if step == "properties" && len(path) > 0 {
			p, path = p.Key(path[0]), path[1:]
		}
	}
	return p.String()
}

// rules compiles the rules of one schema, unless it is invalid.
func (c *compiler) rules(s *apiextensions.JSONSchemaProps, path []string, root bool, most *uint64, loose string, invalid bool) bool {
	structural, err := schema.NewStructural(s)
	if err != nil {
		c.fault(path, "the schema is not structural: "+err.Error(), "fix the schema")
		return true
	}
	for i := range s.XValidations {
		of := s.XValidations[i].FieldPath
		if of == "" {
			continue
		}
		if _, _, err := cel.ValidFieldPath(of, structural); err != nil {
			c.fault(join(path, strconv.Itoa(i), "fieldPath"), "must be a valid path", fmt.Sprintf("fix %q: %v", of, err))
			invalid = true
		}
	}
	if invalid {
		return true
	}
	declared := model.SchemaDeclType(structural, root || s.XEmbeddedResource)
	if declared == nil {
		c.fault(path, "rules cannot be checked: Kubernetes cannot derive a type from the schema", "fix the schema")
		return false
	}
	results, err := cel.Compile(structural, declared, celconfig.PerCallLimit, environmentOfRules(), cel.NewExpressionsEnvLoader())
	if err != nil {
		c.fault(path, "rules cannot be checked: "+err.Error(), fixExpression)
		return false
	}
	for i := range results {
		c.result(&s.XValidations[i], &results[i], join(path, strconv.Itoa(i)), most, loose)
	}
	return false
}

// Hints.
const (
	fixExpression = "fix the CEL expression"
	fixCost       = "declare the limits of every list, map and string that the rule reads"
	fixOldSelf    = "remove oldSelf, or make the list one of x-kubernetes-list-type map: Kubernetes cannot match other entries to their old values"
)

// result reports what is wrong with a compiled rule.
func (c *compiler) result(r *apiextensions.ValidationRule, res *cel.CompilationResult, path []string, most *uint64, loose string) {
	rule, message := join(path, "rule"), join(path, "messageExpression")
	if most == nil {
		most = &res.MaxCardinality
	}
	c.spend(rule, "estimated rule cost", *product(&res.MaxCost, most))
	if res.Error != nil {
		c.fault(rule, reason(res.Error.Detail), fixExpression)
	}
	switch {
	case res.MessageExpressionError != nil:
		c.fault(message, reason(res.MessageExpressionError.Detail), fixExpression)
	case res.MessageExpression != nil:
		c.spend(message, "estimated messageExpression cost", res.MessageExpressionMaxCost)
	}
	switch {
	case res.UsesOldSelf && loose != "":
		c.fault(rule, "oldSelf cannot be used on the uncorrelatable portion of the schema within "+loose, fixOldSelf)
	case !res.UsesOldSelf && r.OptionalOldSelf != nil:
		c.fault(join(path, "optionalOldSelf"), "may not be set if oldSelf is not used in rule", "remove optionalOldSelf")
	}
}

// spend adds the maximum cost of a rule, and reports it if it is too high.
func (c *compiler) spend(path []string, what string, cost uint64) {
	if cost > mostOfOne {
		c.fault(path, exceeds(what, cost, mostOfOne), fixCost)
	}
	c.cost = sum(c.cost, cost)
	if cost < mostOfAll/100 {
		return
	}
	c.dear = append(c.dear, spent{path, cost})
	slices.SortStableFunc(c.dear, func(a, b spent) int { return cmp.Compare(b.cost, a.cost) })
	c.dear = c.dear[:min(len(c.dear), 4)]
}

// total reports the most expensive rules if the cost of all rules together is too high. It
// is silent if a single rule has a fault, unlike an API server: what fixes that rule often
// reduces the total enough.
func (c *compiler) total() {
	if c.cost <= mostOfAll || len(c.faults) > 0 {
		return
	}
	for _, s := range c.dear {
		c.fault(s.path, "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema", fixCost)
	}
	c.fault(nil, exceeds("x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema", c.cost, mostOfAll), fixCost)
}

func (c *compiler) fault(path []string, message, hint string) {
	c.faults = append(c.faults, lint.SchemaFault{Rule: lint.RuleCEL, Path: path, Message: message, Hint: hint})
}

// reason returns the compiler's message on one line, without the lines that mark the
// position.
func reason(detail string) string {
	var parts []string
	for line := range strings.Lines(detail) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "|") {
			continue
		}
		parts = append(parts, line)
	}
	return strings.Join(parts, "; ")
}

// elements returns the maximum number of elements that a value of s holds; nil if
// unlimited.
func elements(s *apiextensions.JSONSchemaProps) *uint64 {
	limit := int64(1)
	switch {
	case s.Type == "object" && s.AdditionalProperties != nil:
		if s.MaxProperties == nil {
			return nil
		}
		limit = *s.MaxProperties
	case s.Type == "array":
		if s.MaxItems == nil {
			return nil
		}
		limit = *s.MaxItems
	}
	n := uint64(max(limit, 0))
	return &n
}

// product multiplies two numbers, where nil means unlimited.
func product(a, b *uint64) *uint64 {
	if a == nil || b == nil {
		return nil
	}
	n := *a * *b
	if *a != 0 && n / *a != *b {
		n = math.MaxUint64
	}
	return &n
}

func sum(a, b uint64) uint64 {
	if math.MaxUint64-a < b {
		return math.MaxUint64
	}
	return a + b
}

// exceeds returns the API server's sentence about a cost above its limit. Its function is
// in the package that links a client.
func exceeds(what string, cost, limit uint64) string {
	n := float64(cost) / float64(limit)
	factor := fmt.Sprintf("%.1fx", n)
	switch {
	case n > 100:
		factor = "more than 100x"
	case n < 1.5:
		// Never "1.0x".
		factor = fmt.Sprintf("%fx", n)
	}
	return fmt.Sprintf("%s exceeds budget by factor of %s (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)", what, factor)
}
