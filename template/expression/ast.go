package expression

// expr is an expression; at returns its offset in the text.
type expr interface{ at() int }

type place int

func (p place) at() int { return int(p) }

type (
	literal struct {
		place
		value value
	}
	regexLiteral struct {
		place
		pattern *pattern
	}
	symbol struct {
		place
		name string
	}
	listLiteral struct {
		place
		items []expr
	}
	mapLiteral struct {
		place
		keys   []string
		values []expr
	}
	// sequence is a parenthesised list of expressions: its value is that of the last.
	sequence struct {
		place
		items []expr
	}
	lookup struct {
		place
		target, key expr
	}
	// span is a slice of a list: from, to and by may be nil.
	span struct {
		place
		target, from, to, by expr
	}
	arguments struct {
		positional []expr
		names      []string
		named      []expr
	}
	call struct {
		place
		callee expr
		args   arguments
	}
	filtered struct {
		place
		name  string
		input expr
		args  arguments
	}
	choice struct {
		place
		condition, then, otherwise expr
	}
	// binary is an operator with two operands: + - ~ * / % ** == != === !== < > <= >= and,
	// or, in.
	binary struct {
		place
		operator    string
		left, right expr
	}
	// unary is not, -, + or floor.
	unary struct {
		place
		operator string
		operand  expr
	}
	test struct {
		place
		name  string
		input expr
		args  arguments
	}
)
