// Package refusal explains why a cluster refuses an object, in words that help users of
// a form.
package refusal

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/cluster/internal/manifest"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
)

// Reasons for which an object is refused, in addition to those of reading.
const (
	// Conflict means that another field manager has set a field to another value.
	Conflict cluster.Reason = "conflict"
	// Foreign means that the portal did not apply the object.
	Foreign cluster.Reason = "foreign"
	// Invalid means that fields break the rules of the kind; see InvalidError.
	Invalid cluster.Reason = "invalid"
	// Denied means that an admission rule of the cluster rejects the object.
	Denied cluster.Reason = "denied"
	// Missing means that a required object or namespace does not exist.
	Missing cluster.Reason = "missing"
	// Late means that an object was not ready, or not gone, in time.
	Late cluster.Reason = "late"
)

// Problem is an error in a field.
type Problem struct {
	// Field is the path, such as spec.parameters.size; empty if the problem concerns
	// no particular field.
	Field string
	// Message describes the problem, without the path.
	Message string
}

// String returns the field and the message.
func (p Problem) String() string {
	if p.Field == "" {
		return p.Message
	}
	return p.Field + ": " + p.Message
}

// InvalidError lists the invalid fields.
type InvalidError struct{ Problems []Problem }

// Error lists all problems.
func (e *InvalidError) Error() string {
	all := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		all[i] = p.String()
	}
	return strings.Join(all, "; ")
}

// Errorf returns an error for an operation that failed in a cluster.
func Errorf(c *cluster.Cluster, doing string, why cluster.Reason, hint, format string, args ...any) error {
	return &action.Error{
		Err:  &cluster.Error{Cluster: c.Name(), Doing: doing, Reason: why, Err: fmt.Errorf(format, args...), Hint: hint},
		Hint: hint,
	}
}

// InvalidFields returns an error for a document with invalid fields.
func InvalidFields(c *cluster.Cluster, d *manifest.Document, problems []Problem) error {
	slices.SortFunc(problems, func(a, b Problem) int { return strings.Compare(a.String(), b.String()) })
	return Errorf(c, d.Doing(), Invalid, "correct the listed fields", "%w", &InvalidError{slices.Compact(problems)})
}

// ReasonOf returns the reason of a cluster error; empty for other errors.
func ReasonOf(err error) cluster.Reason {
	if e, ok := errors.AsType[*cluster.Error](err); ok {
		return e.Reason
	}
	return ""
}

// Explain returns the reason why a document was refused, in words that help users
// of a form.
func Explain(c *cluster.Cluster, d *manifest.Document, err error) error {
	r, ok := cluster.RefusalOf(err)
	if !ok {
		return WithHint(err)
	}
	by, says, denied := denial(r)
	fields := slices.Concat(fieldsOf(r), mistyped(r.Message))
	hook := failedHook.FindStringSubmatch(r.Message)
	switch {
	case denied:
		return Errorf(c, d.Doing(), Denied, "change the manifest as the message says, or ask the owner of the policy", "%s denied the request: %s", by, says)
	case slices.ContainsFunc(r.Causes, isConflict):
		return Errorf(c, d.Doing(), Conflict,
			"remove the fields, or set takeOver to true to own them; the other owner may set them back", "%s", owners(r.Causes))
	case r.Code == http.StatusConflict:
		return Errorf(c, d.Doing(), Conflict, "try again", "%w", ErrWritten)
	case len(fields) > 0:
		return InvalidFields(c, d, fields)
	case r.Code == http.StatusUnprocessableEntity || r.Code == http.StatusBadRequest:
		return Errorf(c, d.Doing(), Invalid, "correct the manifest as the message says", "the server rejected the object: %s", r.Message)
	case r.Code == http.StatusNotFound && r.Kind == "namespaces":
		return Errorf(c, d.Doing(), Missing, "choose another namespace, or create this one first", "namespace %q does not exist", r.Name)
	case r.Code == http.StatusNotFound:
		return Errorf(c, d.Doing(), cluster.Absent, "check that the definition is installed in the cluster and established", "the cluster no longer serves kind %s of %s", d.Kind, d.APIVersion)
	case hook != nil:
		return Errorf(c, d.Doing(), cluster.Server, "contact the owner of the webhook; objects of this kind cannot be changed until it responds", "the admission webhook %q of the cluster does not respond: %s", hook[1], hook[2])
	}
	return WithHint(err)
}

var (
	deniedHook   = regexp.MustCompile(`(?s)admission webhook "([^"]+)" denied the request(?:: (.*)| without explanation)`)
	deniedPolicy = regexp.MustCompile(`(?s)ValidatingAdmissionPolicy '([^']+)' with binding '[^']*' denied request: (.*)`)
	failedHook   = regexp.MustCompile(`(?s)failed calling webhook "([^"]+)": (.*)`)
	forbidden    = regexp.MustCompile(`(?s)^\S+(?: "[^"]*")? is forbidden: (.*)`)
)

