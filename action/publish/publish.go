// Package publish puts what a task makes into Git repositories: as a commit, or
// as a branch with a change request at GitHub, GitLab, Gitea or Forgejo. A step
// that is run again finds its branch and its request again.
package publish

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"example.dev/ingestor/action"
	"example.dev/ingestor/internal/git/forge"
	"example.dev/ingestor/sink/git"
	"example.dev/ingestor/words"
)

// ActionCommit is what steps call the action that commits. What they call the
// other one is in the vocabulary.
const ActionCommit = "git:commit"

// Host is a server of repositories, and how to get in.
type Host struct {
	// Kind is github, gitlab, gitea, forgejo or git, which is a server without
	// change requests. Empty means that its name tells, or that it is asked.
	Kind string
	// URL is where its repositories are, without their names: https://host,
	// ssh://git@host, file:///folder. Empty means https and the host's name.
	URL string
	// API is where the interface for change requests is; empty means where
	// that kind of server usually has it.
	API string
	// Auth is how to prove who one is. Its token is for change requests too.
	Auth git.Auth
}

// Hosts knows the servers that may be used. It may be called at once.
type Hosts interface {
	// Host returns a server by its name, in lower case, such as github.com or
	// git.example.com:8443, and whether it may be used.
	Host(name string) (Host, bool)
}

// HostsFunc makes Hosts of a function.
type HostsFunc func(name string) (Host, bool)

// Host calls the function.
func (f HostsFunc) Host(name string) (Host, bool) { return f(name) }

// Options are how repositories are written to.
type Options struct {
	// Hosts are the servers that may be used. Beside them there are the ones
	// everybody knows, for whoever brings a token. Nil means no others.
	Hosts Hosts
	// Author and Email are who makes commits: as the author for services, and as
	// the committer for people, who are the authors of what they ask for. Empty
	// means git.DefaultAuthor and git.DefaultEmail.
	Author, Email string
	// Prefix is how the names of branches begin. Empty means DefaultPrefix.
	Prefix string
	// Now is the clock for commits; nil means the one of the system.
	Now func() time.Time
	// Timeout is how long a commit, and a change request, may take. Zero means
	// the defaults of those.
	Timeout time.Duration
	// Pause is waited when a server has troubles of its own. Zero means
	// forge.DefaultPause.
	Pause time.Duration
}

// DefaultPrefix is how the names of branches begin.
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
			Description: "Puts a manifest, or files of the workspace, on a branch of a repository and opens a change request for it; one that is open already is updated",
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

// place is a repository, and how to get there.
type place struct {
	address string
	auth    git.Auth
	server  forge.Server
	// own says that the step brings the credentials itself: the server decides
	// what they are good for.
	own bool
}

var hostName = regexp.MustCompile(`^([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$`)

// place finds out where a repository is. With ask the server is asked what it
// is, if nothing else tells.
func (p publisher) place(ctx context.Context, in *input, ask bool) (place, error) {
	name := strings.ToLower(in.host)
	if !hostName.MatchString(name) {
		return place{}, wrong("write it as in github.com, without a scheme and a path", "%q is not the name of a host", in.host)
	}
	var host Host
	ok := false
	if p.Hosts != nil {
		host, ok = p.Hosts.Host(name)
	}
	if !ok && forge.KindOf(name) == "" {
		return place{}, wrong("use one that is, or have it added to the configuration", "the host %q is not one that may be used", in.host)
	}
	base, err := url.Parse(cmp.Or(host.URL, "https://"+name))
	if err != nil || base.Scheme == "" {
		// What is no proper URL may have a password anywhere.
		return place{}, wrong("write https://host, ssh://git@host or file:///folder", "the URL of the host %q in the configuration is none", in.host)
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
		// It is there under the name it was given.
		return at, nil
	case forge.GitHub:
		at.auth.Username = cmp.Or(at.auth.Username, "x-access-token")
	case forge.GitLab:
		at.auth.Username = cmp.Or(at.auth.Username, "oauth2")
	}
	at.address = strings.TrimSuffix(at.address, ".git") + ".git"
	return at, nil
}

// options are those of a commit.
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

// wrong returns an error with the way out.
func wrong(hint, format string, args ...any) error {
	return &action.Error{Err: fmt.Errorf(format, args...), Hint: hint}
}
