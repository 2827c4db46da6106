// Package doctor checks the environment of a portal, whether it is running or not: its
// databases, the disk, the clocks, and what it has stored about tasks, jobs and
// sources. It writes nothing.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/ingestion/health"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/jobs"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

// The statuses of a Result.
const (
	OK      = "ok"
	Warning = "warning"
	Error   = "error"
)

// Result is the result of a check.
type Result struct {
	// Check is the name of the check, Status one of the constants above.
	Check   string `json:"check"`
	Status  string `json:"status"`
	Message string `json:"message"`
	// Hint is what to do about it; empty if unknown.
	Hint string `json:"hint,omitempty"`
}

// Options are what is checked. All are required.
type Options struct {
	Config *config.Config
	// WorkDir is the folder for the workspaces of tasks.
	WorkDir string
	Now     func() time.Time
}

// The limits of clock skew, and the timeout of a database query.
const (
	skewWarning = 5 * time.Second
	skewError   = time.Minute
	askWithin   = 15 * time.Second
	// idleTask is how long a task must have had no heartbeat to count as stuck. A running
	// task has one every two seconds, and one whose process is gone is taken over after
	// ten.
	idleTask = time.Minute
)

// examination is one run of all checks.
type examination struct {
	Options
	found []Result
}

// Examine runs all checks, and returns their results in order.
func Examine(ctx context.Context, opts Options) []Result {
	e := &examination{Options: opts}
	e.database(ctx)
	e.disk()
	e.clusters(ctx)
	return e.found
}

// Worst returns the worst status of results.
func Worst(found []Result) string {
	worst := OK
	for _, r := range found {
		if r.Status == Error || r.Status == Warning && worst == OK {
			worst = r.Status
		}
	}
	return worst
}

func (e *examination) add(check, status, hint, format string, args ...any) {
	e.found = append(e.found, Result{Check: check, Status: status, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// failed adds the result of a check that could not run.
func (e *examination) failed(check string, err error) {
	hint := "run the command as the user of the server, on the machine with its files"
	if e.Config.Backend.Database.Client == config.ClientPostgres {
		hint = "check that PostgreSQL is running, and backend.database.connection"
	}
	e.add(check, Error, hint, "%v", err)
}

// database checks the catalog's database and the queue.
func (e *examination) database(ctx context.Context) {
	at := e.Config.Backend.Database
	opening, stop := context.WithTimeout(ctx, askWithin)
	i, err := db.Inspect(opening, db.Options{Client: at.Client, Path: at.Path, URL: at.URL.Reveal(), Now: e.Now})
	stop()
	if errors.Is(err, fs.ErrNotExist) {
		e.add("database", Warning, "the server creates it on start; if it should exist, check backend.database.connection", "file %s not found", at.Path)
		return
	}
	if err != nil {
		e.failed("database", err)
		return
	}
	defer func() { _ = i.Close() }() // The database was only read.
	current := e.version(ctx, i)
	e.integrity(ctx, i)
	e.queue(ctx)
	e.clock(ctx, i, current)
	if !current {
		return
	}
	e.tasks(ctx, i)
	e.sources(ctx, i)
}

// version compares the version of the database with that of the program, and reports
// whether they are the same.
func (e *examination) version(ctx context.Context, i *db.Inspection) bool {
	const check = "database"
	ctx, stop := context.WithTimeout(ctx, askWithin)
	defer stop()
	has, known, err := i.Versions(ctx)
	if err != nil {
		e.failed(check, err)
		return false
	}
	standby, err := i.ReadOnly(ctx)
	switch {
	case err != nil:
		e.failed(check, err)
	case standby:
		e.add(check, Error, "set backend.database.connection to the primary server", "the database is a standby and accepts no writes")
	case has > known:
		e.add(check, Error, "use a newer program, or restore a backup from before the upgrade", "the database has version %d, and this program supports %d", has, known)
	case has < known:
		e.add(check, Warning, "back up the database, then start the server, which migrates it", "the database has version %d, and this program supports %d", has, known)
	default:
		e.add(check, OK, "", "version %d, same as the program", has)
	}
	return has == known
}

func (e *examination) integrity(ctx context.Context, i *db.Inspection) {
	damage, err := i.Integrity(ctx)
	if err != nil {
		e.add("integrity", Error, restore, "%v", err)
		return
	}
	e.damage("integrity", damage)
}

// restore is the hint for damage.
const restore = "stop the server, and restore the last backup (portal-backend backup)"

func (e *examination) damage(check string, damage []string) {
	if len(damage) > 0 {
		e.add(check, Error, restore, "the database is damaged: %s", strings.Join(damage, "; "))
		return
	}
	e.add(check, OK, "", "no damage found")
}

// queue checks the queue, which has its own file with SQLite.
func (e *examination) queue(ctx context.Context) {
	const check = "jobs"
	db := e.Config.Backend.Database
	if db.Client == config.ClientPostgres {
		// There is no timeout for SQLite, which reads the whole file.
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, askWithin)
		defer stop()
	}
	c, err := jobs.Inspect(ctx, jobs.Options{Client: db.Client, Path: db.JobsPath(), URL: db.URL.Reveal(), Now: e.Now})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.add(check, Warning, "the server creates it on start", "file %s not found", db.JobsPath())
		return
	case err != nil:
		e.failed(check, err)
		return
	}
	if len(c.Damage) > 0 {
		e.add(check, Error, "stop the server and remove "+db.JobsPath()+": the server creates a new queue and queues tasks again", "the queue is damaged: %s", strings.Join(c.Damage, "; "))
		return
	}
	if c.Version > c.Known {
		e.add(check, Error, "use a newer program", "the queue has version %d, and this program supports %d", c.Version, c.Known)
		return
	}
	if c.Version < c.Known {
		e.add(check, Warning, "start the server, which migrates it", "the queue has version %d, and this program supports %d", c.Version, c.Known)
		return
	}
	well := true
	for _, s := range []struct {
		jobs       map[string]int
		what, hint string
	}{
		{c.Overdue, "exceed their time limit", "look for the task in the server's log; restart the server to run them again"},
		{c.Waiting, "have waited for more than 5 minutes", "start the server or a replica; if one is running, all its workers are busy"},
		{c.Failed, "failed in the last 24 hours", "look for \"job failed\" in the server's log"},
	} {
		if len(s.jobs) > 0 {
			well = false
			e.add(check, Warning, s.hint, "%s jobs %s: %s", total(s.jobs), s.what, listed(s.jobs))
		}
	}
	if well {
		e.add(check, OK, "", "none stuck, none failed in the last 24 hours")
	}
}

func total(counts map[string]int) string {
	n := 0
	for _, c := range counts {
		n += c
	}
	return fmt.Sprint(n)
}

// listed returns counts by name, sorted by name.
func listed(counts map[string]int) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprintf("%s (%d)", name, counts[name]))
	}
	return strings.Join(all, ", ")
}

