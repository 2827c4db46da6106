package config

import (
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/keys"
	"example.dev/ingestor/internal/config/rule"
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

func (a *Audit) read(m *keys.Map) {
	all := []string{AuditNone, AuditStdout, AuditFile}
	v, text, ok := m.Str("to")
	// If the destination is invalid, the file cannot be checked.
	known := !m.Has("to")
	if ok && v.IsOneOf(text, all...) {
		a.To, known = text, true
	}
	m.Done("to", "one of "+strings.Join(all, ", "), tree.Str(a.To))
	m.FilePath("file", &a.File)
	switch {
	case !known || m.Describing():
	case a.To == AuditFile && !m.Has("file"):
		m.ReportMissing("file", "to", "write file: audit.jsonl, or another path",
			"%s has to: %s, but no file", m.Path(), AuditFile)
	case a.To != AuditFile && m.Has("file"):
		m.ReportKey(rule.Together, "file", "write to: "+AuditFile+", or remove it",
			"%s cannot be used with to: %s", m.PathTo("file"), a.To)
	}
}
