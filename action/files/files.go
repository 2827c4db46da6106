// Package files has the actions for the files of the workspace: they fetch files
// from repositories, as they are or as templates, and write, rename and delete
// files. Nothing outside the workspace is changed.
package files

import (
	"context"
	"io/fs"

	"example.dev/ingestor/action"
	"example.dev/ingestor/internal/secret"
	"example.dev/ingestor/template/expression"
)

// IDs of the actions.
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

// Default limits of what one step fetches.
const (
	DefaultMaxFiles = 10_000
	DefaultMaxBytes = 100 << 20
)

// Fetcher opens files and folders by URL. It may be called concurrently.
type Fetcher interface {
	// Fetch opens the file or folder at an address. An address without a scheme is
	// relative to base, the URL of the Template, which may be empty. The token, if
	// not empty, overrides the configured credentials of the server. Before a
	// repository is read with other credentials than that token, may is called, and
	// its error returned. The caller closes the Tree.
	Fetch(ctx context.Context, base, address string, token secret.Text, may May) (*Tree, error)
}

// May returns an error unless the repository host/owner/name may be read.
// anonymous means that no credentials are used.
type May func(repository string, anonymous bool) error

// FetcherFunc is a function that implements Fetcher.
type FetcherFunc func(ctx context.Context, base, address string, token secret.Text, may May) (*Tree, error)

// Fetch calls the function.
func (f FetcherFunc) Fetch(ctx context.Context, base, address string, token secret.Text, may May) (*Tree, error) {
	return f(ctx, base, address, token, may)
}

// Tree is a fetched file or folder.
type Tree struct {
	// Files is the file system that links may point into. It must be an
	// fs.ReadLinkFS for links to be followed.
	Files fs.FS
	// Path is the requested file or folder.
	Path string
	// Shown is the address for messages, without credentials.
	Shown string
	// Close releases the Tree; nil if there is nothing to release.
	Close func() error
}

// Options configure the actions.
type Options struct {
	// Fetcher is needed by the fetch:plain and fetch:template actions.
	Fetcher Fetcher
	// Env is the expression environment of templates; nil means expression.Default.
	Env *expression.Env
	// MaxFiles and MaxBytes limit what one step fetches and writes. Zero means
	// DefaultMaxFiles and DefaultMaxBytes.
	MaxFiles int
	MaxBytes int64
}

// actions implements the actions.
type actions struct{ Options }

// Actions returns the actions for the files of the workspace and, if there is a
// Fetcher, the fetch actions.
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
			ID: ActionRename, Description: "Renames files and folders of the workspace",
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
				ID: ActionFetch, Description: "Fetches a folder, from beside the Template or from a repository, into the workspace",
				Input: fetchInput, Examples: fetchExamples, Run: a.fetch,
			},
			action.Action{
				ID: ActionFetchFile, Description: "Fetches one file, from beside the Template or from a repository, into the workspace",
				Input: fetchFileInput, Examples: fetchFileExamples, Run: a.fetchFile,
			},
			action.Action{
				ID: ActionTemplate, Description: "Fetches a folder into the workspace and evaluates the expressions in file names and contents",
				Input: templateInput, Examples: templateExamples, Run: a.template,
			},
			action.Action{
				ID: ActionTemplateFile, Description: "Fetches one file into the workspace and evaluates the expressions in it",
				Input: templateFileInput, Examples: templateFileExamples, Run: a.templateFile,
			})
	}
	for i := range all {
		// All of them change only the workspace.
		all[i].DryRun = true
	}
	return all
}