// tasks checks for open tasks that no process runs.
func (e *examination) tasks(ctx context.Context, i *db.Inspection) {
	const check, most = "tasks", 5
	ctx, stop := context.WithTimeout(ctx, askWithin)
	defer stop()
	ids, err := taskstore.New(&i.DB).IdleTasks(ctx, idleTask)
	if err != nil {
		e.failed(check, err)
		return
	}
	if len(ids) == 0 {
		e.add(check, OK, "", "none stuck")
		return
	}
	names := strings.Join(ids[:min(len(ids), most)], ", ")
	if len(ids) > most {
		names += ", …"
	}
	e.add(check, Warning, "start the server, which resumes them; if it is running, its workers are busy: wait, or cancel the tasks",
		"%d tasks are unfinished, and no process has run them for a minute: %s", len(ids), names)
}

// sources reports the results of the last reads of sources.
func (e *examination) sources(ctx context.Context, i *db.Inspection) {
	const check = "sources"
	ctx, stop := context.WithTimeout(ctx, askWithin)
	defer stop()
	states, err := mirror.New(&i.DB).SourceStates(ctx)
	if err != nil {
		e.failed(check, err)
		return
	}
	all, err := health.Recorded(states)
	if err != nil {
		e.failed(check, err)
		return
	}
	good := 0
	for _, s := range all {
		if s.State == health.Connected {
			good++
			continue
		}
		last := "never read"
		if !s.LastSuccess.IsZero() {
			last = fmt.Sprintf("last read %v ago", e.Now().Sub(s.LastSuccess).Round(time.Second))
		}
		e.add(check, Warning, s.Hint, "%s: %s, %s: %s", s.Name, s.State, last, s.LastError)
	}
	if good == len(all) {
		e.add(check, OK, "", "%d read, all without errors", good)
	}
}
