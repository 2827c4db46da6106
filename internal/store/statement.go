package store

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// statement is SQL in the making.
type statement struct {
	strings.Builder
	args []any
	// whole says that everything is read that there is, not a page.
	whole bool
	// find is the engine's function that finds a text in another.
	find string
}

// finder is the function that finds a text in another.
func (s *Store) finder() string {
	if s.opts.Client == Postgres {
		return "strpos"
	}
	return "instr"
}

// add appends text in which each %s stands for the next argument.
func (b *statement) add(format string, args ...any) {
	for _, arg := range args {
		before, after, ok := strings.Cut(format, "%s")
		if !ok {
			break
		}
		b.WriteString(before)
		b.arg(arg)
		format = after
	}
	b.WriteString(format)
}

// arg appends a parameter.
func (b *statement) arg(v any) {
	b.args = append(b.args, v)
	fmt.Fprintf(b, "$%d", len(b.args))
}

// list appends parameters in parentheses. Their number is a power of two, the
// last one repeated, so that there are few different statements.
func (b *statement) list(values []string) {
	b.WriteString("(")
	for i := range powerOfTwo(len(values)) {
		if i > 0 {
			b.WriteString(",")
		}
		b.arg(values[min(i, len(values)-1)])
	}
	b.WriteString(")")
}

func powerOfTwo(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}

func (b *statement) numbers(ns []int64) {
	b.WriteString("(")
	for i, n := range ns {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprint(b, n)
	}
	b.WriteString(")")
}

// mostLookups is how many values are looked up for one reference. For more of
// them it is less work to read the rows of all.
const mostLookups = 32

// where appends the condition on the reference in the column ref. Looking
// things up for one reference at a time is what the walk along an index needs;
// OFFSET keeps PostgreSQL from making a join of it, which would read all. To
// read values that something is inside of is the same work for one and for all.
func (b *statement) where(c cond, ref string) {
	const end = " LIMIT 1 OFFSET 0)"
	switch c.op {
	case OpTrue:
		b.add("1 = 1")
	case OpAll, OpAny:
		word := " AND "
		if c.op == OpAny {
			word = " OR "
		}
		b.joined(byRank(c.conds), word, ref)
	case OpNot:
		b.add("NOT (")
		b.where(c.conds[0], ref)
		b.add(")")
	case OpHas:
		b.within(ref, packedKey("", c.kid), packedKey(packedNone, c.kid))
	case opValued:
		b.within(ref, packedKey("", c.kid))
	case OpPrefix:
		b.within(ref, packedKey("", c.kid)+c.values[0])
	case OpIn:
		if len(c.values) > mostLookups {
			fmt.Fprintf(b, "%s IN (SELECT s.ref FROM search s WHERE ", ref)
			b.rows(c, "s")
			b.add(")")
			return
		}
		b.add("EXISTS (SELECT 1 FROM search s WHERE ")
		b.rows(c, "s")
		fmt.Fprintf(b, " AND s.ref = %s"+end, ref)
	case opRange:
		// If it were written the other way round, SQLite would leave the walk
		// for it, and PostgreSQL think that next to nothing passes.
		fmt.Fprintf(b, "(%s < ", ref)
		b.arg(c.lo)
		fmt.Fprintf(b, " OR %s >= ", ref)
		b.arg(c.hi)
		b.add(") IS NOT TRUE")
	case opWord:
		if b.whole {
			fmt.Fprintf(b, "%s IN (SELECT t.ref FROM terms t WHERE ", ref)
			b.rows(c, "t")
			b.add(")")
			return
		}
		fmt.Fprintf(b, "EXISTS (SELECT 1 FROM documents w WHERE w.ref = %s AND ", ref)
		b.add("(w.words LIKE %s OR w.words LIKE %s)"+end, c.values[0]+"%", "%"+wordEnd+c.values[0]+"%")
	case opInside:
		fmt.Fprintf(b, "%s IN (SELECT s.ref FROM search s WHERE ", ref)
		b.rows(c, "s")
		b.add(")")
	default:
		b.add("1 = 0")
	}
}

// joined appends conditions with a word between them, in pairs of pairs: a
// thousand in a row are deeper than SQLite goes.
func (b *statement) joined(conds []cond, word, ref string) {
	if len(conds) == 1 {
		b.where(conds[0], ref)
		return
	}
	half := len(conds) / 2
	b.add("(")
	b.joined(conds[:half], word, ref)
	b.add(word)
	b.joined(conds[half:], word, ref)
	b.add(")")
}

// rows appends the condition on rows of search, or of terms, with the alias t.
func (b *statement) rows(c cond, t string) {
	key := func() { fmt.Fprintf(b, "%s.kid = %d", t, c.kid) }
	switch c.op {
	case OpHas:
		key()
	case opValued:
		key()
		b.add(" AND " + t + ".value < '" + noValue + "'")
	case OpIn:
		key()
		if len(c.values) == 1 {
			b.add(" AND "+t+".value = %s", c.values[0])
			return
		}
		b.add(" AND " + t + ".value IN ")
		b.list(c.values)
	case OpPrefix:
		key()
		b.add(" AND "+t+".value >= %s AND "+t+".value < %s", c.values[0], behind(c.values[0]))
	case opWord:
		b.add(t+".word >= %s AND "+t+".word < %s", c.values[0], behind(c.values[0]))
	case opInside:
		b.add(t + ".kid IN ")
		b.numbers(c.kids)
		b.add(" AND "+t+".value < '"+noValue+"' AND "+t+".value LIKE %s ESCAPE '!'", "%"+likeEscaper.Replace(c.values[0])+"%")
	}
}

var likeEscaper = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

// behind returns the least text that comes behind all that begin with prefix.
func behind(prefix string) string {
	for prefix != "" {
		r, n := utf8.DecodeLastRuneInString(prefix)
		prefix = prefix[:len(prefix)-n]
		switch {
		case r == 0xd7ff:
			return prefix + "\ue000"
		case r < unicode.MaxRune:
			return prefix + string(r+1)
		}
	}
	return noValue
}

// byRank sorts stably, what costs less to look up first.
func byRank(conds []cond) []cond {
	rank := func(c cond) int {
		switch c.op {
		case opRange:
			return 0
		case OpIn, OpHas, opValued, OpPrefix:
			return 1
		case opWord:
			return 2
		}
		return 3
	}
	conds = slices.Clone(conds)
	slices.SortStableFunc(conds, func(a, b cond) int { return cmp.Compare(rank(a), rank(b)) })
	return conds
}
