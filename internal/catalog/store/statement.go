package store

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/internal/db"
)

// statement is an SQL statement that is being built.
type statement struct {
	db.Statement
	// whole reports that the statement reads all matches, not a page.
	whole bool
	// find is the engine's function that finds a substring.
	find string
}

// finder returns the engine's function that finds a substring.
func (s *Store) finder() string {
	if s.Client == db.Postgres {
		return "strpos"
	}
	return "instr"
}

// mostLookups is how many values are looked up for one reference. For more values,
// reading the rows of all references is less work.
const mostLookups = 32

// where appends the condition on the reference in the column ref. An index scan needs
// lookups for one reference at a time; OFFSET keeps PostgreSQL from turning them into a
// join, which would read all rows. A substring search costs the same for one reference
// as for all.
func (b *statement) where(c cond, ref string) {
	const end = " LIMIT 1 OFFSET 0)"
	switch c.op {
	case OpTrue:
		b.Add("1 = 1")
	case OpAll, OpAny:
		word := " AND "
		if c.op == OpAny {
			word = " OR "
		}
		b.joined(byRank(c.conds), word, ref)
	case OpNot:
		b.Add("NOT (")
		b.where(c.conds[0], ref)
		b.Add(")")
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
			b.Add(")")
			return
		}
		b.Add("EXISTS (SELECT 1 FROM search s WHERE ")
		b.rows(c, "s")
		fmt.Fprintf(b, " AND s.ref = %s"+end, ref)
	case opRange:
		// With the comparison the other way round, SQLite would use it instead of the scan,
		// and PostgreSQL would estimate that almost nothing passes.
		fmt.Fprintf(b, "(%s < ", ref)
		b.Arg(c.lo)
		fmt.Fprintf(b, " OR %s >= ", ref)
		b.Arg(c.hi)
		b.Add(") IS NOT TRUE")
	case opWord:
		if b.whole {
			fmt.Fprintf(b, "%s IN (SELECT t.ref FROM terms t WHERE ", ref)
			b.rows(c, "t")
			b.Add(")")
			return
		}
		fmt.Fprintf(b, "EXISTS (SELECT 1 FROM documents w WHERE w.ref = %s AND ", ref)
		b.Add("(w.words LIKE %s OR w.words LIKE %s)"+end, c.values[0]+"%", "%"+wordEnd+c.values[0]+"%")
	case opInside:
		fmt.Fprintf(b, "%s IN (SELECT s.ref FROM search s WHERE ", ref)
		b.rows(c, "s")
		b.Add(")")
	default:
		b.Add("1 = 0")
	}
}

// joined appends conditions with an operator between them, as a balanced tree: a
// thousand in a row exceed the expression depth of SQLite.
func (b *statement) joined(conds []cond, word, ref string) {
	if len(conds) == 1 {
		b.where(conds[0], ref)
		return
	}
	half := len(conds) / 2
	b.Add("(")
	b.joined(conds[:half], word, ref)
	b.Add(word)
	b.joined(conds[half:], word, ref)
	b.Add(")")
}

// rows appends the condition on rows of search, or of terms, with the alias t.
func (b *statement) rows(c cond, t string) {
	key := func() { fmt.Fprintf(b, "%s.kid = %d", t, c.kid) }
	switch c.op {
	case OpHas:
		key()
	case opValued:
		key()
		b.Add(" AND " + t + ".value < '" + noValue + "'")
	case OpIn:
		key()
		if len(c.values) == 1 {
			b.Add(" AND "+t+".value = %s", c.values[0])
			return
		}
		b.Add(" AND " + t + ".value IN ")
		b.List(c.values)
	case OpPrefix:
		key()
		b.Add(" AND "+t+".value >= %s AND "+t+".value < %s", c.values[0], db.After(c.values[0]))
	case opWord:
		b.Add(t+".word >= %s AND "+t+".word < %s", c.values[0], db.After(c.values[0]))
	case opInside:
		b.Add(t + ".kid IN ")
		b.Numbers(c.kids)
		b.Add(" AND "+t+".value < '"+noValue+"' AND "+t+".value LIKE %s ESCAPE '!'", "%"+likeEscaper.Replace(c.values[0])+"%")
	}
}

var likeEscaper = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

// byRank sorts stably, with the cheapest lookups first.
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
