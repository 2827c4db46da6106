package store

// Op is what a Filter does.
type Op uint8

// The operations. The zero Op lets everything pass.
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

// Filter chooses entities by their fields. Keys and values are compared
// without regard to case. The key of a field is the way to it, such as
// "metadata.name"; lists have no index, so that "metadata.tags" has each of
// its tags as a value, and there is a key "metadata.tags.<tag>" besides.
// "relations.<type>" has the references of the targets.
type Filter struct {
	Op      Op
	Key     string
	Values  []string
	Filters []Filter
}

// All passes what passes each of the filters; without any it passes everything.
func All(fs ...Filter) Filter { return Filter{Op: OpAll, Filters: fs} }

// Any passes what passes one of the filters; without any it passes nothing.
func Any(fs ...Filter) Filter { return Filter{Op: OpAny, Filters: fs} }

// Not passes what f does not.
func Not(f Filter) Filter { return Filter{Op: OpNot, Filters: []Filter{f}} }

// Has passes entities that have the key.
func Has(key string) Filter { return Filter{Op: OpHas, Key: key} }

// In passes entities whose key has one of the values.
func In(key string, values ...string) Filter { return Filter{Op: OpIn, Key: key, Values: values} }

// Prefix passes entities whose key has a value that begins so.
func Prefix(key, prefix string) Filter {
	return Filter{Op: OpPrefix, Key: key, Values: []string{prefix}}
}
