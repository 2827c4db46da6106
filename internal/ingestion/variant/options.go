package variant

import (
	"context"
	"log/slog"
	"time"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/ingestion/marks"
	"example.dev/ingestor/source"
	"example.dev/ingestor/xrd"
)

// Options configure a variant of the service.
type Options struct {
	// Name is the name of its section in the configuration.
	Name    string
	Profile engine.Profile
	Engine  engine.Options
	// Extension is third-party code around the engine.
	Extension engine.Extension
	// Filter selects definitions, after the profile.
	Filter xrd.Filter
	// Namespaces are those whose composites and claims are read; empty means all.
	Namespaces []string
	Clusters   []source.Cluster
	Folders    []Folder
	// Definitions says that definitions are ingested, Workloads that labelled workloads
	// are.
	Definitions, Workloads bool
	// NoCompositions and NoComposites exclude these objects of definitions.
	NoCompositions, NoComposites bool
	// Every is the interval between scans of definitions, WorkloadsEvery that of
	// workloads. Timeout bounds a scan.
	Every, WorkloadsEvery, Timeout time.Duration
	// Watch says that clusters and folders are watched between scans.
	Watch     bool
	Detection Detection
	// MassRemoval configures which removals need a confirmation.
	MassRemoval MassRemoval
	// Log receives events; Requests, if not nil, every request to a cluster. Stacks says
	// that the stack of a panic is logged.
	Log      *slog.Logger
	Requests *slog.Logger
	Stacks   bool
}

// Folder is a source that is not a cluster.
type Folder struct {
	Name   string
	Source source.Source
	// Watch, if not nil, calls changed when the source should be read again, until ctx
	// ends.
	Watch func(ctx context.Context, changed func()) error
	// Settle is how long a file must be unchanged before objects missing from it count as
	// removed: the file may be in the middle of a write.
	Settle time.Duration
	// Stamp returns a text that changes whenever a file is written; empty for a file that
	// does not exist. It is required with Settle.
	Stamp func(file string) string
}

// Detection configures how change detection recognizes unchanged objects.
type Detection struct {
	Enabled bool
	// Method is ByVersion, ByHash or ByTimestamp.
	Method string
	Marks  marks.Marks
}

// The methods of change detection.
const (
	ByVersion   = "resourceVersion"
	ByHash      = "hash"
	ByTimestamp = "timestamp"
)

// MassRemoval defines when so many objects disappear from a source at once that the
// removal needs a confirmation: more than Percent of the objects of the source or of
// one of its lists, and at least Minimum. A proxy that answers with empty lists looks
// like that, and so does a cluster that is being restored. A Percent of 0 disables the
// check.
type MassRemoval struct {
	Percent, Minimum int
	// Wait is the minimum time until another scan confirms the removal. It is never
	// shorter than the interval between scans, less a tenth.
	Wait time.Duration
}

// Is reports whether the removal of gone objects out of of is a mass removal.
func (m MassRemoval) Is(gone, of int) bool {
	return m.Percent > 0 && gone >= max(1, m.Minimum) && gone*100 > of*m.Percent
}
