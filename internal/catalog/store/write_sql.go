// This file writes a plan as SQL. The request
//
//	GET /entities/by-query?filter=kind=component,spec.lifecycle=production&orderField=metadata.name,asc&limit=20
//
// asks for one entity more than the page has. If many entities pass, it scans the index of
// metadata.name (key 5), and looks up the lifecycle (key 6) of each entity:
//
//	SELECT p.*, e.uid, e.etag, e.provider, e.parent, (SELECT n FROM revision) FROM (
//	  SELECT x.ref AS ref, x.value AS v1 FROM search x
//	  WHERE x.kid = 5 AND x.value < '\U0010ffff' AND ((x.ref < $1 OR x.ref >= $2) IS NOT TRUE
//	    AND EXISTS (SELECT 1 FROM search s WHERE s.kid = 6 AND s.value = $3 AND s.ref = x.ref LIMIT 1 OFFSET 0))
//	  ORDER BY x.value, x.ref LIMIT 21
//	) p CROSS JOIN entities e WHERE e.ref = p.ref
//
// If the lifecycle may also be deprecated and few entities pass, a sparse plan reads them
// all, cuts their names out of the packed fields, and sorts them (with PostgreSQL, instr
// is strpos):
//
//	SELECT p.*, e.uid, e.etag, e.provider, e.parent, (SELECT n FROM revision) FROM (
//	  SELECT * FROM (
//	    SELECT x.ref AS ref, (SELECT CASE WHEN instr(p.packed, $1) > 0 THEN
//	      substr(substr(p.packed, instr(p.packed, $2) + 3), 1, instr(substr(p.packed, instr(p.packed, $3) + 3), $4) - 1)
//	      END FROM fields p WHERE p.ref = x.ref) AS v1
//	    FROM (SELECT DISTINCT u.ref FROM (
//	      SELECT s.ref FROM search s WHERE s.kid = 6 AND s.value IN ($5,$6) AND s.ref >= $7 AND s.ref < $8
//	    ) u) x WHERE 1 = 1 LIMIT 2147483647 OFFSET 0
//	  ) q ORDER BY q.v1 NULLS LAST, q.ref LIMIT 21
//	) p CROSS JOIN entities e WHERE e.ref = p.ref

package store

import (
	"fmt"
	"strconv"
	"strings"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/db"
)

// sqlWriter writes the text of an SQL statement. Its methods must be called in the
// order of the text they return, since SQLite numbers parameters in that order.
type sqlWriter struct {
	args db.Args
	// whole reports that the statement reads all matches, not a page.
	whole bool
	// find is the engine's function that finds a substring.
	find string
}

func (s *Store) newSQL(whole bool) *sqlWriter {
	if s.Client == db.Postgres {
		return &sqlWriter{whole: whole, find: "strpos"}
	}
	return &sqlWriter{whole: whole, find: "instr"}
}

// between returns the condition that a column is at least lo and less than hi.
func (w *sqlWriter) between(column, lo, hi string) string {
	return column + " >= " + w.args.Add(lo) + " AND " + column + " < " + w.args.Add(hi)
}

// writeEntities returns a statement for the entities of a page, without their bodies:
// ref, the sort values, uid, etag, provider, parent and the revision. The rows are
// likely, but not certain, to be in order. CROSS JOIN keeps SQLite from reading another
// table before the page.
func (w *sqlWriter) writeEntities(p *pagePlan) string {
	if len(p.columns) == 0 && p.filter.first.op == filter.OpTrue {
		return "SELECT x.ref, x.uid, x.etag, x.provider, x.parent, (SELECT n FROM revision) " + w.writeByRef(p)
	}
	return "SELECT p.*, e.uid, e.etag, e.provider, e.parent, (SELECT n FROM revision) FROM (" +
		w.writePage(p) + ") p CROSS JOIN entities e WHERE e.ref = p.ref"
}

// valueName returns the name of the i-th sort value.
func valueName(i int) string { return "v" + strconv.Itoa(i+1) }

// writePage returns a statement that selects ref and v1, v2 and so on.
func (w *sqlWriter) writePage(p *pagePlan) string {
	switch {
	case len(p.columns) == 0:
		return "SELECT x.ref AS ref " + w.writeByRef(p)
	case p.scanColumn && len(p.columns) == 1 && p.columns[0].desc == p.desc:
		return "SELECT x.ref AS ref, x.value AS v1 " + w.writeByColumn(p)
	}
	return w.writeSorted(p)
}

