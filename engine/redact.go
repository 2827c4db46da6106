package engine

import (
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
)

// Hidden replaces a value that may be secret.
const Hidden = "(hidden)"

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

var (
	// secretNames are words in the names of fields that hold a secret.
	secretNames = []string{"password", "passwords", "passwd", "pwd", "passphrase", "token", "tokens", "secret", "secrets", "credential", "credentials", "apikey", "jwt"}
	// keyOwners are the words before "key" in the names of fields that hold a secret.
	keyOwners = []string{"api", "access", "private", "secret", "signing", "encryption"}
	// plainEnds are the last words in the names of fields that are about a secret, but do not
	// hold it: they refer to one, or say how it is made.
	plainEnds = []string{
		"name", "names", "namespace", "key", "kind", "version", "ref", "refs", "path", "type", "policy", "audience", "mode",
		"seconds", "days", "ttl", "lifetime", "expiry", "length", "size", "count", "rotation", "enabled",
	}
)

// secretData are the fields of a Secret with its data.
var secretData = []string{"data", "stringData"}

// Redact returns an object in which values are hidden if the name of their field says that
// they are secret, and if they are the data of a Secret, also of one within the object or
// the value of a variable with such a name. References to Secrets are kept, kubectl's copy of the object is removed,
// and annotations that contain a document are hidden: many tools keep a copy there.
func Redact(object *tree.Node) *tree.Node {
	out := redact(object, false)
	if annotations := out.Get("metadata", "annotations"); annotations.IsMap() {
		annotations.Delete(lastApplied)
		for i, f := range annotations.Fields {
			if text := strings.TrimSpace(f.Value.Str()); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
				annotations.Fields[i].Value = tree.Str(Hidden)
			}
		}
	}
	return out
}

// redact copies a node. If it is secret, its values are hidden.
func redact(n *tree.Node, secret bool) *tree.Node {
	switch {
	case n.IsMap():
		out := tree.Obj()
		for _, f := range n.Fields {
			switch {
			case n.Get("kind").Str() == "Secret" && slices.Contains(secretData, f.Key), f.Key == "value" && isSecret(n.Get("name").Str()):
				f.Value = hide(f.Value)
			default:
				f.Value = redact(f.Value, isSecret(f.Key) || secret && !slices.Contains(plainEnds, lastWord(f.Key)))
			}
			out.Fields = append(out.Fields, tree.F(f.Key, f.Value))
		}
		return out
	case n.IsList():
		out := tree.Arr()
		for _, item := range n.Items {
			out.Items = append(out.Items, redact(item, secret))
		}
		return out
	case secret && (n.Str() != "" || n.Kind == tree.Int || n.Kind == tree.Float):
		return tree.Str(Hidden)
	}
	return n
}

// hide returns a value with every value in it hidden, whatever its name.
func hide(n *tree.Node) *tree.Node {
	if !n.IsMap() {
		return redact(n, true)
	}
	out := tree.Obj()
	for _, f := range n.Fields {
		out.Fields = append(out.Fields, tree.F(f.Key, hide(f.Value)))
	}
	return out
}

// isSecret reports whether the name of a field says that its value is secret. In
// passwordSecretRef and secretName it is a name.
func isSecret(key string) bool {
	all := keyWords(key)
	last := len(all) - 1
	if last > 0 && all[last] == "key" && slices.Contains(keyOwners, all[last-1]) || strings.HasSuffix(strings.Join(all, ""), "connectionstring") {
		return true
	}
	return last >= 0 && !slices.Contains(plainEnds, all[last]) && hasWord(key, secretNames)
}
