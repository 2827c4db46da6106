package dir

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/sink"
)

// file is a file to write: its path below the root, with slashes, and its
// entities.
type file struct {
	name     string
	entities []*entity.Entity
}

// Files returns what a Sink with these options writes: contents by paths below its
// root, with slashes. The file of SingleFile is named catalog.
func Files(es []*entity.Entity, opts Options) map[string][]byte {
	if len(es) == 0 {
		return nil
	}
	s := New("", opts)
	out := map[string][]byte{}
	for _, f := range s.files(es, "catalog"+opts.Format.Ext()) {
		for i, e := range f.entities {
			out[f.name] = s.append(out[f.name], e, i, len(f.entities))
		}
	}
	return out
}

// Names returns the paths that PerEntity gives to the entities, in their order,
// with slashes.
func Names(es []*entity.Entity, format sink.Format) []string {
	index := map[*entity.Entity]string{}
	for _, f := range perEntity(es, format.Ext()) {
		index[f.entities[0]] = f.name
	}
	out := make([]string, 0, len(es))
	for _, e := range es {
		out = append(out, index[e])
	}
	return out
}

// files distributes the entities over files, sorted by file name. single is the
// name of the file of SingleFile.
func (s *Sink) files(es []*entity.Entity, single string) []file {
	var out []file
	switch s.opts.Layout {
	case SingleFile:
		return []file{{single, es}}
	case PerEntity:
		out = perEntity(es, s.opts.Format.Ext())
	case Named:
		out = gather(es, s.opts.File, s.opts.Format.Ext())
	default:
		out = gather(es, func(e *entity.Entity) string { return strings.ToLower(e.Kind) }, s.opts.Format.Ext())
	}
	slices.SortFunc(out, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return out
}

// gather groups entities with the same name into a file, and keeps their order.
func gather(es []*entity.Entity, name func(*entity.Entity) string, ext string) []file {
	var out []file
	index := map[string]int{}
	for _, e := range es {
		name := safeName(name(e)) + ext
		i, ok := index[strings.ToLower(name)]
		if !ok {
			i = len(out)
			index[strings.ToLower(name)] = i
			out = append(out, file{name: name})
		}
		out[i].entities = append(out[i].entities, e)
	}
	return out
}

// perEntity gives each entity a file whose name is unique even on case-insensitive
// file systems.
func perEntity(es []*entity.Entity, ext string) []file {
	shared := sharedNames(es)
	es = slices.Clone(es)
	// Plain names are assigned first, so that no generated name takes one of them.
	slices.SortStableFunc(es, func(a, b *entity.Entity) int {
		return cmp.Compare(prefixed(a, shared), prefixed(b, shared))
	})
	out := make([]file, 0, len(es))
	taken := map[string]bool{}
	for _, e := range es {
		ref := e.Ref()
		base := ref.Name
		if prefixed(e, shared) > 0 {
			base = ref.Namespace + "." + ref.Name
		}
		stem := safeName(e.Kind) + "/" + safeName(base)
		name := stem + ext
		for i := 0; taken[strings.ToLower(name)]; i++ {
			name = stem + "-" + shortHash(ref.Kind+":"+ref.Namespace+"/"+ref.Name, i) + ext
		}
		taken[strings.ToLower(name)] = true
		out = append(out, file{name: name, entities: []*entity.Entity{e}})
	}
	return out
}

// sharedNames returns the kind/name pairs that entities of several namespaces
// have.
func sharedNames(es []*entity.Entity) map[string]bool {
	first, shared := map[string]string{}, map[string]bool{}
	for _, e := range es {
		key, namespace := nameKey(e), strings.ToLower(e.Ref().Namespace)
		if was, ok := first[key]; ok && was != namespace {
			shared[key] = true
		}
		first[key] = namespace
	}
	return shared
}

func nameKey(e *entity.Entity) string { return strings.ToLower(e.Kind + "/" + e.Metadata.Name) }

// prefixed returns 1 if the name of the entity's file includes its namespace,
// otherwise 0. Names of the default namespace never do.
func prefixed(e *entity.Entity, shared map[string]bool) int {
	if shared[nameKey(e)] && !strings.EqualFold(e.Ref().Namespace, entity.DefaultNamespace) {
		return 1
	}
	return 0
}

// longest is the length above which file names are truncated. A namespace, a dot
// and a name fit, and the additions stay within the 255 bytes that file systems
// allow.
const longest = 140

// safeName returns a name for a file or directory that is valid and unambiguous on
// every file system. Names that the catalog allows are returned unchanged, except
// for those that are devices on Windows. A changed name gets a hash of the
// original, so that different names stay different.
func safeName(s string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '_'
	}, s)
	safe = strings.TrimLeft(safe, ".-")
	safe = strings.TrimRight(safe[:min(len(safe), longest)], ".")
	if safe == s && safe != "" && !isDevice(safe) {
		return s
	}
	if safe == "" {
		safe = "unnamed"
	}
	if isDevice(safe) {
		// Windows considers only the part before the first dot.
		safe = strings.ReplaceAll(safe, ".", "_")
	}
	return safe + "-" + shortHash(s, 0)
}

// isDevice reports whether Windows treats the name as a device, whatever follows
// its first dot.
func isDevice(name string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	switch stem {
	case "CON", "PRN", "AUX", "NUL":
		return true
	}
	port, ok := strings.CutPrefix(stem, "COM")
	if !ok {
		port, ok = strings.CutPrefix(stem, "LPT")
	}
	return ok && len(port) == 1 && port[0] >= '0' && port[0] <= '9'
}

// shortHash returns eight hex digits of a hash of s, different ones for each try.
func shortHash(s string, try int) string {
	if try > 0 {
		s += "\x00" + strconv.Itoa(try)
	}
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}
