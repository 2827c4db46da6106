package config

import (
	"maps"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/input"
	"example.dev/ingestor/internal/config/keys"
	"example.dev/ingestor/source"
)

// Scaffolder is the section scaffolder: how Templates are run.
type Scaffolder struct {
	// Workers is how many tasks one replica runs concurrently.
	Workers int
	// Limits are those of each caller.
	Limits Limits
	// TaskTimeout is how long a task may take, and KeepTasks how long ended tasks are
	// kept; zero means forever.
	TaskTimeout, KeepTasks time.Duration
	// WorkingDirectory is the folder with the workspaces of tasks; empty means one in the
	// system's folder for temporary files.
	WorkingDirectory string
	// SecretKey encrypts the secrets of tasks; empty means a generated key with SQLite,
	// and no secrets with PostgreSQL.
	SecretKey source.Secret
	// Author and Email are the default author of commits; empty means the built-in one.
	Author, Email string
	// BranchPrefix is the prefix of the names of branches.
	BranchPrefix string
	// Clusters are the names of those that steps may write to; nil means all that are
	// configured. DefaultCluster is that of a step that names none.
	Clusters       []string
	DefaultCluster string
	// DefaultNamespace is that of objects that name none.
	DefaultNamespace string
	// WaitTimeout is the default of steps that wait.
	WaitTimeout time.Duration
}

// Limits are how much of the scaffolder one caller can use at once.
type Limits struct {
	// OpenTasks is how many tasks may wait and run on all replicas together, RunningTasks
	// how many run concurrently in one replica, and EventStreams how many requests wait
	// for events there.
	OpenTasks, RunningTasks, EventStreams int
}

func (s *Scaffolder) read(m *keys.Map, clusters *clusters) {
	m.Number("concurrentTasksLimit", &s.Workers, 1, 1000)
	m.Map("limits", func(m *keys.Map) {
		m.Number("openTasks", &s.Limits.OpenTasks, 1, 1_000_000)
		s.Limits.RunningTasks = max(s.Workers/2, 1)
		m.Number("runningTasks", &s.Limits.RunningTasks, 1, 1000)
		m.Number("eventStreams", &s.Limits.EventStreams, 1, 1_000_000)
	})
	m.Duration("taskTimeout", &s.TaskTimeout, time.Second)
	m.Duration("keepTasks", &s.KeepTasks, 0)
	m.FilePath("workingDirectory", &s.WorkingDirectory)
	m.Secret("secretKey", &s.SecretKey)
	m.Strong("secretKey", s.SecretKey)
	m.Map("defaultAuthor", func(m *keys.Map) {
		m.Text("name", &s.Author, wantAuthor)
		m.Text("email", &s.Email, wantAuthor)
	})
	m.Text("branchPrefix", &s.BranchPrefix, wantBranch)
	clusters.readNames(m, "clusters", &s.Clusters)
	clusters.readName(m, "defaultCluster", &s.DefaultCluster, s.Clusters)
	m.Text("defaultNamespace", &s.DefaultNamespace, wantNamespace)
	m.Duration("waitTimeout", &s.WaitTimeout, time.Second)
	m.Unsupported("write the values into the templates, or let the form ask for them", "defaultEnvironment")
	m.NoEffect("defaultCommitMessage", "defaultCommitSigningKey", "taskTimeoutJanitorFrequency", "auditor", "EXPERIMENTAL_gracefulShutdown",
		"EXPERIMENTAL_recoverTasks", "EXPERIMENTAL_recoverTasksTimeout", "EXPERIMENTAL_workspaceSerialization",
		"EXPERIMENTAL_workspaceSerializationProvider")
}

// wantAuthor returns what a valid author of a commit looks like, "" if s is one.
func wantAuthor(s string) string {
	if strings.ContainsAny(s, "<>\n\r\x00") {
		return "one line without < and >"
	}
	return ""
}

// readNames reads the names of some of the clusters. A missing key means all; an
// empty list means none.
func (cs *clusters) readNames(m *keys.Map, key string, to *[]string) {
	v := m.Get(key)
	if v.Node != nil {
		*to = []string{}
		for _, item := range m.ItemsOf(v) {
			if text, ok := item.Text(); ok && cs.isKnown(item, text) && !slices.Contains(*to, text) {
				*to = append(*to, text)
			}
		}
	}
	var holds *tree.Node
	if *to != nil {
		holds = keys.List(*to)
	}
	m.Done(key, "list of string", holds)
}

// readName reads the name of a cluster, which must be in among unless that is nil.
func (cs *clusters) readName(m *keys.Map, key string, to *string, among []string) {
	v, text, ok := m.Str(key)
	if ok = ok && cs.isKnown(v, text); ok {
		*to = text
	}
	if ok && among != nil && !slices.Contains(among, text) {
		v.Wrong("one of the clusters that steps may write to", "add it to "+m.PathTo("clusters"))
	}
	m.Done(key, "string", tree.OptStr(*to))
}

// isKnown checks the name of a cluster, and reports one that no section describes.
func (cs *clusters) isKnown(v input.Value, name string) bool {
	if _, ok := cs.at[name]; ok || cs.partial {
		return true
	}
	known := slices.Sorted(maps.Keys(cs.at))
	v.Wrong("the name of a configured cluster", v.Suggest(name, known, "configure it under "+SectionComposer+".clusters"))
	return false
}

// WritableClusters returns the clusters that steps may write to.
func (c *Config) WritableClusters() []source.Cluster {
	all := c.Clusters()
	if c.Scaffolder.Clusters == nil {
		return all
	}
	return slices.DeleteFunc(all, func(cluster source.Cluster) bool {
		return !slices.Contains(c.Scaffolder.Clusters, cluster.Name)
	})
}
