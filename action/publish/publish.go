// Package publish writes the results of a task to Git repositories: as a commit,
// or as a branch with a change request at GitHub, GitLab, Gitea or Forgejo. A step
// that is run again reuses its branch and its change request.
//
// It is one package because every action of it makes the same files and ends in the same
// commit.
package publish

import (
	"cmp"
	"context"
	"net/url"
	"regexp"
	"strings"
	"time"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/git/forge"
	"example.dev/ingestor/sink/git"
	"example.dev/ingestor/words"
)

// ActionCommit is the ID of the commit action. The ID of the other action is in
// package words.
const ActionCommit = "git:commit"

// Host is a Git server and how to authenticate to it.
type Host struct {
	// Kind is github, gitlab, gitea, forgejo or git, which is a server without
	// change requests. If it is empty, the kind is derived from the host name or
	// detected by asking the server.
	Kind string
	// URL is the base URL of its repositories: https://host, ssh://git@host,
	// file:///folder. Empty means https and the host's name.
	URL string
	// API is the URL of the API for change requests; empty means the default of that
	// kind of server.
	API string
	// Auth holds the credentials. Its token is used for change requests too.
	Auth git.Auth
}

// Hosts returns the servers that may be used. It may be called concurrently.
type Hosts interface {
	// Host returns a server by its name in lower case, such as github.com or
	// git.example.com:8443, and reports whether it may be used.
	Host(name string) (Host, bool)
}

// HostsFunc is a function that implements Hosts.
type HostsFunc func(name string) (Host, bool)

// Host calls the function.
func (f HostsFunc) Host(name string) (Host, bool) { return f(name) }

// Options configure how repositories are written to.
type Options struct {
	// Hosts are the servers that may be used, in addition to the well-known public
	// ones, which steps with their own token can use. Nil means no others.
	Hosts Hosts
	// Author and Email identify the portal in commits: as the author for services,
	// and as the committer for users, who are the authors of their changes. Empty
	// means git.DefaultAuthor and git.DefaultEmail.
	Author, Email string
	// Prefix is the prefix of branch names. Empty means DefaultPrefix.
	Prefix string
	// Now is the clock for commits; nil means the system clock.
	Now func() time.Time
	// Timeout is the timeout of a commit and of a change request, each. Zero means
	// their defaults.
	Timeout time.Duration
	// Plan, if not nil, returns what a proposed resource would create, change and delete,
	// as Markdown for the text of the change request; empty if the resource has no plan.
	Plan func(ctx context.Context, c *action.Call, p Proposal) (string, error)
	// Pause is the delay before a retry after a server error. Zero means
	// forge.DefaultPause.
	Pause time.Duration
}

// Proposal is a resource that is proposed.
type Proposal struct {
	// Cluster is the cluster that the step names; empty means the default.
	Cluster  string
	Manifest *tree.Node
	// Merge reports that the manifest has only the fields that change.
	Merge bool
}

// DefaultPrefix is the default prefix of branch names.
const DefaultPrefix = "portal"

// publisher runs the actions.
type publisher struct{ Options }

// Actions returns publish:change-request and git:commit.
func Actions(o Options) []action.Action {
	o.Prefix = cmp.Or(strings.Trim(o.Prefix, "/"), DefaultPrefix)
	p := publisher{o}
	return []action.Action{
		{
			ID:          words.ActionChangeRequest,
			Aliases:     words.Spellings(words.Action, words.ActionChangeRequest)[1:],
			Description: "Pushes a manifest, or files of the workspace, to a branch of a repository and opens a change request, or updates the open one",
			Input:       requestInput(), Output: requestOutput(), Examples: requestExamples,
			DryRun: true, Run: p.propose, Check: p.checkPropose,
		},
		{
			ID:          ActionCommit,
			Description: "Commits a manifest, or files of the workspace, to a branch of a repository",
			Input:       commitInput(), Output: commitOutput(), Examples: commitExamples,
			DryRun: true, Run: p.commit, Check: p.checkCommit,
		},
	}
}

// place is a repository with its address and credentials.
type place struct {
	address string
	auth    git.Auth
	server  forge.Server
	// own reports that the step brings its own credentials, so that the server
	// authorizes.
	own bool
}

var hostName = regexp.MustCompile(`^([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$`)

// place resolves the repository of an input. If ask is set and the kind of the
// server is not known, the server is asked.
func (p publisher) place(ctx context.Context, in *input, ask bool) (place, error) {
	name := strings.ToLower(in.host)
	if !hostName.MatchString(name) {
		return place{}, action.Errorf("write a host such as github.com, without scheme and path", "%q is not a host name", in.host)
	}
	var host Host
	ok := false
	if p.Hosts != nil {
		host, ok = p.Hosts.Host(name)
	}
	if !ok && forge.KindOf(name) == "" {
		return place{}, action.Errorf("use another host, or add it to the configuration", "host %q is not allowed", in.host)
	}
	base, err := url.Parse(cmp.Or(host.URL, "https://"+name))
	if err != nil || base.Scheme == "" {
		// An invalid URL may contain a password anywhere; do not quote it.
		return place{}, action.Errorf("write https://host, ssh://git@host or file:///folder", "configured URL of host %q is not valid", in.host)
	}
	at := place{auth: host.Auth, server: forge.Server{
		Kind: cmp.Or(forge.Kind(host.Kind), forge.KindOf(name)), API: host.API,
		CAFile: host.Auth.CAFile, CAData: host.Auth.CAData, SkipTLSVerify: host.Auth.SkipTLSVerify,
		Timeout: p.Timeout, Pause: p.Pause,
	}}
	if in.token != "" && web(base) {
		at.auth.Token, at.auth.TokenFile, at.auth.Username = in.token, "", ""
		at.own = true
	}
	at.server.Token, at.server.TokenFile = at.auth.Token, at.auth.TokenFile
	switch base.Scheme {
	case "http", "https":
		at.server.Address = base.String()
	case "file":
		at.server.Kind = forge.Plain
	default:
		at.server.Address = "https://" + base.Hostname()
	}
	if at.server.Kind == "" && ask {
		if at.server.Kind, err = forge.Ask(ctx, at.server); err != nil {
			return place{}, told(err)
		}
	}
	at.address = strings.TrimRight(base.String(), "/") + "/" + in.repository
	switch at.server.Kind {
	case "", forge.Plain:
		// Keep the repository's name as given.
		return at, nil
	case forge.GitHub:
		at.auth.Username = cmp.Or(at.auth.Username, "x-access-token")
	case forge.GitLab:
		at.auth.Username = cmp.Or(at.auth.Username, "oauth2")
	}
	at.address = strings.TrimSuffix(at.address, ".git") + ".git"
	return at, nil
}

// options returns the options of a commit.
func (p publisher) options(c *action.Call, in *input, at place) git.Options {
	message := in.message
	if by := oneLine(c.Caller.Ref); by != "" {
		message += "\n\nRequested-by: " + by
	}
	author, email := p.author(c)
	return git.Options{
		Path: in.path, Message: message, Author: author, Email: email,
		Committer: cmp.Or(p.Author, git.DefaultAuthor), CommitterEmail: cmp.Or(p.Email, git.DefaultEmail),
		Now: p.Now, Edit: in.edit, DryRun: c.DryRun, Auth: at.auth, Timeout: p.Timeout,
	}
}
