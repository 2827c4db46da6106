package db

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Statement is an SQL statement that is being built. The zero value is ready for use.
type Statement struct {
	strings.Builder
	// Args are the arguments of the parameters $1, $2 and so on.
	Args []any
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
func (b *Statement) Arg(v any) {
	b.Args = append(b.Args, v)
	fmt.Fprintf(b, "$%d", len(b.Args))
}

// List appends parameters in parentheses. Their number is rounded up to a power of two,
// with the last value repeated, so that there are few different statements.
func (b *Statement) List(values []string) {
	b.WriteString("(")
	for i := range powerOfTwo(len(values)) {
		if i > 0 {
			b.WriteString(",")
		}
		b.Arg(values[min(i, len(values)-1)])
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

// Numbers appends numbers in parentheses, as text.
func (b *Statement) Numbers(ns []int64) {
	b.WriteString("(")
	for i, n := range ns {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprint(b, n)
	}
	b.WriteString(")")
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
