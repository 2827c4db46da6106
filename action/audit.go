package action

// The events of the audit log that actions record.
const (
	EventClusterApply     = "cluster.apply"
	EventClusterDelete    = "cluster.delete"
	EventGitPush          = "git.push"
	EventGitChangeRequest = "git.change-request"
)

// Record writes an event to the audit log: what was done outside the workspace, to
// which target, and why it failed unless err is nil. It is called after each
// write, and does nothing in a dry run or without an audit log. The target and the
// text of err are written as they are, with secrets redacted: they must not quote
// any input except the name of the target.
func (c *Call) Record(event string, target map[string]string, err error) {
	if c.Audit != nil && !c.DryRun {
		c.Audit(event, target, err)
	}
}
