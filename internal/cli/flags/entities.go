package flags

import (
	"github.com/spf13/pflag"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
)

// Entities are the flags that set fields of entities.
type Entities struct {
	Owner, Namespace, System string
	// Domain has no flag here, because not every command uses it.
	Domain string
	Tags   []string
}

// Bind defines the flags. owner is the default owner; empty means the contract's.
func (e *Entities) Bind(f *pflag.FlagSet, owner string) {
	f.StringVar(&e.Owner, "owner", owner, "`owner` of the entities (default \"platform-team\")")
	f.StringVar(&e.Namespace, "namespace", entity.DefaultNamespace, "`namespace` of the entities")
	f.StringSliceVar(&e.Tags, "tags", nil, "`tags` to add, separated by commas")
	f.StringVar(&e.System, "system", "", "`system` the entities belong to (default \"platform\")")
}

// Check returns an error for a value that is not valid in an entity.
func (e *Entities) Check() error {
	for _, r := range []struct{ flag, value, kind string }{
		{"--owner", e.Owner, "Group"}, {"--system", e.System, entity.KindSystem}, {"--domain", e.Domain, entity.KindDomain},
	} {
		if r.value == "" {
			continue
		}
		if _, err := entity.ParseExisting(r.value, r.kind, entity.DefaultNamespace); err != nil {
			return Usage(err, r.flag+" takes name, namespace/name or kind:namespace/name")
		}
	}
	ns, changed := entity.Namespace(e.Namespace)
	if ns == "" {
		ns = entity.DefaultNamespace
	}
	if changed || e.Namespace == "" {
		return Usagef("use lower-case letters, digits and dashes, such as "+ns, "cannot use namespace %q", e.Namespace)
	}
	return nil
}

// WordsNames are the values of --words.
var WordsNames = []string{"auto", words.Portal.String(), words.Upstream.String()}

// BindWords defines the flag --words.
func BindWords(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "words", WordsNames[0], "`vocabulary` of the entities: auto, portal or upstream")
}

// Words parses the value of --words.
func Words(name, program string) (words.Choice, error) {
	c, err := words.ParseChoice(name)
	if err != nil {
		return c, Usage(err, "see --words in "+program+" --help")
	}
	return c, nil
}
