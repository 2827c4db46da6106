package engine

import (
	"crypto/sha256"
	"encoding/hex"

	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/xrd"
)

// FormCache remembers compiled forms. Its method may be called by several
// goroutines at once. A form is shared by all who get it, and is changed by
// nobody.
type FormCache interface {
	// Form returns the form that is remembered under the key, else what compile
	// returns, which it may remember. Equal keys mean equal forms.
	Form(key string, compile func() *form.Form) *form.Form
}

// FormCacheFunc is a function that is a FormCache.
type FormCacheFunc func(key string, compile func() *form.Form) *form.Form

// Form calls f.
func (f FormCacheFunc) Form(key string, compile func() *form.Form) *form.Form { return f(key, compile) }

// form compiles the form of a version, or has it remembered.
func (t *transformation) form(v *xrd.Version, opts form.Options) *form.Form {
	compile := func() *form.Form { return form.Compile(t.def, v, opts) }
	if t.opts.Forms == nil {
		return compile()
	}
	if t.in.Fingerprint == "" {
		t.in.Fingerprint = definitionFingerprint(t.def)
	}
	return t.opts.Forms.Form(formKey(t.in.Fingerprint, v, opts), compile)
}

// formKey is the key of a form: all that form.Compile looks at.
func formKey(definition string, v *xrd.Version, opts form.Options) string {
	var p trace
	p.strings(definition, v.Name, opts.Namespace, opts.Repository, opts.Path)
	p.flags(opts.GitOps, opts.CompositionDetails)
	p.strings(opts.Compositions...)
	p.strings(opts.Clusters...)
	sum := sha256.Sum256(p)
	return hex.EncodeToString(sum[:])
}
