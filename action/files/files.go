// Package files is what a step does with the files of the workspace: it fetches
// them from repositories, as they are or as templates, and writes, renames and
// deletes them. Nothing leaves the workspace.
package files

import (
	"context"
	"fmt"
	"io/fs"

	"example.dev/ingestor/action"
	"example.dev/ingestor/internal/secret"
	"example.dev/ingestor/template/expression"
)

// The actions.
const (
	ActionFetch        = "fetch:plain"
	ActionFetchFile    = "fetch:plain:file"
	ActionTemplate     = "fetch:template"
	ActionTemplateFile = "fetch:template:file"
	ActionWrite        = "fs:write"
	ActionDelete       = "fs:delete"
	ActionRename       = "fs:rename"
	ActionList         = "fs:readdir"
)

// The most that one step fetches.
const (
	DefaultMaxFiles = 10_000
	DefaultMaxBytes = 100 << 20
)

// Fetcher opens what addresses lead to. It may be called at once.
type Fetcher interface {
	// Fetch opens what an address leads to. One without a scheme is relative to
	// base, which is where the Template was read from, or empty. The token, if
	// there is one, goes before what is known of the server. Before a repository
	// is read with other credentials than that token, may is asked, and its
	// error returned. Whoever gets a Tree closes it.
	Fetch(ctx context.Context, base, address string, token secret.Text, may May) (*Tree, error)
}

// May returns an error unless a repository, host/owner/name, may be read.
// Anonymous says that no credentials are used.
type May func(repository string, anonymous bool) error

// FetcherFunc makes a Fetcher of a function.
type FetcherFunc func(ctx context.Context, base, address string, token secret.Text, may May) (*Tree, error)

// Fetch calls the function.
func (f FetcherFunc) Fetch(ctx context.Context, base, address string, token secret.Text, may May) (*Tree, error) {
	return f(ctx, base, address, token, may)
}

// Tree is what was fetched.
type Tree struct {
	// Files are all that links may lead to. To have links followed it is an
	// fs.ReadLinkFS.
	Files fs.FS
	// Path is the file or folder that was asked for.
	Path string
	// Shown is the address for people. There are no credentials in it.
	Shown string
	// Close ends the use of it; nil if there is nothing to end.
	Close func() error
}

// Options are what the actions work with.
type Options struct {
	// Fetcher is needed by fetch:plain, fetch:template and those for one file.
	Fetcher Fetcher
	// Env is the language of templates; nil means expression.Default.
	Env *expression.Env
	// MaxFiles and MaxBytes are the most one step fetches, and writes of it.
	// Zero means DefaultMaxFiles and DefaultMaxBytes.
	MaxFiles int
	MaxBytes int64
}

// actions runs the actions.
type actions struct{ Options }

// Actions returns those for the files of the workspace and, if there is a
// Fetcher, those that fetch.
func Actions(o Options) []action.Action {
	if o.MaxFiles <= 0 {
		o.MaxFiles = DefaultMaxFiles
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.Env == nil {
		o.Env = expression.Default()
	}
	a := actions{o}
	all := []action.Action{
		{
			ID: ActionWrite, Description: "Writes a file of the workspace",
			Input: writeInput, Output: writeOutput, Examples: writeExamples, Contained: true, Run: write,
		},
		{
			ID: ActionDelete, Description: "Deletes files and folders of the workspace",
			Input: deleteInput, Examples: deleteExamples, Contained: true, Run: remove,
		},
		{
			ID: ActionRename, Description: "Gives files and folders of the workspace other names",
			Input: renameInput, Examples: renameExamples, Contained: true, Run: rename,
		},
		{
			ID: ActionList, Description: "Lists folders of the workspace",
			Input: listInput, Output: listOutput, Examples: listExamples, Contained: true, Run: a.list,
		},
	}
	if o.Fetcher != nil {
		all = append(all,
			action.Action{
				ID: ActionFetch, Description: "Puts the files of a folder, which is beside the Template or in a repository, into the workspace",
				Input: fetchInput, Examples: fetchExamples, Run: a.fetch,
			},
			action.Action{
				ID: ActionFetchFile, Description: "Puts one file, which is beside the Template or in a repository, into the workspace",
				Input: fetchFileInput, Examples: fetchFileExamples, Run: a.fetchFile,
			},
			action.Action{
				ID: ActionTemplate, Description: "Puts the files of a folder into the workspace, with the expressions in their names and in what is in them evaluated",
				Input: templateInput, Examples: templateExamples, Run: a.template,
			},
			action.Action{
				ID: ActionTemplateFile, Description: "Puts one file into the workspace, with the expressions in it evaluated",
				Input: templateFileInput, Examples: templateFileExamples, Run: a.templateFile,
			})
	}
	for i := range all {
		// None of them changes anything but the workspace.
		all[i].DryRun = true
	}
	return all
}

// wrong returns an error with the way out.
func wrong(hint, format string, args ...any) error {
	return &action.Error{Err: fmt.Errorf(format, args...), Hint: hint}
}
