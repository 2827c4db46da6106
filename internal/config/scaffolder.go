package config

import (
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/document/tree"
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

func (s *Scaffolder) read(o *object) {
	o.lenient = o.lenient || o.r.opts.NoTasks
	o.number("concurrentTasksLimit", &s.Workers, 1, 1000)
	o.object("limits", func(o *object) {
		o.number("openTasks", &s.Limits.OpenTasks, 1, 1_000_000)
		s.Limits.RunningTasks = max(s.Workers/2, 1)
		o.number("runningTasks", &s.Limits.RunningTasks, 1, 1000)
		o.number("eventStreams", &s.Limits.EventStreams, 1, 1_000_000)
	})
	o.duration("taskTimeout", &s.TaskTimeout, time.Second)
	o.duration("keepTasks", &s.KeepTasks, 0)
	o.filePath("workingDirectory", &s.WorkingDirectory)
	o.secret("secretKey", &s.SecretKey)
	o.strong("secretKey", s.SecretKey)
	o.object("defaultAuthor", func(o *object) {
		o.text("name", &s.Author, wantAuthor)
		o.text("email", &s.Email, wantAuthor)
	})
	o.text("branchPrefix", &s.BranchPrefix, wantBranch)
	o.clusterNames("clusters", &s.Clusters)
	o.clusterName("defaultCluster", &s.DefaultCluster, s.Clusters)
	o.text("defaultNamespace", &s.DefaultNamespace, wantNamespace)
	o.duration("waitTimeout", &s.WaitTimeout, time.Second)
	o.unsupported("write the values into the templates, or let the form ask for them", "defaultEnvironment")
	o.noEffect("defaultCommitMessage", "defaultCommitSigningKey", "taskTimeoutJanitorFrequency", "auditor", "EXPERIMENTAL_gracefulShutdown",
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

// clusterNames reads the names of some of the clusters. A missing key means all; an
// empty list means none.
func (o *object) clusterNames(key string, to *[]string) {
	v := o.get(key)
	if v.node != nil {
		*to = []string{}
		for _, item := range o.itemsOf(v) {
			if text, ok := o.r.textOf(item); ok && o.r.isCluster(item, text) && !slices.Contains(*to, text) {
				*to = append(*to, text)
			}
		}
	}
	var holds *tree.Node
	if *to != nil {
		holds = list(*to)
	}
	o.done(key, "list of string", holds)
}

// clusterName reads the name of a cluster, which must be in among unless that is nil.
func (o *object) clusterName(key string, to *string, among []string) {
	v, text, ok := o.str(key)
	if ok = ok && o.r.isCluster(v, text); ok {
		*to = text
	}
	if ok && among != nil && !slices.Contains(among, text) {
		o.r.wrong(v, "one of the clusters that steps may write to", "add it to "+o.pathTo("clusters"))
	}
	o.done(key, "string", tree.OptStr(*to))
}

// isCluster checks the name of a cluster, and reports one that no section describes.
// The check needs all sections with clusters to be read.
func (r *reader) isCluster(v value, name string) bool {
	_, ok := r.clusterAt[name]
	if ok || !r.wants(SectionComposer) || !r.wants(SectionOrchestrator) {
		return true
	}
	var known []string
	for n := range r.clusterAt {
		known = append(known, n)
	}
	slices.Sort(known)
	hint := "configure it under " + SectionComposer + ".clusters"
	if near := nearest(name, known); near != "" && v.from == "" {
		hint = "did you mean " + near + "?"
	}
	r.wrong(v, "the name of a configured cluster", hint)
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
