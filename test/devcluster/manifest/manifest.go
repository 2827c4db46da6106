// Package manifest reads Kubernetes objects from files, and creates the
// CustomResourceDefinitions that a real control plane would have: those of
// Crossplane, and those of composite resource definitions.
package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Stdin is the path that stands for standard input.
const Stdin = "-"

// Object is an object with its origin.
type Object struct {
	*unstructured.Unstructured
	// Origin is the path of a file, or describes what the object was created
	// from.
	Origin string
}

// String returns the name of the object for messages.
func (o Object) String() string {
	name := o.GetName()
	if ns := o.GetNamespace(); ns != "" {
		name = ns + "/" + name
	}
	return fmt.Sprintf("%s %q from %s", o.GetKind(), name, o.Origin)
}

// Read returns the objects in the files at paths: files of any name, folders,
// of which the files ending in .yaml, .yml or .json are read, and "-" for
// stdin, unless that is nil. A file has any number of YAML or JSON documents.
func Read(paths []string, stdin io.Reader) ([]Object, error) {
	var all []Object
	for _, path := range paths {
		if path == Stdin && stdin == nil {
			return nil, errors.New("cannot read standard input here; name a file")
		}
		if path == Stdin {
			found, err := decode(stdin, "standard input")
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
			continue
		}
		files, err := filesAt(path)
		if err != nil {
			return nil, fmt.Errorf("cannot read %q: %w", path, unpath(err))
		}
		for _, file := range files {
			found, err := readFile(file)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

// filesAt returns the file at path, or the files in the folder there.
func filesAt(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	entries, err := os.ReadDir(path)
	var files []string
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case ".yaml", ".yml", ".json":
			if !e.IsDir() {
				files = append(files, filepath.Join(path, e.Name()))
			}
		}
	}
	return files, err
}

func readFile(path string) ([]Object, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read %q: %w", path, unpath(err))
	}
	defer func() { _ = f.Close() }()
	return decode(f, path)
}

// decode decodes all documents. Empty ones are skipped, and the items of a list
// are returned individually.
func decode(r io.Reader, origin string) ([]Object, error) {
	var all []Object
	dec := yaml.NewYAMLOrJSONDecoder(r, 4096)
	for n := 1; ; n++ {
		var raw runtime.RawExtension
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read document %d of %q: %w", n, origin, err)
		}
		if len(raw.Raw) == 0 || string(raw.Raw) == "null" {
			continue
		}
		found, err := objects(raw.Raw, origin)
		if err != nil {
			return nil, fmt.Errorf("cannot read document %d of %q: %w", n, origin, err)
		}
		all = append(all, found...)
	}
}

// objects returns the object in a document, or the objects in a list.
func objects(doc []byte, origin string) ([]Object, error) {
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(doc, &u.Object); err != nil {
		return nil, errors.New("document is not an object")
	}
	// The decoder's error for a missing kind would contain the whole document.
	if u.GetKind() == "" || u.GetAPIVersion() == "" {
		return nil, errors.New("document has no apiVersion or no kind")
	}
	if err := u.UnmarshalJSON(doc); err != nil {
		return nil, err
	}
	if !u.IsList() {
		return named(u, origin)
	}
	var all []Object
	err := u.EachListItem(func(item runtime.Object) error {
		found, err := named(item.(*unstructured.Unstructured), origin)
		all = append(all, found...)
		return err
	})
	return all, err
}

// named returns an object, or an error if it has no name.
func named(u *unstructured.Unstructured, origin string) ([]Object, error) {
	if u.GetName() == "" {
		return nil, fmt.Errorf("a %s has no name", u.GetKind())
	}
	return []Object{{u, origin}}, nil
}

// unpath removes the path from an error, as the message names it already.
func unpath(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
