package form

import (
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// expression returns the template expression for a parameter.
func expression(param string) string { return evaluate(reference(param)) }

// evaluate wraps an expression as a value of the manifest.
func evaluate(expr string) string { return "${{ " + expr + " }}" }

// reference returns a parameter reference for use inside an expression.
func reference(param string) string { return member("parameters", param) }

// member returns the reference to a field of an object.
func member(ref, key string) string {
	if plainName(key) {
		return ref + "." + key
	}
	return ref + "[" + quoted(key) + "]"
}

// quoted returns a text as it is written in an expression.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s) + `"`
}

// plainName reports whether a name may follow a dot.
func plainName(s string) bool {
	switch s {
	case "", "true", "false", "none", "null":
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && c != '_' && (i == 0 || !isDigit(c)) {
			return false
		}
	}
	return true
}

// The delivery methods.
const (
	DeliverApply  = "apply"
	DeliverChange = "change-request"
)

// deliveryPage asks whether to apply the resource or to propose it in a repository. The
// repository fields are shown and required only for a change request.
func (c *compiler) deliveryPage() *tree.Node {
	host, repository := SplitRepository(c.opts.Repository)
	git := tree.Obj(
		tree.F(ParamDelivery, tree.Obj(tree.F("enum", tree.Strs([]string{DeliverChange})))),
		tree.F(ParamGitHost, requiredText("Host", "Host of the repository, such as github.com", host)),
		tree.F(ParamGitRepository, requiredText("Repository", "Owner and name, such as platform/resources", repository)),
		tree.F(ParamGitPath, requiredText("Path", "Folder in the repository", strings.Trim(c.opts.Path, "/"))),
		tree.F(ParamGitBranch, requiredText("Branch", "Branch the change is proposed for", "main")),
	)
	direct := tree.Obj(tree.F("properties", tree.Obj(tree.F(ParamDelivery, tree.Obj(tree.F("enum", tree.Strs([]string{DeliverApply})))))))
	change := tree.Obj(
		tree.F("required", tree.Strs([]string{ParamGitHost, ParamGitRepository, ParamGitPath, ParamGitBranch})),
		tree.F("properties", git),
	)
	return tree.Obj(
		tree.F("title", tree.Str("Delivery")),
		tree.F("required", tree.Strs([]string{ParamDelivery})),
		tree.F("properties", tree.Obj(tree.F(ParamDelivery, tree.Obj(
			tree.F("title", tree.Str("Delivery")),
			tree.F("description", tree.Str("Apply directly, or propose a change to a repository")),
			tree.F("type", typeNodes["string"]),
			tree.F("enum", tree.Strs([]string{DeliverApply, DeliverChange})),
			tree.F("enumNames", tree.Strs([]string{"Apply directly", "Change request"})),
			tree.F("default", tree.Str(c.defaultDelivery())),
		)))),
		tree.F("dependencies", tree.Obj(tree.F(ParamDelivery, tree.Obj(tree.F("oneOf", tree.Arr(direct, change)))))),
	)
}

// requiredText returns the schema of a text that must not be empty. An empty value means
// no default.
func requiredText(title, description, value string) *tree.Node {
	return tree.Obj(
		tree.F("title", tree.Str(title)),
		tree.F("description", tree.Str(description)),
		tree.F("type", typeNodes["string"]),
		tree.F("default", tree.OptStr(value)),
		tree.F("minLength", tree.Number(1)),
	)
}

// defaultDelivery defaults to a change request if the definition names a repository.
func (c *compiler) defaultDelivery() string {
	if c.opts.Repository != "" {
		return DeliverChange
	}
	return DeliverApply
}

// SplitRepository splits a repository's URL: https://host/owner/name,
// git@host:owner/name.git, host/owner/name or owner/name. host is empty if the URL has
// none.
func SplitRepository(url string) (host, repository string) {
	s := strings.TrimSuffix(strings.Trim(strings.TrimSpace(url), "/"), ".git")
	_, rest, named := strings.Cut(s, "://")
	if named {
		s = rest
	}
	first, rest, _ := strings.Cut(s, "/")
	if !named {
		// A colon without a scheme precedes a path, not a port.
		if before, after, ok := strings.Cut(first, ":"); ok {
			first, rest, named = before, after+"/"+rest, true
		}
	}
	if at := strings.LastIndexByte(first, '@'); at >= 0 {
		// Drop a user or credential, which must not be shown.
		first, named = first[at+1:], true
	}
	if named || strings.Contains(first, ".") {
		return first, strings.Trim(rest, "/")
	}
	return "", strings.Trim(s, "/")
}

// Values returns form values that produce the given spec, the inverse of filling in the
// form, for the parameters that are bound to parts of spec.
func (f *Form) Values(spec *tree.Node) *tree.Node {
	values := tree.Obj()
	for _, b := range f.Bindings {
		if v := spec.Get(b.Path...); v != nil {
			values.Set(b.Param, v)
		}
	}
	return values
}

// Matching returns the sorted names of the Compositions for d.
func Matching(d *xrd.Definition, all []*xrd.Composition) []string {
	var names []string
	for _, c := range all {
		if c.For(d) && c.Name != "" {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
