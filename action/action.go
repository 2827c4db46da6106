// Package action is what a step of a Template can do: apply a manifest, open a
// change request, write a file. An action is a value; a program has those it was
// made with.
package action

import (
	"context"
	"io/fs"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/secret"
	"example.dev/ingestor/template/expression"
)

// Action is something a step can do.
type Action struct {
	// ID is what steps call it. Aliases are other names for the same.
	ID      string
	Aliases []string
	// Description says in a sentence what it does.
	Description string
	// Input and Output are JSON Schemas; nil means that there is nothing.
	Input, Output *tree.Node
	Examples      []Example
	// DryRun says that it can be tried out: it then looks at Call.DryRun and
	// changes nothing.
	DryRun bool
	// Contained says that it reaches nothing outside of the task, or decides as
	// the caller does, so that every Template may use it.
	Contained bool
	// Check, if not nil, returns the *Denied for a call that Run would refuse for
	// want of a permission, and any other error if that cannot be known yet. It
	// changes nothing.
	Check func(ctx context.Context, c *Call) error
	// Run does it. The input has been checked. What it returns fails the step;
	// when ctx ends it stops soon, leaving nothing half done. It is called again
	// with the same Key if the process died during it.
	Run func(ctx context.Context, c *Call) error
}

// Example shows how an action is used.
type Example struct {
	Description string
	// Example is YAML with the key steps.
	Example string
}

// Secret is a text that shows itself to nobody who does not ask with Reveal.
type Secret = secret.Text

// Call is one run of an action.
type Call struct {
	// Input is the input of the step, its expressions evaluated.
	Input *tree.Node
	// Workspace is the folder of the task.
	Workspace *Workspace
	// Logf tells whoever watches the task; secrets are masked. It may be called
	// by several goroutines at once.
	Logf func(format string, args ...any)
	// Change, if not nil, is told of what would become different: whoever tries
	// a Template out wants to see it. It may be called by several goroutines at
	// once.
	Change func(Change)
	// Output sets an output of the step.
	Output func(name string, value *tree.Node)
	// Secrets are those that came with the task.
	Secrets map[string]Secret
	// User is the reference of the person who asked, empty for a service.
	User string
	// Caller is who asked, and Template the reference of the Template.
	Caller   Caller
	Template string
	// Authorize decides about permissions; see Require. Its error is a *Denied.
	// The portal always sets it.
	Authorize func(ctx context.Context, permission string, t Target) error
	// Base is where the Template was read from, which relative addresses are
	// relative to: a URL, or empty if it is not known.
	Base string
	// Beside, if not nil, are the files beside the Template, which relative
	// addresses then lead to: it is tried out, and is nowhere else.
	Beside fs.FS
	// Scope is what expressions know in this step, for actions that evaluate
	// some of their own.
	Scope expression.Scope
	// Task and Step name this run; Key is the same whenever this step of this
	// task is run, and no other's.
	Task, Step, Key string
	// DryRun says that nothing may be changed outside of the workspace.
	DryRun bool
	// Audit, if not nil, writes to the audit log; see Record.
	Audit func(event string, target map[string]string, err error)
}

// Change is something outside of the workspace that a step makes different: a
// file of a repository, a resource of a cluster.
type Change struct {
	// Where it is, such as a branch of a repository, and what it is called there.
	Where, Name string
	// Before and After are its text; nil is what is not there.
	Before, After []byte
	// Hidden says why the text is not to be shown; empty means that it may be.
	Hidden string
}

// HiddenForeign is why the text of something is not shown that somebody else has
// made.
const HiddenForeign = "foreign"
