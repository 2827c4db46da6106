package sink

import "fmt"

// Format is the format in which entities are written.
type Format uint8

// The formats.
const (
	YAML Format = iota
	JSON
)

// ParseFormat parses yaml or json.
func ParseFormat(s string) (Format, error) {
	for _, f := range []Format{YAML, JSON} {
		if s == f.String() {
			return f, nil
		}
	}
	return YAML, fmt.Errorf("cannot use format %q: must be %s or %s", s, YAML, JSON)
}

// String returns the name of the format in flags and configuration.
func (f Format) String() string { return [...]string{"yaml", "json"}[f] }

// Ext returns the file extension of the format, including the dot.
func (f Format) Ext() string { return "." + f.String() }
