package jobs

import (
	"fmt"
	"maps"
	"slices"

	"github.com/riverqueue/river"
)

// inserted is where River tells replicas of new jobs.
const inserted = "river_insert"

// payload is what it says there.
func payload(lane string) string { return `{"queue":"` + lane + `"}` }

// ownLane is how the lanes of tasks that have workers of their own begin.
const ownLane = "task-"

// lane returns the lane for jobs of a task, which River calls a queue.
func (q *Queue) lane(task string) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.tasks[task].Workers > 0 {
		return ownLane + task
	}
	return river.QueueDefault
}

// openLanes makes the lanes of tasks that have workers of their own.
func (q *Queue) openLanes() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(q.tasks)) {
		workers := q.tasks[name].Workers
		if workers <= 0 {
			continue
		}
		if err := q.engine.add(ownLane+name, workers); err != nil {
			q.mistakes = append(q.mistakes, fmt.Errorf("cannot handle task %q with %d workers of its own: %w", name, workers, err))
		}
	}
}
