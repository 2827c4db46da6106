// Package action defines the actions that a step of a Template can run, such as
// applying a manifest, opening a change request or writing a file. An action is a
// value; a program has the actions that it registers.
package action

import (
	"context"
	"io/fs"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/secret"
	"example.dev/ingestor/template/expression"
)

// Action is an operation that a step can run.
type Action struct {
	// ID is the name that steps use. Aliases are other names for the same action.
	ID      string
	Aliases []string
	// Description describes the action in one sentence.
	Description string
	// Input and Output are JSON Schemas; nil means that there is no input or output.
	Input, Output *tree.Node
	Examples      []Example
	// DryRun reports whether the action supports dry runs: it then honours
	// Call.DryRun and changes nothing.
	DryRun bool
	// Contained reports whether the action has no effect outside the task, or uses
	// the permissions of the caller, so that every Template may use it.
	Contained bool
	// Check, if not nil, returns the *Denied for a call that Run would refuse
	// because of a missing permission, and any other error if that cannot be
	// determined yet. It changes nothing.
	Check func(ctx context.Context, c *Call) error
	// Run runs the action on validated input. An error that it returns fails the
	// step. When ctx ends, Run stops soon and leaves nothing half done. It is called
	// again with the same Key if the process died during the run.
	Run func(ctx context.Context, c *Call) error
}

// Example shows how an action is used.
type Example struct {
	Description string
	// Example is YAML with the key steps.
	Example string
}

// Secret is text that only Reveal returns; it is redacted everywhere else.
type Secret = secret.Text

// Call is one run of an action.
type Call struct {
	// Input is the input of the step with its expressions evaluated.
	Input *tree.Node
	// Workspace is the folder of the task.
	Workspace *Workspace
	// Logf writes to the log of the task; secrets are redacted. It may be called
	// concurrently.
	Logf func(format string, args ...any)
	// Change, if not nil, receives the changes that a dry run of a Template would
	// make. It may be called concurrently.
	Change func(Change)
	// Output sets an output of the step.
	Output func(name string, value *tree.Node)
	// Secrets are the secrets that were passed with the task.
	Secrets map[string]Secret
	// User is the reference of the user who created the task, empty for a service.
	User string
	// Caller is the caller who created the task, and Template the reference of the
	// Template.
	Caller   Caller
	Template string
	// Authorize checks a permission; see Require. Its error is a *Denied. The portal
	// always sets it.
	Authorize func(ctx context.Context, permission string, t Target) error
	// Base is the URL that the Template was read from, the base of relative URLs. It
	// is empty if it is not known.
	Base string
	// Beside, if not nil, holds the files next to the Template. Relative URLs then
	// resolve to these files, because a Template in a dry run exists nowhere else.
	Beside fs.FS
	// Scope holds the variables of expressions in this step, for actions that
	// evaluate expressions of their own.
	Scope expression.Scope
	// Task and Step name this run. Key is the same for every run of this step of
	// this task, and unique to it.
	Task, Step, Key string
	// DryRun reports that nothing outside the workspace may be changed.
	DryRun bool
	// Audit, if not nil, writes to the audit log; see Record.
	Audit func(event string, target map[string]string, err error)
}

// Change is a change that a step makes outside the workspace: to a file of a
// repository or to a resource of a cluster.
type Change struct {
	// Where is the location, such as a branch of a repository, and Name the name
	// there.
	Where, Name string
	// Before and After are the text; nil means that the file or resource does not
	// exist.
	Before, After []byte
	// Hidden is the reason why the text must not be shown; empty if it may be shown.
	Hidden string
}

// HiddenForeign is the reason for objects that the portal did not create.
const HiddenForeign = "foreign"
