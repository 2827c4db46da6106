package publish

import (
	"cmp"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/secret"
)

// input is the parsed input of a step. Its keys may have our names or those of
// other programs' actions.
type input struct {
	host, repository string
	// path is the folder of the repository to which all changes are confined.
	path string
	// target is the branch that is written to or that a change is proposed for, and
	// source the branch that is proposed.
	target, source string
	// base is the start point of target, if target does not exist.
	base                 string
	title, body, message string
	// cluster is where the resources are planned.
	cluster string
	draft   bool
	labels  []string
	token   secret.Text

	documents []document
	// remove means that the documents are removed, and drop lists further files to
	// remove.
	remove bool
	drop   []string
	// merge means that the documents are merged into their existing files.
	merge bool
	// files are the files of the workspace.
	files         map[string][]byte
	kustomization bool

	// touched are the files of the change, as paths in the repository.
	touched map[string]bool
	// mayEdit returns an error if the caller may not change the named files.
	mayEdit func(names map[string]bool) error
}

// unused are inputs of other programs' actions that have no effect here.
var unused = []string{
	"reviewers", "teamReviewers", "assignees", "assignee", "assignReviewersFromApprovalRules", "forceFork", "removeSourceBranch",
	"commitAction", "gitignore", "signCommit",
	// The author is the caller.
	"gitAuthorName", "gitAuthorEmail",
}

// textOf returns the first of the inputs that is a non-empty string.
func textOf(n *tree.Node, keys ...string) string {
	for _, k := range keys {
		if s := strings.TrimSpace(n.Get(k).Str()); s != "" {
			return s
		}
	}
	return ""
}

// names reads the repository, path and branches of a step.
func names(n *tree.Node) *input {
	return &input{
		host: textOf(n, "host"), path: textOf(n, "path", "targetPath"), token: secret.Text(textOf(n, "token")),
		target: branchName(textOf(n, "branch", "targetBranchName")), source: branchName(textOf(n, "branchName")), base: textOf(n, "base"),
	}
}

// branchName returns a branch without refs/heads/, so that permissions are checked
// for the branch that is written to.
func branchName(given string) string {
	for {
		name := strings.TrimSpace(strings.TrimPrefix(given, "refs/heads/"))
		if name == given {
			return name
		}
		given = name
	}
}

// read reads the input of a step.
func read(c *action.Call) (*input, error) {
	n := c.Input
	in := names(n)
	in.title, in.body = oneLine(textOf(n, "title")), textOf(n, "description", "body")
	in.cluster = textOf(n, "cluster")
	in.message = textOf(n, "commitMessage", "gitCommitMessage", "message")
	in.draft, in.labels = n.Get("draft").IsTrue(), labels(n.Get("labels"))
	in.remove, in.drop, in.merge = n.Get("remove").IsTrue(), n.Get("filesToDelete").Strings(), n.Get("merge").IsTrue()
	in.kustomization, in.touched = n.Get("kustomization").IsTrue(), map[string]bool{}
	if err := in.locate(textOf(n, "repository", "repoUrl")); err != nil {
		return nil, err
	}
	var err error
	if in.documents, err = documents(n.Get("manifest")); err != nil {
		return nil, err
	}
	if in.kustomization && len(in.documents) == 0 {
		return nil, action.Errorf("set manifest, or remove kustomization", "cannot list the manifest in a kustomization: no manifest is set")
	}
	if n.Get("sourcePath").IsString() || len(in.documents) == 0 && len(in.drop) == 0 {
		if in.files, err = files(c.Workspace, textOf(n, "sourcePath")); err != nil {
			return nil, err
		}
	}
	if len(in.documents)+len(in.files)+len(in.drop) == 0 {
		return nil, action.Errorf("set manifest, or add a step before that writes files to the workspace", "nothing to publish: no manifest and no files in the workspace")
	}
	for _, k := range unused {
		if v := n.Get(k); v.Len() > 0 || v.IsTrue() || v.Str() != "" {
			c.Logf("ignored unsupported input %s", k)
		}
	}
	in.speak(c)
	return in, nil
}

