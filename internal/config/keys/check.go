package keys

import (
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/input"
	"example.dev/ingestor/internal/config/rule"
	"example.dev/ingestor/internal/text"
)

// Report adds a finding.
func (m *Map) Report(id string, at input.Place, path, hint, format string, args ...any) {
	m.r.Report(id, at, path, hint, format, args...)
}

// ReportKey adds a finding about a key, at the key.
func (m *Map) ReportKey(id, key, hint, format string, args ...any) {
	m.r.Report(id, m.KeyAt(key), m.PathTo(key), hint, format, args...)
}

// ReportValue adds a finding about a key that is given, at its value.
func (m *Map) ReportValue(id, key, hint, format string, args ...any) {
	m.r.Report(id, m.ValueAt(key), m.PathTo(key), hint, format, args...)
}

// ReportMissing adds a finding about a missing key, at the key that needs it; with
// needs empty, at the map.
func (m *Map) ReportMissing(key, needs, hint, format string, args ...any) {
	at := m.at
	if needs != "" {
		at = m.KeyAt(needs)
	}
	m.r.Report(rule.Missing, at, m.PathTo(key), hint, format, args...)
}

// Require reports a key that is missing from a map that is present.
func (m *Map) Require(key, hint string) {
	if m.describing {
		m.required[m.doc] = append(m.required[m.doc], key)
		return
	}
	if m.Present() && !m.Has(key) {
		m.r.Report(rule.Missing, m.at, m.PathTo(key), hint, "%s has no %s", m.path, key)
	}
}

// Also defines another spelling of a key.
func (m *Map) Also(key, other string) {
	m.Note(other, "as `"+key+"`", nil)
	m.known = append(m.known, other)
	switch {
	case !m.Has(other):
		return
	case m.Has(key):
		m.Clash(key, other)
		return
	}
	if m.other == nil {
		m.other = map[string]string{}
	}
	m.other[key] = other
}

// Clash reports that two keys are given of which only one is allowed.
func (m *Map) Clash(key, other string) {
	a, b := m.field(key), m.field(other)
	// Report the later of the two.
	if m.r.KeyPlace(b).Before(m.r.KeyPlace(a)) {
		a, b = b, a
	}
	m.r.Report(rule.Together, m.r.KeyPlace(b), Join(m.path, b.Key), "keep one of the two",
		"%s cannot be used with %s at %s", Join(m.path, b.Key), a.Key, m.r.KeyPlace(a))
}

// OneOf reports all but the first of the keys that are given. It returns the first one,
// "" if none is given.
func (m *Map) OneOf(keys ...string) string {
	first := ""
	for _, key := range keys {
		switch {
		case !m.Has(key):
		case first == "":
			first = key
		default:
			m.Clash(first, key)
		}
	}
	return first
}

// Both reports one of two keys that is given without the other.
func (m *Map) Both(a, b string) {
	if m.Has(a) == m.Has(b) {
		return
	}
	if m.Has(b) {
		a, b = b, a
	}
	m.ReportMissing(b, a, "write both, or none", "%s has %s, but no %s", m.path, a, b)
}

// Meaningless reports given keys that have no effect because of another setting.
func (m *Map) Meaningless(with, hint string, keys ...string) {
	for _, key := range keys {
		if m.Has(key) {
			m.ReportKey(rule.Together, key, hint, "%s cannot be used with %s", m.PathTo(key), with)
		}
	}
}

// Unsupported reports keys of Backstage that have an effect there, and that must not be
// ignored silently.
func (m *Map) Unsupported(hint string, keys ...string) {
	m.idle = append(m.idle, keys...)
	for _, key := range keys {
		if m.Has(key) {
			m.ReportKey(rule.Unsupported, key, hint, "%s is not supported", m.PathTo(key))
		}
	}
}

// Never reads a boolean of Backstage that must be false.
func (m *Map) Never(key, hint string) {
	on := false
	if v := m.Get(key); v.Node != nil {
		v.Flag(&on)
	}
	if on {
		m.ReportValue(rule.Unsupported, key, hint, "%s is not supported", m.PathTo(key))
	}
	m.Done(key, "boolean", tree.Boolean(false))
}

// PassOver accepts keys that a portal uses for its pages.
func (m *Map) PassOver(keys ...string) {
	m.ignore(rule.PassedOver, "", "%s is for the portal's pages and is ignored here", keys)
}

// NoEffect accepts keys of Backstage's plugins whose function is not implemented here.
func (m *Map) NoEffect(keys ...string) {
	m.ignore(rule.NoEffect, "remove it, unless a portal that shares the file uses it", "%s has no effect here", keys)
}

func (m *Map) ignore(id, hint, format string, keys []string) {
	m.idle = append(m.idle, keys...)
	for _, key := range keys {
		m.Note(key, TypeIdle, nil)
		if m.Has(key) {
			m.ReportKey(id, key, hint, format, m.PathTo(key))
		}
	}
}

// Rest returns the keys that have not been read yet and are not typos of those that
// are, for maps that plugins of a portal extend. name is the placeholder for such a
// key.
func (m *Map) Rest(name string) []string {
	m.Note("<"+name+">", TypeIdle, nil)
	if m.node == nil {
		return nil
	}
	var out []string
	for i := range m.node.Fields {
		key := m.node.Fields[i].Key
		if !m.defines(key) && text.Nearest(key, m.known) == "" {
			out = append(out, key)
		}
	}
	return out
}

// defines reports whether a key was read or accepted.
func (m *Map) defines(key string) bool {
	return slices.Contains(m.known, key) || slices.Contains(m.idle, key)
}

// finish reports unknown keys.
func (m *Map) finish() {
	if m.node == nil || m.unchecked {
		return
	}
	for i := range m.node.Fields {
		f := &m.node.Fields[i]
		if m.defines(f.Key) {
			continue
		}
		hint := ""
		if !m.r.Full() {
			hint = m.allowed(f.Key)
		}
		m.r.Report(rule.Unknown, m.r.KeyPlace(f), Join(m.path, f.Key), hint, "%s has no key %q", m.path, input.Shorten(f.Key))
	}
}

// allowed returns a hint with the known keys, and the one that may be meant.
func (m *Map) allowed(key string) string {
	all := "known keys: " + text.Enumerate(m.known, "and")
	if near := text.Nearest(key, m.known); near != "" {
		return fmt.Sprintf("did you mean %s? %s", near, all)
	}
	return all
}

// CheckSections reports keys of the top map that are probably typos of ours. Other keys
// belong to other programs.
func (m *Map) CheckSections() {
	if m.node == nil {
		return
	}
	for i := range m.node.Fields {
		f := &m.node.Fields[i]
		if slices.Contains(m.known, f.Key) || m.r.Full() {
			continue
		}
		if near := text.Nearest(f.Key, m.known); near != "" && isTypo(f.Key, near) {
			m.r.Report(rule.Unknown, m.r.KeyPlace(f), f.Key, "did you mean "+near+"?", "%q is not a known section", input.Shorten(f.Key))
		}
	}
}

// isTypo reports whether a key that is near a section is likely to be a typo of it.
// Other programs have sections too, and short words are near to many.
func isTypo(key, section string) bool {
	const short, long = 4, 8
	switch {
	case strings.EqualFold(key, section):
		return true
	case len(section) < short, section == "words":
		return false
	case len(section) < long:
		return text.Distance(key, section) == 1
	}
	return true
}
