// Package filter describes which entities of a catalog are selected, by their fields.
package filter

// Op is the operation of a Filter.
type Op uint8

// The operations. The zero Op passes everything.
const (
	// OpTrue passes everything, OpFalse nothing.
	OpTrue Op = iota
	OpFalse
	// OpAll, OpAny and OpNot combine Filters.
	OpAll
	OpAny
	OpNot
	// OpHas passes entities that have the key.
	OpHas
	// OpIn passes entities whose key has one of the values.
	OpIn
	// OpPrefix passes entities whose key has a value that begins with the
	// first of the values.
	OpPrefix
)

// Filter selects entities by their fields. Keys and values are compared without regard
// to case. The key of a field is its path, such as "metadata.name"; lists have no
// index, so that "metadata.tags" has each of its tags as a value, and there is a key
// "metadata.tags.<tag>" besides. "relations.<type>" has the references of the targets.
type Filter struct {
	Op      Op
	Key     string
	Values  []string
	Filters []Filter
}

// All passes entities that pass each of the filters; without filters it passes
// everything.
func All(fs ...Filter) Filter { return Filter{Op: OpAll, Filters: fs} }

// Any passes entities that pass one of the filters; without filters it passes nothing.
func Any(fs ...Filter) Filter { return Filter{Op: OpAny, Filters: fs} }

// Not passes entities that f does not.
func Not(f Filter) Filter { return Filter{Op: OpNot, Filters: []Filter{f}} }

// Has passes entities that have the key.
func Has(key string) Filter { return Filter{Op: OpHas, Key: key} }

// In passes entities whose key has one of the values.
func In(key string, values ...string) Filter { return Filter{Op: OpIn, Key: key, Values: values} }

// Prefix passes entities whose key has a value with the prefix.
func Prefix(key, prefix string) Filter {
	return Filter{Op: OpPrefix, Key: key, Values: []string{prefix}}
}