// speak fills in a missing title, message and description.
func (in *input) speak(c *action.Call) {
	verb := "Add"
	switch {
	case in.remove:
		verb = "Remove"
	case in.merge:
		verb = "Update"
	}
	what := "files"
	if len(in.documents) > 0 {
		what = in.documents[0].kind + " " + in.documents[0].name
	}
	first, _, _ := strings.Cut(in.message, "\n")
	in.title = cmp.Or(in.title, oneLine(first), verb+" "+what)
	in.message = cmp.Or(in.message, in.title)
	if in.body == "" {
		in.body = "Proposed by " + cmp.Or(oneLine(c.User), "a task") + " (task " + cmp.Or(c.Task, "unknown") + ")."
	}
}

// labels returns the labels of a list, or of a comma-separated string.
func labels(n *tree.Node) []string {
	all := n.Strings()
	if n.IsString() {
		all = strings.Split(n.Text, ",")
	}
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

var segment = regexp.MustCompile(`^[A-Za-z0-9_.~+][A-Za-z0-9_.~+-]*$`)

// locate parses the repository: owner/name together with the host, a URL, or
// host?owner=o&repo=r.
func (in *input) locate(given string) error {
	const hint = "write owner/name and the host beside it, https://host/owner/name, or host?owner=owner&repo=name"
	name := given
	if strings.Contains(given, "://") || strings.Contains(given, "?") {
		if _, _, isURL := strings.Cut(given, "://"); !isURL {
			given = "https://" + given
		}
		u, err := url.Parse(given)
		if err != nil || u.Host == "" || u.User != nil {
			// An invalid URL may contain a password anywhere; do not quote it.
			return action.Errorf(hint+", without a password", "invalid repository URL")
		}
		in.host, name = u.Host, u.Path
		if q := u.Query(); q.Has("repo") {
			name = q.Get("owner") + "/" + q.Get("repo")
		}
	}
	name = strings.Trim(name, "/")
	if name == "" {
		return action.Errorf(hint, "repository is missing")
	}
	if in.host == "" {
		return action.Errorf(hint, "host of repository %q is missing", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if !segment.MatchString(part) || part == "." || part == ".." {
			return action.Errorf(hint, "%q is not a valid repository name", name)
		}
	}
	in.repository = name
	return nil
}

// oneLine returns a text as a title: a single line with limited length.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	const most = 200
	if r := []rune(text); len(r) > most {
		text = string(r[:most-1]) + "…"
	}
	return text
}

// edit returns the files that depend on the content of the repository: each
// manifest has its own file, and the kustomization lists it.
func (in *input) edit(read func(string) ([]byte, error)) (map[string][]byte, error) {
	made := map[string][]byte{}
	clear(in.touched)
	touch := func(name string) { in.touched[path.Join("/", in.path, name)[1:]] = true }
	for name := range in.files {
		touch(name)
	}
	for _, d := range in.documents {
		if err := d.put(read, in, made); err != nil {
			return nil, err
		}
		touch(d.file)
	}
	for _, name := range in.drop {
		name = path.Clean(strings.Trim(name, "/"))
		made[name] = nil
		touch(name)
	}
	if !in.kustomization {
		return made, in.mayEdit(in.touched)
	}
	name, text, err := findKustomization(read)
	if err != nil {
		return nil, err
	}
	next := text
	for _, d := range in.documents {
		if next, err = enlist(next, d.file, in.remove); err != nil {
			return nil, action.Errorf("fix it, or write its resources as a list with one entry per line", "cannot list %q in %q: %w", d.file, name, err)
		}
	}
	if next != nil {
		made[name] = next
		touch(name)
	}
	return made, in.mayEdit(in.touched)
}
