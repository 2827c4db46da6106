package sink

import "fmt"

// Format is how entities are written.
type Format uint8

// The formats.
const (
	YAML Format = iota
	JSON
)

// ParseFormat reads yaml or json.
func ParseFormat(s string) (Format, error) {
	for _, f := range []Format{YAML, JSON} {
		if s == f.String() {
			return f, nil
		}
	}
	return YAML, fmt.Errorf("cannot use format %q: want %s or %s", s, YAML, JSON)
}

// String names the format as flags and configuration do.
func (f Format) String() string { return [...]string{"yaml", "json"}[f] }

// Ext returns how the names of files of the format end, dot included.
func (f Format) Ext() string { return "." + f.String() }
