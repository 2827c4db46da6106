package structural

import (
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

// compiler compiles the rules of one resource.
type compiler struct {
	faults []lint.SchemaFault
	cost   uint64
	// dearest is the path of the rule with the highest cost.
	dearest     []string
	dearestCost uint64
}

func newCompiler() *compiler { return &compiler{} }

// walk compiles the rules of a schema and of the schemas in it. most is the maximum
// number of values that the schema describes in one resource, nil if unlimited. loose is
// true if a value cannot be compared with its previous state.
func (c *compiler) walk(s *apiextensions.JSONSchemaProps, path []string, root bool, most *uint64, loose bool) {
	if s == nil {
		return
	}
	inside := product(most, elements(s))
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		c.walk(&p, join(path, "properties", name), false, inside, loose || !cel.MapIsCorrelatable(s.XMapType))
	}
	if s.AdditionalProperties != nil {
		c.walk(s.AdditionalProperties.Schema, join(path, "additionalProperties"), false, inside, loose)
	}
	if s.Items != nil {
		c.walk(s.Items.Schema, join(path, "items"), false, inside, loose || s.XListType == nil || *s.XListType != "map")
	}
	if len(s.XValidations) > 0 {
		c.rules(s, join(path, validations), root, most, loose)
	}
}

// join returns the path extended by more. The result shares no memory with path.
func join(path []string, more ...string) []string { return slices.Concat(path, more) }

// rules compiles the rules of one schema.
func (c *compiler) rules(s *apiextensions.JSONSchemaProps, path []string, root bool, most *uint64, loose bool) {
	structural, err := schema.NewStructural(s)
	if err != nil {
		c.fault(path, "the schema is not structural: "+err.Error())
		return
	}
	declared := model.SchemaDeclType(structural, root || s.XEmbeddedResource)
	if declared == nil {
		c.fault(path, "rules cannot be checked: Kubernetes cannot derive a type from the schema")
		return
	}
	results, err := cel.Compile(structural, declared, celconfig.PerCallLimit, environmentOfRules(), cel.NewExpressionsEnvLoader())
	if err != nil {
		c.fault(path, "rules cannot be checked: "+err.Error())
		return
	}
	for i := range results {
		c.result(&s.XValidations[i], &results[i], join(path, strconv.Itoa(i)), most, loose)
		if field := s.XValidations[i].FieldPath; field != "" {
			if _, _, err := cel.ValidFieldPath(field, structural); err != nil {
				c.fault(join(path, strconv.Itoa(i), "fieldPath"), fmt.Sprintf("fieldPath %q is not a valid field path: %v", field, err))
			}
		}
	}
}

// result reports what is wrong with a compiled rule.
func (c *compiler) result(r *apiextensions.ValidationRule, res *cel.CompilationResult, path []string, most *uint64, loose bool) {
	rule, message := join(path, "rule"), join(path, "messageExpression")
	if most == nil {
		most = &res.MaxCardinality
	}
	c.spend(rule, "rule", *product(&res.MaxCost, most))
	if res.Error != nil {
		c.fault(rule, "the rule does not compile: "+reason(res.Error.Detail))
	}
	switch {
	case res.MessageExpressionError != nil:
		c.fault(message, "messageExpression does not compile: "+reason(res.MessageExpressionError.Detail))
	case res.MessageExpression != nil:
		c.spend(message, "messageExpression", res.MessageExpressionMaxCost)
	}
	switch {
	case res.UsesOldSelf && loose:
		c.fault(rule, "the rule uses oldSelf in a list or map whose entries Kubernetes cannot match to their old values")
	case !res.UsesOldSelf && r.OptionalOldSelf != nil:
		c.fault(join(path, "optionalOldSelf"), "optionalOldSelf is set, but the rule does not use oldSelf")
	}
}

// spend adds the maximum cost of a rule, and reports it if it is too high.
func (c *compiler) spend(path []string, what string, cost uint64) {
	if cost > mostOfOne {
		c.fault(path, fmt.Sprintf("the estimated cost of the %s is %s the Kubernetes limit", what, times(cost, mostOfOne)))
	}
	c.cost = sum(c.cost, cost)
	if cost > c.dearestCost {
		c.dearest, c.dearestCost = path, cost
	}
}

// total reports whether the cost of all rules together is too high.
func (c *compiler) total() {
	if c.cost > mostOfAll && len(c.faults) == 0 {
		c.fault(c.dearest, fmt.Sprintf("the estimated cost of all rules together is %s the Kubernetes limit; this rule is the most expensive", times(c.cost, mostOfAll)))
	}
}

func (c *compiler) fault(path []string, message string) {
	hint := "fix the CEL expression"
	if strings.Contains(message, "estimated cost") {
		hint = "set maxItems, maxProperties and maxLength on lists, maps and strings, or simplify the rule"
	}
	c.faults = append(c.faults, lint.SchemaFault{Rule: lint.RuleCEL, Path: path, Message: message, Hint: hint})
}

// reason returns the compiler's message on one line, without the lines that mark the
// position.
func reason(detail string) string {
	detail = strings.TrimPrefix(detail, "compilation failed: ")
	var parts []string
	for line := range strings.Lines(detail) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "|") {
			continue
		}
		parts = append(parts, strings.TrimPrefix(line, "ERROR: <input>:"))
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

// times returns the ratio of cost to limit as text.
func times(cost, limit uint64) string {
	n := float64(cost) / float64(limit)
	if n > 100 {
		return "more than 100 times"
	}
	return fmt.Sprintf("%.1f times", n)
}
