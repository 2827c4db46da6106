package workload

import (
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
)

// hidden replaces a value that may be secret.
const hidden = "***"

// mostAnnotation is the length limit of an annotation: longer ones are documents, often a
// copy of the object with its secrets.
const mostAnnotation = 512

// redact removes values that may be secret from an object, and managedFields: values of
// environment variables, ConfigMaps and HTTP headers, command lines, fields that are named
// like a secret, and annotations that contain documents. Names of variables and keys stay.
// It changes n.
func redact(n *tree.Node) *tree.Node {
	meta := n.Get("metadata")
	if meta.IsMap() {
		meta.Delete("managedFields")
	}
	if notes := meta.Get("annotations"); notes.IsMap() {
		notes.Fields = slices.DeleteFunc(notes.Fields, func(f tree.Field) bool {
			text := strings.TrimSpace(f.Value.Str())
			return len(text) > mostAnnotation || strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
		})
	}
	for _, key := range []string{"data", "binaryData", "stringData"} {
		if values := n.Get(key); !values.IsNull() {
			n.Set(key, hideValues(values))
		}
	}
	hide(n, false)
	return n
}

// hideValues returns a map with its values hidden.
func hideValues(n *tree.Node) *tree.Node {
	if !n.IsMap() {
		return tree.Str(hidden)
	}
	out := tree.Obj()
	for _, f := range n.Fields {
		out.Fields = append(out.Fields, tree.F(f.Key, tree.Str(hidden)))
	}
	return out
}

// hide hides values at any depth. If the node is within a field that is named like a secret,
// its texts are hidden too, except those that say where the secret is.
func hide(n *tree.Node, within bool) {
	for i, item := range n.List() {
		if within && isPlain(item) {
			n.Items[i] = tree.Str(hidden)
			continue
		}
		hide(item, within)
	}
	if !n.IsMap() {
		return
	}
	n.Fields = slices.DeleteFunc(n.Fields, func(f tree.Field) bool { return (f.Key == "command" || f.Key == "args") && !f.Value.IsMap() })
	for i, f := range n.Fields {
		secret := namesSecret(f.Key)
		switch {
		case f.Key == "env" || f.Key == "httpHeaders":
			hideNamed(f.Value)
		case secret && isPlain(f.Value), within && f.Value.IsString() && !refers(f.Key):
			n.Fields[i].Value = tree.Str(hidden)
			continue
		}
		hide(f.Value, secret || within && !refers(f.Key))
	}
}

// isPlain reports whether a node is a text or a number.
func isPlain(n *tree.Node) bool {
	return !n.IsNull() && (n.IsString() || n.Kind == tree.Int || n.Kind == tree.Float)
}

// hideNamed hides the values of a list of names and values.
func hideNamed(n *tree.Node) {
	for _, item := range n.List() {
		if item.IsMap() && item.Has("value") {
			item.Set("value", tree.Str(hidden))
		}
	}
	if n.IsMap() {
		*n = *hideValues(n)
	}
}

// secretWords are parts of names of fields with secrets, and referenceWords the ends of
// names of fields that say where a secret is.
var (
	secretWords    = []string{"password", "passwd", "passphrase", "token", "apikey", "accesskey", "privatekey", "credential", "secret", "connectionstring"}
	referenceWords = []string{"name", "ref", "path", "namespace", "seconds", "type", "policy"}
	// volumeWords are other fields of references to Secrets, such as those of volumes.
	volumeWords = []string{"key", "kind", "audience", "apiVersion"}
)

// namesSecret reports whether a field is named like a secret.
func namesSecret(key string) bool {
	key = plain(key)
	return slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(key, w) }) && !isReference(key)
}

// refers reports whether a field within one that is named like a secret says where the
// secret is.
func refers(key string) bool { return slices.Contains(volumeWords, key) || isReference(plain(key)) }

func isReference(key string) bool {
	return slices.ContainsFunc(referenceWords, func(w string) bool { return strings.HasSuffix(key, w) })
}

// plain returns a name in lower case, without separators.
func plain(key string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "").Replace(key))
}