// denial returns which rule of the cluster rejects an object, and its message. A
// missing permission is not a denial.
func denial(r cluster.Refusal) (by, says string, ok bool) {
	if m := deniedHook.FindStringSubmatch(r.Message); m != nil {
		if m[2] == "" {
			m[2] = "no reason given"
		}
		return fmt.Sprintf("the admission webhook %q", m[1]), m[2], true
	}
	if m := deniedPolicy.FindStringSubmatch(r.Message); m != nil {
		return fmt.Sprintf("the admission policy %q", m[1]), m[2], true
	}
	if m := forbidden.FindStringSubmatch(r.Message); r.Code == http.StatusForbidden && m != nil && !strings.HasPrefix(m[1], `User "`) {
		return "the cluster", m[1], true
	}
	return "", "", false
}

func isConflict(c cluster.Cause) bool { return c.Reason == "FieldManagerConflict" }

var conflictWith = regexp.MustCompile(`conflict with "([^"]*)"`)

// owners describes which fields other field managers own, by manager.
func owners(causes []cluster.Cause) string {
	var who []string
	fields := map[string][]string{}
	for _, c := range causes {
		m := conflictWith.FindStringSubmatch(c.Message)
		if !isConflict(c) || m == nil {
			continue
		}
		if fields[m[1]] == nil {
			who = append(who, m[1])
		}
		fields[m[1]] = append(fields[m[1]], strings.TrimPrefix(c.Field, "."))
	}
	var all []string
	for _, w := range who {
		verb := "is"
		if len(fields[w]) > 1 {
			verb = "are"
		}
		all = append(all, fmt.Sprintf("%s %s owned by %q", Join(fields[w]), verb, w))
	}
	return strings.Join(all, "; ")
}

var unknownField = regexp.MustCompile(`unknown field "([^"]+)"`)

// fieldsOf returns the fields that the server reports as invalid.
func fieldsOf(r cluster.Refusal) []Problem {
	var out []Problem
	for _, c := range r.Causes {
		if c.Field == "" || c.Field == "<nil>" || isConflict(c) {
			continue
		}
		// The message often names the field again.
		field := strings.TrimPrefix(c.Field, ".")
		out = append(out, Problem{field, strings.ReplaceAll(c.Message, field+" in body ", "")})
	}
	for _, m := range unknownField.FindAllStringSubmatch(r.Message, -1) {
		out = append(out, Problem{m[1], unknown})
	}
	return out
}

// unknown is the message for a field that the schema does not have, lost for a
// field that was sent and is missing in the response.
const (
	unknown = "unknown field"
	lost    = "the cluster dropped the value: its schema has no such field, or an admission webhook removed it"
)

var mistypedLine = regexp.MustCompile(`(?m)(?:^|\): |\s)(\.[^\s:]+): (.*)$`)

// mistyped returns the fields of an object to apply that do not match the schema
// of its kind. The server reports them only as text.
func mistyped(message string) []Problem {
	if !strings.HasPrefix(message, "failed to create typed patch object") {
		return nil
	}
	var out []Problem
	for _, m := range mistypedLine.FindAllStringSubmatch(message, -1) {
		says := m[2]
		if says == "field not declared in schema" {
			says = unknown
		}
		// Cut off the value, which the server prints in Go syntax.
		says, _, _ = strings.Cut(says, ", got &")
		out = append(out, Problem{strings.TrimPrefix(m[1], "."), says})
	}
	return out
}

// Join joins names with commas and "and".
func Join(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return fmt.Sprintf("%s and %s", strings.Join(names[:len(names)-1], ", "), names[len(names)-1])
}

// WithHint wraps an error of a cluster with its hint, unless it is already wrapped.
func WithHint(err error) error {
	if _, ok := errors.AsType[*action.Error](err); ok {
		return err
	}
	if e, ok := errors.AsType[*cluster.Error](err); ok {
		return &action.Error{Err: err, Hint: e.Hint}
	}
	return err
}

// ErrWritten is the error of an update whose object was written concurrently.
var ErrWritten = errors.New("object was changed by another client at the same time")

// Dropped returns the fields of a spec that the server dropped because the schema
// of the definition does not have them. Built-in kinds are skipped: the server may
// convert one of their fields into another, and it rejects unknown fields.
func Dropped(d *manifest.Document, after *tree.Node) []Problem {
	if group := d.Group(); !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io") {
		return nil
	}
	var out []Problem
	var look func(path string, sent, got *tree.Node)
	look = func(path string, sent, got *tree.Node) {
		switch {
		case sent.IsMap() && got.IsMap():
			for _, f := range sent.Fields {
				at := path + "." + f.Key
				if !got.Has(f.Key) {
					// Empty maps, and empty lists of type set or map, are not kept either.
					empty := (f.Value.IsMap() || f.Value.IsList()) && f.Value.Len() == 0
					if !f.Value.IsNull() && !empty {
						out = append(out, Problem{at, lost})
					}
					continue
				}
				look(at, f.Value, got.Get(f.Key))
			}
		case sent.IsList() && got.IsList() && sent.Len() == got.Len():
			for i, item := range sent.List() {
				look(fmt.Sprintf("%s[%d]", path, i), item, got.List()[i])
			}
		}
	}
	if sent := d.Node.Get("spec"); sent != nil && after.Get("spec") != nil {
		look("spec", sent, after.Get("spec"))
	}
	return out
}
