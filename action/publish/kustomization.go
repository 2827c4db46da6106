package publish

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

// kustomizations are the possible names of a kustomization; a new one gets the
// first.
var kustomizations = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

const newKustomization = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"

// findKustomization returns the existing kustomization, nil if there is none.
func findKustomization(read func(string) ([]byte, error)) (string, []byte, error) {
	for _, name := range kustomizations {
		text, err := read(name)
		if err == nil {
			return name, text, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return name, nil, err
		}
	}
	return kustomizations[0], nil, nil
}

const resources = "resources"

var (
	// entryLine matches a list entry on a line of its own.
	entryLine = regexp.MustCompile(`^([ \t]*-[ \t]+)[^\r\n]+\r?\n?$`)
	// emptyList matches a list without entries, and emptyKey the key of a block
	// list.
	emptyList = regexp.MustCompile(`^resources:[ \t]*(?:\[[ \t]*\]|null|~)?([ \t]*(?:#[^\r\n]*)?)\r?\n?$`)
	emptyKey  = regexp.MustCompile(`^resources:([ \t]*(?:#[^\r\n]*)?)\r?\n?$`)
)

// errForm is the error for a list in a form that cannot be edited here.
var errForm = errors.New("resources are in a form that cannot be edited without changing the rest")

// enlist adds an entry to a kustomization, or removes it, and returns the new
// text. It changes only that line, so that comments and the rest stay as they are.
// A new entry is inserted in alphabetical order, or at the end if the list is not
// sorted. Nil means that there is no kustomization, and that none is needed.
func enlist(text []byte, entry string, remove bool) ([]byte, error) {
	docs, errs := parser.DecodeBytes(text)
	if len(errs) > 0 {
		return nil, errs[0]
	}
	if len(docs) == 0 {
		if remove {
			return text, nil
		}
		made := fmt.Appendf(ended(text), "%s%s:\n  - %s\n", newKustomization, resources, entry)
		if docs, errs := parser.DecodeBytes(made); len(errs) > 0 || len(docs) != 1 || docs[0].Get(resources).Len() != 1 {
			return nil, errForm
		}
		return made, nil
	}
	top := docs[0]
	list := top.Get(resources)
	if len(docs) > 1 || !top.IsMap() || !list.IsNull() && !list.IsList() {
		return nil, errors.New("not a kustomization")
	}
	all := list.List()
	at := slices.IndexFunc(all, func(n *tree.Node) bool { return path.Clean(n.Str()) == entry })
	if (at < 0) == remove {
		return text, nil
	}
	e := editor{lines: bytes.SplitAfter(text, []byte("\n")), end: "\n"}
	if bytes.Contains(text, []byte("\r\n")) {
		e.end = "\r\n"
	}
	want := slices.Clone(all)
	var err error
	if remove {
		want = slices.Delete(want, at, at+1)
		err = e.remove(top, all, at)
	} else {
		at = slot(all, entry)
		want = slices.Insert(want, at, tree.Str(entry))
		err = e.insert(top, all, at, entry)
	}
	if err != nil {
		return nil, err
	}
	made := bytes.Join(e.lines, nil)
	// Verify that the new text parses to the intended content.
	whole := top.Clone()
	whole.Set(resources, tree.Arr(want...))
	if docs, errs := parser.DecodeBytes(made); len(errs) > 0 || len(docs) != 1 || !docs[0].Equal(whole) {
		return nil, errForm
	}
	return made, nil
}

// slot returns the index at which an entry is inserted into a list.
func slot(all []*tree.Node, entry string) int {
	if !slices.IsSortedFunc(all, func(a, b *tree.Node) int { return bytes.Compare([]byte(a.Str()), []byte(b.Str())) }) {
		return len(all)
	}
	for i, n := range all {
		if n.Str() > entry {
			return i
		}
	}
	return len(all)
}

// ended returns a copy of the text that ends with a line break.
func ended(text []byte) []byte {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		return append(bytes.Clone(text), '\n')
	}
	return bytes.Clone(text)
}

// editor edits a text by lines.
type editor struct {
	lines [][]byte
	end   string
}

// line returns the line at a position, nil if there is none.
func (e *editor) line(at tree.Pos) (int, []byte) {
	i := int(at.Line) - 1
	if i < 0 || i >= len(e.lines) {
		return 0, nil
	}
	return i, e.lines[i]
}

// insert inserts an entry at an index of the list, directly after the line of the
// previous entry, so that comments stay with the entry that follows them.
func (e *editor) insert(top *tree.Node, all []*tree.Node, at int, entry string) error {
	field := top.Field(resources)
	if field == nil {
		last := len(e.lines) - 1
		if len(e.lines[last]) > 0 {
			e.lines[last] = append(bytes.Clone(e.lines[last]), e.end...)
		}
		e.lines = append(e.lines, []byte(resources+":"+e.end+"  - "+entry+e.end))
		return nil
	}
	i, line := e.line(field.Pos)
	lead := "  - "
	if len(all) == 0 {
		m := emptyList.FindSubmatch(line)
		if m == nil {
			return errForm
		}
		e.lines[i] = []byte(resources + ":" + string(m[1]) + e.end)
	} else {
		_, first := e.line(all[0].Pos)
		m := entryLine.FindSubmatch(first)
		if m == nil {
			return errForm
		}
		lead = string(m[1])
	}
	if at > 0 {
		i, _ = e.line(all[at-1].Pos)
	}
	if !bytes.HasSuffix(e.lines[i], []byte("\n")) {
		e.lines[i] = append(bytes.Clone(e.lines[i]), e.end...)
	}
	e.lines = slices.Insert(e.lines, i+1, []byte(lead+entry+e.end))
	return nil
}

// remove removes an entry from the list.
func (e *editor) remove(top *tree.Node, all []*tree.Node, at int) error {
	i, line := e.line(all[at].Pos)
	if !entryLine.Match(line) {
		return errForm
	}
	if len(all) == 1 {
		k, key := e.line(top.Field(resources).Pos)
		m := emptyKey.FindSubmatch(key)
		if m == nil {
			return errForm
		}
		e.lines[k] = []byte(resources + ": []" + string(m[1]) + e.end)
	}
	e.lines = slices.Delete(e.lines, i, i+1)
	return nil
}