// writeByRef returns FROM and what follows, for a page in the order of references.
func (w *sqlWriter) writeByRef(p *pagePlan) string {
	text := w.writeFrom(&p.filter)
	direction, after := p.direction(p.desc)
	if p.Position != nil {
		text += " AND x.ref" + after + w.args.Add(p.Position.Ref)
	}
	return text + " ORDER BY x.ref" + direction + p.limit()
}

// writeByColumn returns FROM and what follows, for a page in the order of the first
// column and of references.
func (w *sqlWriter) writeByColumn(p *pagePlan) string {
	text := w.writeScan(p)
	direction, after := p.direction(p.desc)
	if p.Position != nil {
		text += " AND (x.value, x.ref)" + after + "(" + w.args.Add(*p.positionOf(0)) + ", " + w.args.Add(p.Position.Ref) + ")"
	}
	return text + " ORDER BY x.value" + direction + ", x.ref" + direction + p.limit()
}

// writeScan returns FROM and WHERE of a scan of the first column. Of several rows of an
// entity, only the best counts.
func (w *sqlWriter) writeScan(p *pagePlan) string {
	text := w.writeFrom(&p.filter)
	if p.columns[0].alwaysPresent {
		return text
	}
	// Written like this, PostgreSQL does not estimate that almost nothing passes.
	return text + " AND NOT EXISTS (SELECT 1 FROM fields p WHERE p.ref = x.ref AND x.value <> " + w.best(p.columns[0]) + onlyRow
}

// writeSorted returns a statement that looks up values. In a scan of the first column,
// the engine sorts only among equal first values; otherwise it sorts everything, and
// OFFSET keeps it from looking up values more than once.
func (w *sqlWriter) writeSorted(p *pagePlan) string {
	text := "SELECT * FROM (SELECT x.ref AS ref"
	for i, col := range p.columns {
		value := "x.value"
		if !p.scanColumn || i > 0 {
			value = "(SELECT " + w.best(col) + " FROM fields p WHERE p.ref = x.ref)"
		}
		text += ", " + value + " AS " + valueName(i)
	}
	if p.scanColumn {
		text += " " + w.writeScan(p)
		if p.Position != nil {
			_, after := p.direction(p.columns[0].desc)
			text += " AND x.value" + strings.TrimRight(after, " ") + "= " + w.args.Add(*p.positionOf(0))
		}
	} else {
		text += " " + w.writeFrom(&p.filter) + fmt.Sprintf(" LIMIT %d OFFSET 0", everything)
	}
	text += ") q"
	if p.Position != nil {
		text += " WHERE " + w.writeAfterPosition(p, 0)
	}
	return text + p.writeOrderBy() + p.limit()
}

// writeOrderBy returns the order of v1, v2 and so on. Entities without a value are last.
func (p *pagePlan) writeOrderBy() string {
	text := " ORDER BY "
	for i, col := range p.columns {
		direction, _ := p.direction(col.desc)
		switch text += "q." + valueName(i) + direction; {
		case p.scanColumn && i == 0:
		case p.Backward:
			text += " NULLS FIRST"
		default:
			text += " NULLS LAST"
		}
		text += ", "
	}
	direction, _ := p.direction(p.desc)
	return text + "q.ref" + direction
}

// writeAfterPosition returns the condition for entities after the position, of those
// whose values before the i-th are equal to its values: the i-th value comes later, or
// it is equal and the entity is after the position in the further values.
func (w *sqlWriter) writeAfterPosition(p *pagePlan, i int) string {
	if i == len(p.columns) {
		_, after := p.direction(p.desc)
		return "q.ref" + after + w.args.Add(p.Position.Ref)
	}
	v, at := "q."+valueName(i), p.positionOf(i)
	if at == nil && p.Backward {
		return "(" + v + " IS NOT NULL OR " + w.writeAfterPosition(p, i+1) + ")"
	}
	if at == nil {
		return "(" + v + " IS NULL AND " + w.writeAfterPosition(p, i+1) + ")"
	}
	_, after := p.direction(p.columns[i].desc)
	later := v + after + w.args.Add(*at)
	if !p.Backward {
		later += " OR " + v + " IS NULL"
	}
	return "(" + later + " OR " + v + " = " + w.args.Add(*at) + " AND " + w.writeAfterPosition(p, i+1) + ")"
}

