package keys

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/input"
	"example.dev/ingestor/internal/config/rule"
	"example.dev/ingestor/internal/secret"
)

// Flag reads a boolean.
func (m *Map) Flag(key string, to *bool) {
	if v := m.Get(key); v.Node != nil {
		v.Flag(to)
	}
	m.Done(key, "boolean", tree.Boolean(*to))
}

// Str returns the text under a key, and reports a value that is not text or is empty.
// It returns false if there is no valid text.
func (m *Map) Str(key string) (input.Value, string, bool) {
	v := m.Get(key)
	text, ok := v.Text()
	return v, text, ok
}

// Text reads a non-empty text. check, if not nil, returns what a valid text looks like,
// "" if the text is valid.
func (m *Map) Text(key string, to *string, check func(string) string) {
	if text, ok := m.Get(key).Checked(check); ok {
		*to = text
	}
	m.Done(key, "string", tree.OptStr(*to))
}

// Choice reads one of several words.
func (m *Map) Choice(key string, to *string, allowed ...string) {
	v, text, ok := m.Str(key)
	if ok && v.IsOneOf(text, allowed...) {
		*to = text
	}
	m.Done(key, "one of "+strings.Join(allowed, ", "), tree.OptStr(*to))
}

// Secret reads a secret. Findings never show any part of it.
func (m *Map) Secret(key string, to *secret.Text) {
	v := m.GetSecret(key)
	if text, ok := v.Text(); ok && isSecret(v, text) {
		*to = secret.Text(text)
	}
	m.Done(key, "secret", tree.OptStr(to.String()))
}

// MakeSecret is the hint for a secret that can be guessed.
const MakeSecret = "generate one with: openssl rand -base64 24"

// Strong reports a secret that can be guessed. The key must have been read.
func (m *Map) Strong(key string, s secret.Text) {
	if s == "" {
		return
	}
	if want := secret.Weakness(s.Reveal()); want != "" {
		m.ReportValue(rule.Value, key, MakeSecret, "%s: want %s, so that it cannot be guessed", m.PathTo(key), want)
	}
}

// isSecret checks a secret, and reports one with characters that cannot be sent.
func isSecret(v input.Value, text string) bool {
	bad := strings.IndexFunc(text, func(c rune) bool { return c <= ' ' || c > '~' })
	if bad < 0 {
		return true
	}
	v.Report(rule.Value, "remove spaces and line breaks; a file must contain only the secret",
		"%s contains an invalid character at position %d%s", v.Path, bad+1, v.OfOrigin())
	return false
}

// Password reads a secret that people choose, and that may contain spaces.
func (m *Map) Password(key string, to *secret.Text) {
	v := m.GetSecret(key)
	if text, ok := v.Text(); ok {
		if strings.ContainsFunc(text, unicode.IsControl) {
			v.Report(rule.Value, "remove line breaks and other control characters", "%s contains a control character%s", v.Path, v.OfOrigin())
		} else {
			*to = secret.Text(text)
		}
	}
	m.Done(key, "secret", tree.OptStr(to.String()))
}

// SecretFile reads a secret from the file that is named under a key.
func (m *Map) SecretFile(key string, to *secret.Text) {
	v, name, ok := m.Str(key)
	m.Note(key, "path", nil)
	if !ok {
		return
	}
	v = v.Content(name, m.lenient)
	if text, ok := v.Text(); ok && isSecret(v, text) {
		*to = secret.Text(text)
		m.Out.Set(key, tree.Str(v.At.Beside(name)))
	}
}

// FilePath reads the path of a file or folder, relative to the configuration file.
func (m *Map) FilePath(key string, to *string) {
	if v, text, ok := m.Str(key); ok && v.IsPath(text) {
		*to = v.At.Beside(text)
	}
	m.Done(key, "path", tree.OptStr(*to))
}

// FileBytes reads the path of a file, relative to the configuration file, and its content: at most so many
// bytes, which check may refuse with what it wants instead. The hint says which files are accepted.
func (m *Map) FileBytes(key string, most int, hint string, path *string, data *[]byte, check func([]byte) string) {
	if v, text, ok := m.Str(key); ok && v.IsPath(text) {
		*path = v.At.Beside(text)
		*data = v.Bytes(text, most, hint, check)
	}
	m.Done(key, "path", tree.OptStr(*path))
}

// FilePaths reads several paths in one text, separated by the system's list separator.
func (m *Map) FilePaths(key string, to *string) {
	if v, text, ok := m.Str(key); ok {
		var all []string
		parts := slices.DeleteFunc(filepath.SplitList(text), func(p string) bool { return p == "" })
		if len(parts) == 0 {
			v.Wrong("a path", "")
		}
		for _, p := range parts {
			if v.IsPath(p) {
				all = append(all, v.At.Beside(p))
			}
		}
		*to = strings.Join(all, string(filepath.ListSeparator))
	}
	m.Done(key, "path", tree.OptStr(*to))
}

// PEMFile reads the path of a PEM file, as text or as { $file: path }, which for other
// keys means the content of the file.
func (m *Map) PEMFile(key string, to *string) {
	v, named := m.r.FileName(m.field(key), m.PathTo(key), m.lenient)
	text, ok := "", false
	switch {
	case !named:
		v = m.GetSecret(key)
		text, ok = v.Text()
	case v.Node != nil:
		text, ok = v.Node.Text, true
		fallthrough
	default:
		m.known = append(m.known, key)
	}
	switch {
	case !ok:
	case strings.Contains(text, "-----BEGIN"):
		v.Report(rule.Unsupported, "put it into a file and write { $file: path }", "%s: inline PEM is not supported", v.Path)
	case v.IsPath(text):
		*to = v.At.Beside(text)
	}
	m.Done(key, "path", tree.OptStr(*to))
}
