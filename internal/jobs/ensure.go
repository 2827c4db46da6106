package jobs

// Ensure queues a job unless one of the same task and key waits or runs: unlike
// Request, it does not request another run of a running job. It returns at once, as
// Request does. After and Hurry of how have no effect.
func (q *Queue) Ensure(task, key string, how How) {
	q.requests.put(request{work: newWork(task, key, how)})
}
