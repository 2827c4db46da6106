package files

import (
	"context"
	"errors"
	"path"
	"strings"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/template/expression"
)

// defaultExtension is the file extension of templates, if templateFileExtension is
// true.
const defaultExtension = ".njk"

// renderer renders templates to files.
type renderer struct {
	call  *action.Call
	env   expression.Env
	scope expression.Scope
	// asIs matches the files whose contents are not rendered, and names reports
	// whether their names are.
	asIs  patterns
	names bool
	// extension is the extension of template files; empty if all files are
	// templates.
	extension string
	replace   bool
	target    string
}

// newRenderer reads the input of a step.
func (a actions) newRenderer(c *action.Call) (*renderer, error) {
	in := c.Input
	if in.Get("cookiecutterCompat").IsTrue() {
		return nil, action.Errorf("write {{ cookiecutter.name }} as ${{ values.name }}, and remove cookiecutterCompat",
			"cookiecutter templates are not supported")
	}
	r := &renderer{
		call: c, env: *a.Env, scope: expression.Scope{"values": in.Get("values")},
		replace: in.Get("replace").IsTrue(), target: ".", names: true,
	}
	if in.Get("values") == nil {
		r.scope["values"] = tree.Obj()
	}
	if v := in.Get("trimBlocks"); v != nil {
		r.env.TrimBlocks = v.IsTrue()
	}
	if v := in.Get("lstripBlocks"); v != nil {
		r.env.LstripBlocks = v.IsTrue()
	}
	if given := in.Get("targetPath").Str(); given != "" {
		var err error
		if r.target, err = local(given); err != nil {
			return nil, err
		}
	}
	asIs := in.Get("copyWithoutTemplating")
	if old := in.Get("copyWithoutRender"); old.IsList() {
		if asIs.IsList() {
			return nil, action.Errorf("remove copyWithoutRender", "copyWithoutRender and copyWithoutTemplating cannot be combined")
		}
		asIs, r.names = old, false
	}
	switch ext := in.Get("templateFileExtension"); {
	case ext.IsTrue():
		r.extension = defaultExtension
	case ext.Str() != "":
		r.extension = "." + strings.TrimPrefix(ext.Str(), ".")
	}
	if r.extension != "" && asIs.IsList() {
		return nil, action.Errorf("remove the patterns; with templateFileExtension, all other files are copied unchanged",
			"templateFileExtension and copyWithoutTemplating cannot be combined")
	}
	var err error
	r.asIs, err = parsePatterns(asIs.Strings())
	return r, err
}

// template implements fetch:template.
func (a actions) template(ctx context.Context, c *action.Call) error {
	r, err := a.newRenderer(c)
	if err != nil {
		return err
	}
	return a.put(ctx, c, false, r.file)
}

// templateFile implements fetch:template:file.
func (a actions) templateFile(ctx context.Context, c *action.Call) error {
	r, err := a.newRenderer(c)
	if err != nil {
		return err
	}
	if r.target != "." && !r.replace && exists(c.Workspace, r.target) {
		c.Logf("kept existing %s", r.target)
		return nil
	}
	return a.put(ctx, c, true, func(name string, data []byte) (made, error) {
		data, err := r.content(c.Input.Get("url").Str(), data)
		return made{name: name, data: data}, err
	})
}

// file renders a file. It skips the file if a part of its rendered name is empty,
// or if the file exists and replace is not set.
func (r *renderer) file(name string, data []byte) (made, error) {
	to, render := name, !r.asIs.match(name)
	if r.extension != "" {
		if render = path.Ext(name) == r.extension; render {
			to = strings.TrimSuffix(name, r.extension)
		}
	}
	if render || r.names {
		var err error
		if to, err = expression.Text(to, r.scope, &r.env); err != nil {
			return made{}, unfit("the name of "+name, err)
		}
	}
	for part := range strings.SplitSeq(to, "/") {
		switch part {
		case "":
			r.call.Logf("skipped %s: a part of its name is empty", name)
			return made{left: true}, nil
		case ".", "..":
			return made{}, action.Errorf("check the values in the name", "cannot write %q as %q: a part of the name is %q", name, to, part)
		}
	}
	if at := path.Join(r.target, to); !r.replace && exists(r.call.Workspace, at) {
		r.call.Logf("kept existing %s", at)
		return made{left: true}, nil
	}
	if !render {
		return made{name: to, data: data}, nil
	}
	data, err := r.content(name, data)
	return made{name: to, data: data}, err
}

// content returns the content of a file with its expressions evaluated. Binary
// files stay unchanged.
func (r *renderer) content(name string, data []byte) ([]byte, error) {
	if !isText(data) {
		return data, nil
	}
	out, err := expression.Text(string(data), r.scope, &r.env)
	if err != nil {
		return nil, unfit(name, err)
	}
	return []byte(out), nil
}

// unfit returns an error with the position of a failed expression.
func unfit(where string, err error) error {
	hint := "fix the expression, or list the file in copyWithoutTemplating if it is not a template"
	e, ok := errors.AsType[*expression.Error](err)
	if !ok {
		return action.Errorf(hint, "%s: %w", where, err)
	}
	if e.Hint != "" {
		hint = e.Hint
	}
	return action.Errorf(hint, "%s:%d:%d: %w", where, e.Line, e.Column, err)
}
