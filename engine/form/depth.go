package form

import (
	"strconv"

	"example.dev/ingestor/document/tree"
)

// The limits of a form. Parts beyond maxDepth or maxProperties become YAML text; more
// than maxFindings findings are useless.
const (
	maxDepth      = 12
	maxProperties = 2000
	maxFindings   = 1000
)

// settleDepth computes the depth at which the form stays within maxProperties, and
// allocates room for the properties.
func (c *compiler) settleDepth(spec *tree.Node) {
	var counts [maxDepth + 1]int
	countProperties(spec, 0, &counts)
	total := 0
	for depth, n := range counts {
		if total += n; total > maxProperties {
			c.maxDepth = max(depth, 1)
			total -= n
			break
		}
	}
	// A property has its map, its title, and about four keywords.
	c.make = tree.NewMaker(2*total+total/2, 4*total+total/2)
}

// countProperties counts the properties at each depth.
func countProperties(s *tree.Node, depth int, counts *[maxDepth + 1]int) {
	if !s.IsMap() || depth > maxDepth {
		return
	}
	for i := range s.Fields {
		switch f := &s.Fields[i]; f.Key {
		case "properties":
			counts[depth] += len(f.Value.Fields)
			for j := range f.Value.Fields {
				countProperties(f.Value.Fields[j].Value, depth+1, counts)
			}
		case "items", "additionalProperties":
			countProperties(f.Value, depth+1, counts)
		}
	}
}

// reportDeep reports the parts that became YAML text because of the limits.
func (c *compiler) reportDeep() {
	if len(c.deep) == 0 {
		return
	}
	c.note(RuleDeep, c.version.Spec().At(),
		strconv.Itoa(len(c.deep))+" parts of the schema are too deep or too large for a form and become YAML text, the first at "+c.deep[0],
		"flatten the schema to get form fields for these parts")
}