// positionOf returns the value of the position in the i-th column.
func (p *pagePlan) positionOf(i int) *string { return p.Position.Values[p.columns[i].index] }

// direction returns the keyword for a direction, and the operator for values that come
// later in it.
func (p *pagePlan) direction(desc bool) (keyword, after string) {
	if desc != p.Backward {
		return " DESC", " < "
	}
	return "", " > "
}

func (p *pagePlan) limit() string {
	if p.Offset > 0 {
		return fmt.Sprintf(" LIMIT %d OFFSET %d", p.Limit, p.Offset)
	}
	return fmt.Sprintf(" LIMIT %d", p.Limit)
}

// writeFrom returns FROM and WHERE: the references are x.ref, each once.
func (w *sqlWriter) writeFrom(p *plan) string {
	if !p.sparse {
		return "FROM " + p.first.table() + " x WHERE " + w.writeRows(p.first, "x") + w.writeBounds(p, "x") + w.writeAnd(p.check, "x.ref")
	}
	parts := []cond{p.first}
	if p.first.op == filter.OpAny {
		parts = p.first.conds
	}
	refs := make([]string, len(parts))
	for i, part := range parts {
		refs[i] = w.writeRefs(part, p)
	}
	return "FROM (SELECT DISTINCT u.ref FROM (" + strings.Join(refs, " UNION ") + ") u) x WHERE " + w.writeWhere(p.check, "x.ref")
}

// writeRefs returns a statement that selects the references of rows for c.
func (w *sqlWriter) writeRefs(c cond, p *plan) string {
	return "SELECT s.ref FROM " + c.table() + " s WHERE " + w.writeRows(c, "s") + w.writeBounds(p, "s")
}

// writeBounds returns the bounds of the references of a table with the alias t.
func (w *sqlWriter) writeBounds(p *plan, t string) string {
	if p.lo == "" {
		return ""
	}
	return " AND " + w.between(t+".ref", p.lo, p.hi)
}

// table returns the table that has rows for the condition.
func (c *cond) table() string {
	switch c.op {
	case filter.OpTrue, opKind:
		return "entities"
	case opWord, opAnyWord:
		return "terms"
	}
	return "search"
}

// writeRows returns the condition on rows of the table of c, with the alias t.
func (w *sqlWriter) writeRows(c cond, t string) string {
	key, value := t+".kid = "+strconv.FormatInt(c.kid, 10), t+".value"
	switch {
	case c.op == filter.OpTrue:
		return "1 = 1"
	case c.op == opKind:
		lo, hi := c.refRange()
		return w.between(t+".ref", lo, hi)
	case c.op == opWord:
		return w.between(t+".word", c.values[0], db.After(c.values[0]))
	case c.op == opAnyWord:
		return t + ".word IN " + w.args.List(c.values)
	case c.op == filter.OpHas:
		return key
	case c.op == opHasValue:
		return key + " AND " + value + " < '" + index.NoValue + "'"
	case c.op == filter.OpPrefix:
		return key + " AND " + w.between(value, c.values[0], db.After(c.values[0]))
	case c.op == opContains:
		pattern := "%" + likeEscaper.Replace(c.values[0]) + "%"
		return t + ".kid IN " + db.Numbers(c.kids) + " AND " + value + " < '" + index.NoValue + "' AND " + value + " LIKE " + w.args.Add(pattern) + " ESCAPE '!'"
	case c.isValue():
		return key + " AND " + value + " = " + w.args.Add(c.values[0])
	}
	return key + " AND " + value + " IN " + w.args.List(c.values)
}

var likeEscaper = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

// maxLookups is how many values are looked up for one reference. For more values,
// reading the rows of all references is less work.
const maxLookups = 32

// onlyRow ends a lookup for one reference. OFFSET keeps PostgreSQL from turning the
// lookups into a join, which would read all rows.
const onlyRow = " LIMIT 1 OFFSET 0)"

