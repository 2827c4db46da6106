package config

import (
	"strings"

	"example.dev/ingestor/document/tree"
)

// Audit is the section audit: where the audit log goes.
type Audit struct {
	// To is one of the constants.
	To string
	// File is the path of the log; empty unless To is AuditFile.
	File string
}

// The destinations of the audit log.
const (
	AuditNone   = "none"
	AuditStdout = "stdout"
	AuditFile   = "file"
)

func (a *Audit) read(o *object) {
	all := []string{AuditNone, AuditStdout, AuditFile}
	v, text, ok := o.str("to")
	// If the destination is invalid, the file cannot be checked.
	known := !o.has("to")
	if ok && o.r.isOneOf(v, text, all) {
		a.To, known = text, true
	}
	o.done("to", "one of "+strings.Join(all, ", "), tree.Str(a.To))
	o.filePath("file", &a.File)
	switch {
	case !known || o.r.describing:
	case a.To == AuditFile && !o.has("file"):
		o.r.report(RuleMissing, o.keyAt("to"), o.pathTo("file"), "write file: audit.jsonl, or another path",
			"%s has to: %s, but no file", o.path, AuditFile)
	case a.To != AuditFile && o.has("file"):
		o.r.report(RuleTogether, o.keyAt("file"), o.pathTo("file"), "write to: "+AuditFile+", or remove it",
			"%s cannot be used with to: %s", o.pathTo("file"), a.To)
	}
}
