package input

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/rule"
)

// ReadFiles reads and merges the files. If one cannot be read it returns false:
// otherwise its missing keys would be reported again and again.
func (r *Reader) ReadFiles(paths []string) (*tree.Node, bool) {
	var root *tree.Node
	ok := true
	for _, path := range paths {
		n, fine := r.decodeFile(path)
		ok = ok && fine
		root = r.Merge(root, n)
	}
	return root, ok
}

// decodeFile reads one file. An empty one is not an error.
func (r *Reader) decodeFile(path string) (root *tree.Node, ok bool) {
	data, err := r.readFile(path)
	if err != nil {
		why, hint := cause(err)
		r.Report(rule.File, Place{File: path}, "", cmp.Or(hint, "specify a YAML or JSON file"), "cannot read the configuration file: %s", why)
		return nil, false
	}
	ok = true
	_ = parser.Decode(bytes.NewReader(data), parser.Limits{Bytes: maxFile}, func(n *tree.Node, bad *parser.Error) bool {
		switch {
		case bad != nil && bad.Kept:
			r.Report(rule.Syntax, Place{path, bad.Pos}, "", "keep one of the two", "%s", bad.Msg)
		case bad != nil:
			r.Report(rule.Syntax, Place{path, bad.Pos}, "", bad.Hint, "%s", maskQuoted(bad.Msg))
			ok = false
		case root != nil:
			r.Report(rule.Syntax, Place{path, n.Pos}, "", "remove the ---, or move the second document to another file and pass both",
				"a configuration file must hold one document, and a second begins here")
			ok = false
		case n.Kind != tree.Map:
			r.Report(rule.Syntax, Place{path, n.Pos}, "", "write keys with values, such as composerIngestor:",
				"a configuration file must hold a map, found %s", kindNames[n.Kind])
			ok = false
		case IsInclude(n):
			r.Report(rule.Unsupported, Place{path, n.Pos}, "", "pass another configuration file", "a $ key is not supported at the top level")
			ok = false
		default:
			root = n
		}
		return ok
	})
	r.own(root, path)
	return root, ok
}

var quoted = regexp.MustCompile(`'[^']*'|"[^"]*"`)

// maskQuoted masks quoted parts of the file in a parser's message: a token that begins
// with an asterisk looks like an alias. Punctuation is short, and stays.
func maskQuoted(msg string) string {
	const sign = 3
	return quoted.ReplaceAllStringFunc(msg, func(q string) string {
		if len(q) <= sign+2 {
			return q
		}
		return "'…'"
	})
}

// own records that n and all its descendants were written in a file.
func (r *Reader) own(n *tree.Node, path string) {
	if n == nil {
		return
	}
	if _, done := r.files[n]; done {
		return
	}
	r.files[n] = path
	for i := range n.Fields {
		r.own(n.Fields[i].Value, path)
	}
	for _, it := range n.Items {
		r.own(it, path)
	}
}

// Merge returns under, overridden by over. Neither is changed.
func (r *Reader) Merge(under, over *tree.Node) *tree.Node {
	switch {
	case over == nil:
		return under
	case !under.IsMap() || !over.IsMap() || IsInclude(under) || IsInclude(over):
		return over
	}
	out := &tree.Node{Kind: tree.Map, Pos: over.Pos, Fields: make([]tree.Field, 0, len(under.Fields)+len(over.Fields))}
	r.files[out] = r.files[over]
	above := make(map[string]*tree.Field, len(over.Fields))
	for i := range over.Fields {
		above[over.Fields[i].Key] = &over.Fields[i]
	}
	for _, f := range under.Fields {
		if o := above[f.Key]; o != nil {
			f = tree.Field{Key: f.Key, Pos: o.Pos, Value: r.Merge(f.Value, o.Value)}
			delete(above, f.Key)
		}
		out.Fields = append(out.Fields, f)
	}
	for _, f := range over.Fields {
		if above[f.Key] != nil {
			out.Fields = append(out.Fields, f)
		}
	}
	return out
}

// IsInclude reports whether n is a reference to a value elsewhere, such as { $env: NAME
// }.
func IsInclude(n *tree.Node) bool {
	for i := range n.Fields {
		if strings.HasPrefix(n.Fields[i].Key, "$") {
			return true
		}
	}
	return false
}
