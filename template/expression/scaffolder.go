package expression

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
)

// Default returns the language with the scaffolder's filters, as in Filters(nil).
func Default() *Env { return &Env{Filters: Filters(nil)} }

// The kinds of Git hosts.
const (
	Azure           = "azure"
	BitbucketCloud  = "bitbucketCloud"
	BitbucketServer = "bitbucketServer"
	Gerrit          = "gerrit"
	Gitea           = "gitea"
	GitHub          = "github"
	GitLab          = "gitlab"
)

// publicHosts are the public Git hosts.
var publicHosts = map[string]string{
	"github.com": GitHub, "gitlab.com": GitLab, "bitbucket.org": BitbucketCloud, "dev.azure.com": Azure,
}

// needs lists the parts of a repository URL that each kind of Git host requires, if not
// owner and repo.
var needs = map[string][]string{
	Azure: {"project", "repo"}, BitbucketCloud: {"workspace", "project", "repo"}, BitbucketServer: {"project", "repo"},
	Gerrit: {"repo"}, Gitea: {"repo"},
}

// Filters returns the scaffolder's own filters: parseRepoUrl, projectSlug,
// parseEntityRef and pick. hosts maps hosts to kinds of Git hosts; a repository on any
// other host is an error. With nil, the public hosts are used, and other hosts are
// assumed to require owner and repo.
func Filters(hosts map[string]string) map[string]Filter {
	repo := func(in *tree.Node) (*repository, error) { return parseRepository(in, hosts) }
	return map[string]Filter{
		"parseRepoUrl": func(in *tree.Node, _ []*tree.Node) (*tree.Node, error) {
			r, err := repo(in)
			if err != nil {
				return nil, err
			}
			out := tree.Obj(tree.F("host", tree.Str(r.host)))
			for _, part := range parts {
				if v, ok := r.parts[part]; ok {
					out.Fields = append(out.Fields, tree.F(part, tree.Str(v)))
				}
			}
			return out, nil
		},
		"projectSlug": func(in *tree.Node, _ []*tree.Node) (*tree.Node, error) {
			r, err := repo(in)
			if err != nil {
				return nil, err
			}
			if _, ok := r.parts["owner"]; !ok {
				return nil, errors.New("cannot make project slug: repository URL has no owner")
			}
			return tree.Str(r.parts["owner"] + "/" + r.parts["repo"]), nil
		},
		"parseEntityRef": parseEntityRef,
		"pick":           pick,
	}
}

// parts are the possible parts of a repository URL, in output order.
var parts = []string{"owner", "repo", "organization", "workspace", "project"}

// repository is a parsed repository URL such as github.com?owner=acme&repo=shop.
type repository struct {
	host  string
	parts map[string]string
}

func parseRepository(in *tree.Node, hosts map[string]string) (*repository, error) {
	if !in.IsString() {
		return nil, errors.New("cannot read repository URL: not a string")
	}
	u, err := url.Parse("https://" + strings.TrimSpace(in.Text))
	if err != nil || u.Host == "" {
		return nil, errors.New("cannot read repository URL: want a form such as github.com?owner=acme&repo=shop")
	}
	host := strings.TrimSuffix(strings.ToLower(u.Host), ":443")
	kind, ok := hosts[host]
	if hosts == nil {
		kind, ok = publicHosts[host], true
	}
	if !ok {
		return nil, fmt.Errorf("cannot read repository URL: no integration is configured for host %s", host)
	}
	query := u.Query()
	r := &repository{host: host, parts: map[string]string{}}
	for _, part := range parts {
		if query.Has(part) {
			r.parts[part] = strings.Trim(query.Get(part), "/")
		}
	}
	wanted, ok := needs[kind]
	if !ok {
		wanted = []string{"owner", "repo"}
	}
	if kind == GitLab && r.parts["project"] != "" {
		wanted = nil
	}
	for _, part := range wanted {
		if query.Get(part) == "" {
			return nil, fmt.Errorf("cannot read repository URL: %s is missing", part)
		}
	}
	return r, nil
}

// parseEntityRef parses an entity reference. Its argument may set defaultKind and
// defaultNamespace.
func parseEntityRef(in *tree.Node, args []*tree.Node) (*tree.Node, error) {
	var context *tree.Node
	if len(args) > 0 {
		context = args[0]
	}
	given := map[string]string{"kind": context.Get("defaultKind").Str(), "namespace": context.Get("defaultNamespace").Str()}
	if given["namespace"] == "" {
		given["namespace"] = "default"
	}
	set := func(part, value string) { given[part] = value }
	switch {
	case in.IsMap():
		for _, part := range []string{"kind", "namespace", "name"} {
			if v := in.Get(part); !v.IsNull() {
				set(part, v.Str())
			}
		}
	case in.Str() != "":
		s := in.Text
		colon, slash := strings.IndexByte(s, ':'), strings.IndexByte(s, '/')
		if slash >= 0 && slash < colon {
			colon = -1
		}
		if colon >= 0 {
			set("kind", s[:colon])
		}
		if slash >= 0 {
			set("namespace", s[colon+1:slash])
		}
		set("name", s[max(colon, slash)+1:])
	default:
		return nil, errors.New("cannot read entity reference: empty value")
	}
	out := tree.Obj()
	for _, part := range []string{"kind", "namespace", "name"} {
		if given[part] == "" {
			return nil, fmt.Errorf("cannot read entity reference: %s is missing; want [kind:][namespace/]name", part)
		}
		out.Fields = append(out.Fields, tree.F(part, tree.Str(given[part])))
	}
	return out, nil
}

// pick returns the part of a value at a path such as a.b[0], or else its second
// argument.
func pick(in *tree.Node, args []*tree.Node) (*tree.Node, error) {
	var otherwise *tree.Node
	if len(args) > 1 {
		otherwise = args[1]
	}
	if len(args) == 0 || args[0].IsNull() {
		return otherwise, nil
	}
	whole := args[0].Scalar()
	if found := in.Get(whole); found != nil {
		return found, nil
	}
	for _, key := range keyPath(whole) {
		in = child(in, key)
	}
	if in == nil {
		return otherwise, nil
	}
	return in, nil
}

// keyPath splits a path of names with dots and brackets.
func keyPath(path string) []string {
	var out []string
	for _, p := range strings.Split(strings.ReplaceAll(path, "[", ".["), ".") {
		p, isIndex := strings.CutPrefix(p, "[")
		if isIndex {
			p = strings.Trim(strings.TrimSuffix(p, "]"), `"'`)
		}
		if p != "" {
			out = append(out, p)
		}
	}
	return out
}

// child returns the member of a value with a key.
func child(n *tree.Node, key string) *tree.Node {
	switch {
	case n.IsMap():
		return n.Get(key)
	case n.IsList() && key == "length":
		return tree.Number(int64(n.Len()))
	case n.IsList():
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < n.Len() {
			return n.Items[i]
		}
	case n.IsString() && key == "length":
		return tree.Number(int64(length(n.Text)))
	case n.IsString():
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < length(n.Text) {
			return tree.Str(cut(n.Text, i, i+1))
		}
	}
	return nil
}
