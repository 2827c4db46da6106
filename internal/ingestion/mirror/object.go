package mirror

// Object is a thing of a source, as it was last seen.
type Object struct {
	// Source is where it was seen, List the list of the source it is in, and
	// Key its name there. Together they are unique.
	Source, List, Key string
	// Unit is what entities are made of it for; empty for an object that
	// belongs to the units which give the kind it is Of.
	Unit string
	// Kind and Claim are the kinds it gives, empty for none. Of is the kind it
	// is of. All have the form group/Kind.
	Kind, Claim, Of string
	// Version is that of the source when it was so; 0 if the source has none.
	Version int64
	// Note is small JSON that is kept beside it.
	Note []byte
	// Body is the object as JSON, nil if nothing is to be made of it.
	Body []byte
	// Status is small JSON that says how it fares, kept only with a body. It may
	// change while the object stays the same: nothing is made of it.
	Status []byte
}

// Gone is an object that its source says was deleted.
type Gone struct {
	Key     string
	Version int64
}

// Observation is what was seen of one list. Put and Gone lose against what is
// known of a later version, and Put also against a list that was read later and has
// them not; objects and deletions without a version always win.
type Observation struct {
	Source, List string
	// Put are objects that are new or changed.
	Put []Object
	// Gone are those that were deleted.
	Gone []Gone
	// Complete says that the list was read to its end at Version: what is
	// neither in Keys nor of a later version is gone. Keys are those of all
	// objects in the list, Put's among them.
	Complete bool
	Keys     []string
	Version  int64
	// Anew says that the source counts its versions anew, so that those known
	// mean nothing.
	Anew bool
	// Look says that an object of a later version changes its units even if it
	// is otherwise the same: somebody has found that it is to be looked at.
	Look bool
}

// Unit is something that entities are made for and that has changed since.
type Unit struct {
	Name string
	// Stamp is another one whenever the unit changed again.
	Stamp int64
}

// Run is what is remembered of a run.
type Run struct {
	// ID is another one for each run, and the newest has the highest.
	ID int64
	// Body and Changes are JSON. Changes says which entities are others by it;
	// nil if that is not known.
	Body, Changes []byte
}

// Finding is something worth knowing about a unit.
type Finding struct {
	Unit string
	// Severity is 0 for an error, 1 for a warning and 2 for a remark.
	Severity int
	Rule     string
	// Body is the finding as JSON.
	Body []byte
}

// Wanted chooses among findings. What is left out wants all.
type Wanted struct {
	Rule string
	// Severity, if not nil, is the one that is wanted.
	Severity *int
	// Sources, if not nil, are those one of which has the unit.
	Sources []string
}

// Count says how often a rule was found.
type Count struct {
	Rule string
	// Severity is the worst that it was found with.
	Severity int
	// Findings are how many there are, and Units how many units have one.
	Findings, Units int
}
