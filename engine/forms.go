package engine

import (
	"crypto/sha256"
	"encoding/hex"

	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/xrd"
)

// FormCache caches compiled forms. It must be safe for concurrent use. The forms are
// shared and must not be modified.
type FormCache interface {
	// Form returns the form cached under the key, else the result of compile, which it may
	// cache. Equal keys mean equal forms.
	Form(key string, compile func() *form.Form) *form.Form
}

// form compiles the form of a version, or returns it from the cache.
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

// formKey returns the cache key of a form: a hash of everything form.Compile reads.
func formKey(definition string, v *xrd.Version, opts form.Options) string {
	var p trace
	p.strings(definition, v.Name, opts.Namespace, opts.Repository, opts.Path, string(opts.Stock))
	p.flags(opts.GitOps, opts.CompositionDetails)
	p.strings(opts.Compositions...)
	p.strings(opts.Clusters...)
	sum := sha256.Sum256(p)
	return hex.EncodeToString(sum[:])
}
