package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

// MetadataFile is the file that describes a folder.
const MetadataFile = "metadata.yaml"

// largestMetadata is the maximum size of metadata.yaml in bytes.
const largestMetadata = 1 << 20

// metadata is the merged metadata.yaml of all layers.
type metadata struct {
	name, description string
	// defaults are the names of the files used if a definition selects none.
	defaults map[string]string
	// values are the folder's own values for its templates.
	values *tree.Node
	// described holds the descriptions of files, by group/name.
	described map[string]string
}

// Name returns the folder's name.
func (f *Folder) Name() string { return f.metadata.name }

// Description returns the folder's description.
func (f *Folder) Description() string { return f.metadata.description }

// Values returns the values of metadata.yaml, which a caller may override.
func (f *Folder) Values() *tree.Node { return f.metadata.values.Clone() }

// readMetadata merges the metadata.yaml of each layer, key by key; higher layers
// override lower ones.
func (f *Folder) readMetadata() error {
	f.metadata = metadata{defaults: map[string]string{}, values: tree.Obj(), described: map[string]string{}}
	for _, group := range Groups {
		f.metadata.defaults[group] = Default
	}
	var all []error
	for _, l := range f.layers {
		text, err := readSmall(l, MetadataFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", MetadataFile, err)
		}
		r := metadataReader{folder: f}
		r.read(text)
		all = append(all, r.errs...)
	}
	for i := range f.files {
		x := &f.files[i]
		x.Description = f.metadata.described[x.Group+"/"+x.Name]
	}
	return errors.Join(all...)
}

// readSmall reads a file of limited size.
func readSmall(l fs.FS, name string) ([]byte, error) {
	// Opening something other than a regular file, such as a pipe, may block.
	if info, err := fs.Stat(l, name); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	file, err := l.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, largestMetadata+1))
	if err == nil && len(text) > largestMetadata {
		return nil, errors.New("larger than 1 MiB")
	}
	return text, err
}

// metadataReader reads one metadata.yaml into the folder's metadata.
type metadataReader struct {
	folder *Folder
	errs   []error
}

func (r *metadataReader) fail(at tree.Pos, hint, format string, args ...any) {
	r.errs = append(r.errs, &Error{Finding: finding.Finding{
		Rule: RuleFolder, Severity: severityOf(RuleFolder), File: MetadataFile, Pos: at, Message: fmt.Sprintf(format, args...), Hint: hint,
	}})
}

// keys are the keys of metadata.yaml.
var keys = []string{"name", "description", "defaults", "values", "files"}

func (r *metadataReader) read(text []byte) {
	docs, bad := parser.DecodeBytes(text)
	for _, e := range bad {
		r.fail(e.Pos, e.Hint, "%s", e.Msg)
	}
	if len(bad) > 0 || len(docs) == 0 {
		return
	}
	if len(docs) > 1 {
		r.fail(docs[1].Pos, "keep one", "file has more than one document")
		return
	}
	root := docs[0]
	if !r.isMap(root, "metadata.yaml") {
		return
	}
	m := &r.folder.metadata
	for i := range root.Fields {
		f := &root.Fields[i]
		switch f.Key {
		case "name":
			r.text(f, &m.name)
		case "description":
			r.text(f, &m.description)
		case "defaults":
			r.defaults(f.Value)
		case "values":
			if r.isMap(f.Value, f.Key) {
				for _, v := range f.Value.Fields {
					m.values.Set(v.Key, v.Value)
				}
			}
		case "files":
			r.files(f.Value)
		default:
			r.unknown(f, keys)
		}
	}
}

// unknown reports an unknown key.
func (r *metadataReader) unknown(f *tree.Field, known []string) {
	hint := "use one of " + strings.Join(known, ", ")
	if near := nearest(f.Key, known); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	r.fail(f.Pos, hint, "unknown key %q", shorten(f.Key))
}

func (r *metadataReader) isMap(n *tree.Node, what string) bool {
	if n.IsMap() {
		return true
	}
	r.fail(n.At(), "make it a map", "%s must be a map, found %s", what, n.Kind)
	return false
}

func (r *metadataReader) text(f *tree.Field, into *string) {
	if !f.Value.IsString() {
		r.fail(f.Value.At(), "put it in quotes", "%s must be a string, found %s", shorten(f.Key), f.Value.Kind)
		return
	}
	*into = f.Value.Text
}

func (r *metadataReader) defaults(n *tree.Node) {
	if !r.isMap(n, "defaults") {
		return
	}
	for i := range n.Fields {
		f := &n.Fields[i]
		if !slices.Contains(Groups, f.Key) {
			r.unknown(f, Groups)
			continue
		}
		var name string
		if r.text(f, &name); name == "" {
			continue
		}
		if _, ok := r.folder.file(f.Key, name); !ok {
			r.fail(f.Value.Pos, r.folder.offer(f.Key, name), "%s template %q does not exist", f.Key, shorten(name))
			continue
		}
		r.folder.metadata.defaults[f.Key] = name
	}
}

func (r *metadataReader) files(n *tree.Node) {
	if !r.isMap(n, "files") {
		return
	}
	for i := range n.Fields {
		f := &n.Fields[i]
		group, name, _ := strings.Cut(f.Key, "/")
		if _, ok := r.folder.file(group, name); !ok {
			var all []string
			for _, x := range r.folder.files {
				all = append(all, x.Group+"/"+x.Name)
			}
			r.unknown(f, all)
			continue
		}
		var about string
		r.text(f, &about)
		r.folder.metadata.described[f.Key] = about
	}
}
