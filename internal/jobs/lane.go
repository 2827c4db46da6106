package jobs

import (
	"fmt"
	"maps"
	"slices"

	"github.com/riverqueue/river"
)

// inserted is the topic on which River notifies replicas of new jobs.
const inserted = "river_insert"

// payload returns the payload of such a notification.
func payload(lane string) string { return `{"queue":"` + lane + `"}` }

// ownLane is the prefix of the lanes of tasks with dedicated workers.
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

// openLanes creates the lanes of tasks with dedicated workers.
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