// writeWhere returns the condition on the reference in the column ref. An index scan
// needs lookups for one reference at a time. A substring search costs the same for one
// reference as for all.
func (w *sqlWriter) writeWhere(c cond, ref string) string {
	switch {
	case c.op == filter.OpTrue:
		return "1 = 1"
	case c.op == filter.OpAll:
		return w.writeJoined(c.conds, " AND ", ref)
	case c.op == filter.OpAny:
		return w.writeJoined(c.conds, " OR ", ref)
	case c.op == filter.OpNot:
		return "NOT (" + w.writeWhere(c.conds[0], ref) + ")"
	case c.op == filter.OpHas:
		return w.within(ref, index.Prefix("", c.kid), index.Prefix(index.MarkNone, c.kid))
	case c.op == opHasValue:
		return w.within(ref, index.Prefix("", c.kid))
	case c.op == filter.OpPrefix:
		return w.within(ref, index.Prefix("", c.kid)+c.values[0])
	case c.op == opKind:
		// With the comparison the other way round, SQLite would use it instead of the scan,
		// and PostgreSQL would estimate that almost nothing passes.
		lo, hi := c.refRange()
		return "(" + ref + " < " + w.args.Add(lo) + " OR " + ref + " >= " + w.args.Add(hi) + ") IS NOT TRUE"
	case (c.op == filter.OpIn || c.op == opAnyWord) && len(c.values) <= maxLookups:
		return "EXISTS (SELECT 1 FROM " + c.table() + " s WHERE " + w.writeRows(c, "s") + " AND s.ref = " + ref + onlyRow
	case c.op == opWord && !w.whole:
		return "EXISTS (SELECT 1 FROM documents w WHERE w.ref = " + ref +
			" AND (w.words LIKE " + w.args.Add(c.values[0]+"%") + " OR w.words LIKE " + w.args.Add("%"+index.WordEnd+c.values[0]+"%") + ")" + onlyRow
	case c.op == filter.OpIn, c.op == opWord, c.op == opAnyWord, c.op == opContains:
		return ref + " IN (SELECT s.ref FROM " + c.table() + " s WHERE " + w.writeRows(c, "s") + ")"
	}
	return "1 = 0"
}

// writeAnd returns AND and the condition on a reference, or nothing if all pass.
func (w *sqlWriter) writeAnd(c cond, ref string) string {
	if c.op == filter.OpTrue {
		return ""
	}
	return " AND " + w.writeWhere(c, ref)
}

// writeJoined returns conditions with an operator between them, as a balanced tree: a
// thousand in a row exceed the expression depth of SQLite.
func (w *sqlWriter) writeJoined(conds []cond, operator, ref string) string {
	if len(conds) == 1 {
		return w.writeWhere(conds[0], ref)
	}
	half := len(conds) / 2
	return "(" + w.writeJoined(conds[:half], operator, ref) + operator + w.writeJoined(conds[half:], operator, ref) + ")"
}

// within returns the condition that the packed fields of the reference contain one of
// the texts.
func (w *sqlWriter) within(ref string, texts ...string) string {
	found := make([]string, len(texts))
	for i, text := range texts {
		found[i] = w.find + "(p.packed, " + w.args.Add(text) + ") > 0"
	}
	return "EXISTS (SELECT 1 FROM fields p WHERE p.ref = " + ref + " AND (" + strings.Join(found, " OR ") + ")" + onlyRow
}

// best returns the value of the packed fields p that comes first in the direction of a
// column, or NULL if there is none.
func (w *sqlWriter) best(col sortColumn) string {
	keys := []string{index.Prefix("", col.kid)}
	if col.desc {
		keys = []string{index.Prefix(index.MarkLast, col.kid), keys[0]}
	}
	text := "CASE"
	for _, key := range keys {
		text += " WHEN " + w.find + "(p.packed, " + w.args.Add(key) + ") > 0 THEN " + w.cut(key)
	}
	return text + " END"
}

// cut returns the value that follows a text in the packed fields, up to its end. The
// text must be there.
func (w *sqlWriter) cut(text string) string {
	rest := func() string {
		return fmt.Sprintf("substr(p.packed, %s(p.packed, %s) + %d)", w.find, w.args.Add(text), len(text))
	}
	return "substr(" + rest() + ", 1, " + w.find + "(" + rest() + ", " + w.args.Add(index.ValueEnd) + ") - 1)"
}
