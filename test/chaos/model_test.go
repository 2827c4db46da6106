package chaos_test

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"
)

// object is an object that the catalog should have an entity of, with its
// observations.
type object struct {
	// attempted is the last version that was written, acked the last one whose
	// write was acknowledged; 0 for none.
	attempted, acked int
	ackedAt          time.Time
	// deleted is when the object was deleted, zero if it exists. missed is when
	// it was first observed missing.
	deleted, missed time.Time
	// doubtful means that it is unknown whether the last version is stored.
	doubtful bool
	// seen is the last observed version, uid the uid of its entity, and at the
	// time of the observation.
	seen int
	uid  string
	at   time.Time
}

// model has everything that was written and observed.
type model struct {
	t  *testing.T
	mu sync.Mutex
	// objects is by entity reference.
	objects map[string]*object
	// tasks has the names of accepted tasks, by id.
	tasks      map[string]string
	reads      int
	violations int
}

func newModel(t *testing.T) *model {
	return &model{t: t, objects: map[string]*object{}, tasks: map[string]string{}}
}

// violated reports a violation. Only the first ones are logged.
func (m *model) violated(format string, args ...any) {
	if m.violations++; m.violations <= 20 {
		m.t.Errorf(format, args...)
	}
}

// next records a write of the next version of an object, and returns that
// version.
func (m *model) next(ref string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.objects[ref]
	if o == nil {
		o = &object{}
		m.objects[ref] = o
	}
	o.attempted++
	return o.attempted
}

// ack records that a version is stored.
func (m *model) ack(ref string, version int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects[ref].acked, m.objects[ref].ackedAt = version, time.Now()
}

// markUncertain records that it is unknown whether the last version is stored.
func (m *model) markUncertain(ref string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects[ref].doubtful = true
}

// remove records that an object is deleted.
func (m *model) remove(ref string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects[ref].deleted = time.Now()
}

// task records an accepted task.
func (m *model) task(id, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tasks[id] = name
}

// entity is an entity of the catalog.
type entity struct {
	version int
	uid     string
}

var aVersion = regexp.MustCompile(`chaos-v(\d+)`)

// versionIn returns the version in a document, 0 if it has none.
func versionIn(text []byte) int {
	found := aVersion.FindSubmatch(text)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(found[1]))
	return n
}

// read checks the response of a replica to a request sent at a time: all
// entities of a kind, by reference.
func (m *model) read(replica int, asked time.Time, kind string, found map[string]entity) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	now := time.Now()
	for ref, o := range m.objects {
		if ref[:len(kind)] != kind {
			continue
		}
		e, there := found[ref]
		who := fmt.Sprintf("%s, read from replica %d at %s", ref, replica, asked.Format("15:04:05.000"))
		earlier := !o.at.IsZero() && o.at.Before(asked)
		switch {
		case !there && !o.deleted.IsZero():
			if o.missed.IsZero() && asked.After(o.deleted) {
				o.missed = now
			}
			continue
		case !there && earlier:
			m.violated("%s: entity disappeared; it existed at %s with version %d", who, o.at.Format("15:04:05.000"), o.seen)
			continue
		case !there && o.acked > 0 && o.ackedAt.Before(asked):
			m.violated("%s: entity is missing, and was stored at %s", who, o.ackedAt.Format("15:04:05.000"))
			continue
		case !there:
			continue
		case !o.missed.IsZero() && asked.Before(o.missed):
			// The response was delayed.
			continue
		case !o.missed.IsZero():
			m.violated("%s: entity reappeared with version %d after it was deleted at %s", who, e.version, o.deleted.Format("15:04:05.000"))
			continue
		}
		if earlier && e.version < o.seen {
			m.violated("%s: entity was reverted from version %d to %d; the later one was read at %s", who, o.seen, e.version, o.at.Format("15:04:05.000"))
		}
		if e.version < o.acked && o.ackedAt.Before(asked) {
			m.violated("%s: entity has version %d, and version %d was stored at %s", who, e.version, o.acked, o.ackedAt.Format("15:04:05.000"))
		}
		if e.version > o.attempted {
			m.violated("%s: entity has version %d, and the last written version is %d", who, e.version, o.attempted)
		}
		if earlier && o.uid != e.uid {
			m.violated("%s: uid was %s and is now %s", who, o.uid, e.uid)
		}
		if e.version >= o.seen {
			o.seen, o.uid, o.at = e.version, e.uid, now
		}
	}
}

// settled returns what has not converged yet.
func (m *model) settled() (open []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for ref, o := range m.objects {
		switch {
		case !o.deleted.IsZero():
			if o.missed.IsZero() {
				open = append(open, ref+" still exists")
			}
		case o.acked > 0 || o.doubtful:
			if o.seen < o.acked {
				open = append(open, fmt.Sprintf("%s has version %d, want %d", ref, o.seen, o.acked))
			}
		case o.seen != o.attempted:
			open = append(open, fmt.Sprintf("%s has version %d, want %d", ref, o.seen, o.attempted))
		}
	}
	return open
}
