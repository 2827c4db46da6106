package mirror

// Object is an object of a source, as it was last seen.
type Object struct {
	// Source is where the object was seen, List the list of the source that contains it,
	// and Key its name there. Together they are unique.
	Source, List, Key string
	// Unit is the unit that the object belongs to; empty for an object that belongs to the
	// units which define its kind, Of.
	Unit string
	// Kind and Claim are the kinds that the object defines, empty for none. Of is the kind
	// that it is an instance of. All have the form group/Kind.
	Kind, Claim, Of string
	// Parts are the kinds, in the same form, of the objects that it refers to as its parts.
	// They are not returned: reading an object needs its body to know them.
	Parts []string
	// Version is the version in the source; 0 if the source has none.
	Version int64
	// Note is small JSON that is stored with the object.
	Note []byte
	// Body is the object as JSON, nil if nothing is built from it.
	Body []byte
	// Status is small JSON with the status of the object, stored only with a body. It may
	// change while the object stays the same: nothing is built from it.
	Status []byte
}

// Gone is an object that its source reports as deleted.
type Gone struct {
	Key     string
	Version int64
}

// Observation is what was seen of one list. Put and Gone lose against a known later
// version, and Put also against a list that was read later and does not contain the
// object; objects and deletions without a version always win.
type Observation struct {
	Source, List string
	// Put are objects that are new or changed.
	Put []Object
	// Gone are objects that were deleted.
	Gone []Gone
	// Complete says that the list was read completely at Version: objects that are neither
	// in Keys nor of a later version are gone. Keys are the keys of all objects in the
	// list, including those in Put.
	Complete bool
	Keys     []string
	Version  int64
	// Anew says that the source has restarted its version numbers, so that known versions
	// are meaningless.
	Anew bool
	// Look says that an object with a later version makes its units dirty even if it is
	// otherwise the same, because change detection found it changed.
	Look bool
}

// Unit is a unit that has changed since it was built.
type Unit struct {
	Name string
	// Stamp differs whenever the unit has changed again.
	Stamp int64
}

// Run is a stored run.
type Run struct {
	// ID is unique, and the newest run has the highest.
	ID int64
	// Body and Changes are JSON. Changes lists the entities that the run changed; nil if
	// that is unknown.
	Body, Changes []byte
}

// Finding is a finding about a unit.
type Finding struct {
	Unit string
	// Severity is 0 for an error, 1 for a warning and 2 for a remark.
	Severity int
	Rule     string
	// Body is the finding as JSON.
	Body []byte
}

// Wanted selects findings. Empty fields match all.
type Wanted struct {
	Rule, Unit string
	// Severity, if not nil, is the severity to match.
	Severity *int
	// Sources, if not nil, match units that one of them has.
	Sources []string
}

// Count is the number of findings of a rule.
type Count struct {
	Rule string
	// Severity is the highest severity among the findings.
	Severity int
	// Findings is the number of findings, and Units the number of units with one.
	Findings, Units int
}
