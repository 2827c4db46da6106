package db

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// Statement is an SQL statement that is being built. The zero value is ready for use.
type Statement struct {
	strings.Builder
	Args Args
}

// Args are the arguments of the parameters $1, $2 and so on of a statement.
type Args []any

// Add adds an argument and returns its parameter.
func (a *Args) Add(v any) string {
	*a = append(*a, v)
	return "$" + strconv.Itoa(len(*a))
}

// List adds values and returns their parameters in parentheses. Their number is rounded
// up to a power of two, with the last value repeated, so that there are few different
// statements.
func (a *Args) List(values []string) string {
	parameters := make([]string, powerOfTwo(len(values)))
	for i := range parameters {
		parameters[i] = a.Add(values[min(i, len(values)-1)])
	}
	return "(" + strings.Join(parameters, ",") + ")"
}

// Add appends text in which each %s is replaced by a parameter for the next argument:
// Add("a = %s", 1) appends "a = $1".
func (b *Statement) Add(format string, args ...any) {
	for _, arg := range args {
		before, after, ok := strings.Cut(format, "%s")
		if !ok {
			break
		}
		b.WriteString(before)
		b.Arg(arg)
		format = after
	}
	b.WriteString(format)
}

// Arg appends a parameter.
func (b *Statement) Arg(v any) { b.WriteString(b.Args.Add(v)) }

// List appends the parameters of Args.List.
func (b *Statement) List(values []string) { b.WriteString(b.Args.List(values)) }

func powerOfTwo(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}

// Numbers returns numbers in parentheses, as text.
func Numbers(ns []int64) string {
	texts := make([]string, len(ns))
	for i, n := range ns {
		texts[i] = strconv.FormatInt(n, 10)
	}
	return "(" + strings.Join(texts, ",") + ")"
}

// Each runs the statement and calls f for each row.
func (b *Statement) Each(ctx context.Context, ask Asker, f func(*Rows) error) error {
	return Each(ctx, ask, b.String(), b.Args, f)
}

// AddNow appends the current time in milliseconds: that of PostgreSQL, so that replicas
// agree, or that of the process.
func (d *DB) AddNow(b *Statement) {
	if d.Client == Postgres {
		b.Add("(extract(epoch FROM clock_timestamp()) * 1000)::bigint")
		return
	}
	b.Arg(d.Now().UnixMilli())
}

// FromMilli converts milliseconds since 1970 to a time in UTC.
func FromMilli(n int64) time.Time { return time.UnixMilli(n).UTC() }

// OrNull returns NULL for nil, which would otherwise be stored as an empty text.
func OrNull(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

// NonNil returns an empty text for nil, which would otherwise be stored as NULL.
func NonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
