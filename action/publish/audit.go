package publish

import (
	"context"
	"errors"
	"maps"
	"strings"

	"example.dev/ingestor/action"
	"example.dev/ingestor/internal/git/forge"
	"example.dev/ingestor/sink/git"
)

// recordPush writes to the audit log that a commit was pushed to a branch, or why
// it was not. An up-to-date branch is not pushed to, and not recorded.
func (in *input) recordPush(c *action.Call, branch string, res git.Result, err error) {
	if err == nil && !res.Pushed {
		return
	}
	in.record(c, action.EventGitPush, map[string]string{"branch": branch, "commit": res.Commit}, err)
}

// recordRequest writes to the audit log that a change request was opened or
// updated, or why it was not.
func (in *input) recordRequest(c *action.Call, branch string, change forge.Change, err error) {
	operation := "open"
	switch {
	case err != nil:
		operation = ""
	case change.Existed:
		operation = "update"
	}
	in.record(c, action.EventGitChangeRequest, map[string]string{"branch": branch, "targetBranch": in.target, "url": change.URL, "operation": operation}, err)
}

func (in *input) record(c *action.Call, event string, more map[string]string, err error) {
	target := map[string]string{"repository": strings.ToLower(in.host) + "/" + in.repository}
	maps.Copy(target, more)
	c.Record(event, target, classified(err))
}

// classified returns only the class of an error, because the message of a server
// may quote the files.
func classified(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) {
		return errors.New("canceled")
	}
	for _, known := range []error{forge.ErrCredentials, forge.ErrForbidden, forge.ErrNotFound, forge.ErrUnavailable, forge.ErrRefused} {
		if errors.Is(err, known) {
			return known
		}
	}
	return errors.New("error")
}
