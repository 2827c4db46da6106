package chaos_test

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"
)

// object is something that the catalog is to have an entity of, and what was seen
// of that.
type object struct {
	// attempted is the last version that was written, and acked the last one of
	// which somebody said that it was stored; 0 for none.
	attempted, acked int
	ackedAt          time.Time
	// deleted is when it was deleted; zero if it is there. missed is when it was first
	// seen to be gone.
	deleted, missed time.Time
	// doubtful says that it is not known whether the last version is stored.
	doubtful bool
	// seen is the last version that was seen, uid what its entity was called then,
	// and at when that was.
	seen int
	uid  string
	at   time.Time
}

// model is what was written, and what was seen of it.
type model struct {
	t  *testing.T
	mu sync.Mutex
	// objects are by the reference of an entity.
	objects map[string]*object
	// tasks are the names of the tasks that were taken, by their ids.
	tasks      map[string]string
	reads      int
	violations int
}

func newModel(t *testing.T) *model {
	return &model{t: t, objects: map[string]*object{}, tasks: map[string]string{}}
}

// violated reports something that must not happen. The first of them tell enough.
func (m *model) violated(format string, args ...any) {
	if m.violations++; m.violations <= 20 {
		m.t.Errorf(format, args...)
	}
}

// next notes that the next version of an object is written, and returns it.
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

// ack notes that a version is stored.
func (m *model) ack(ref string, version int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects[ref].acked, m.objects[ref].ackedAt = version, time.Now()
}

// doubt notes that it is not known whether the last version is stored.
func (m *model) doubt(ref string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects[ref].doubtful = true
}

// remove notes that an object is deleted.
func (m *model) remove(ref string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects[ref].deleted = time.Now()
}

// task notes a task that was taken.
func (m *model) task(id, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tasks[id] = name
}

// entity is one as it is read.
type entity struct {
	version int
	uid     string
}

var aVersion = regexp.MustCompile(`chaos-v(\d+)`)

// versionIn is the version that a document says it has; 0 if it says none.
func versionIn(text []byte) int {
	found := aVersion.FindSubmatch(text)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(found[1]))
	return n
}

// read takes what a replica answered to a question that was asked at a time: all
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
			m.violated("%s: it vanished; it was there at %s, with version %d", who, o.at.Format("15:04:05.000"), o.seen)
			continue
		case !there && o.acked > 0 && o.ackedAt.Before(asked):
			m.violated("%s: it is not there, and was stored at %s", who, o.ackedAt.Format("15:04:05.000"))
			continue
		case !there:
			continue
		case !o.missed.IsZero() && asked.Before(o.missed):
			// The answer was on its way for long.
			continue
		case !o.missed.IsZero():
			m.violated("%s: it came back with version %d, and was deleted at %s", who, e.version, o.deleted.Format("15:04:05.000"))
			continue
		}
		if earlier && e.version < o.seen {
			m.violated("%s: it went back from version %d to %d; the later one was read at %s", who, o.seen, e.version, o.at.Format("15:04:05.000"))
		}
		if e.version < o.acked && o.ackedAt.Before(asked) {
			m.violated("%s: it has version %d, and version %d was stored at %s", who, e.version, o.acked, o.ackedAt.Format("15:04:05.000"))
		}
		if e.version > o.attempted {
			m.violated("%s: it has version %d, and nobody wrote more than %d", who, e.version, o.attempted)
		}
		if earlier && o.uid != e.uid {
			m.violated("%s: its uid was %s and is %s", who, o.uid, e.uid)
		}
		if e.version >= o.seen {
			o.seen, o.uid, o.at = e.version, e.uid, now
		}
	}
}

// settled returns what is not yet as it must be in the end.
func (m *model) settled() (open []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for ref, o := range m.objects {
		switch {
		case !o.deleted.IsZero():
			if o.missed.IsZero() {
				open = append(open, ref+" is still there")
			}
		case o.acked > 0 || o.doubtful:
			if o.seen < o.acked {
				open = append(open, fmt.Sprintf("%s has version %d, not %d", ref, o.seen, o.acked))
			}
		case o.seen != o.attempted:
			open = append(open, fmt.Sprintf("%s has version %d, not %d", ref, o.seen, o.attempted))
		}
	}
	return open
}
