package eta

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/grafana/sobek"
	"github.com/grafana/sobek/parser"
)

// The limits of regular expressions. The engine compiles most of them for RE2, which
// expands counted repetitions. It runs the others, and all that continue where they
// ended last, with a backtracking matcher that keeps a note for each iteration of a
// repeated group.
const (
	maxPattern      = 16 << 10
	maxInstructions = 100_000
	maxGroups       = 100
	// maxNotes is the maximum number of notes, and maxRound the maximum per iteration.
	maxNotes = 1 << 20
	maxRound = 16
	// maxFound is the maximum number of matches, and groups in them, that may be found at
	// once, and maxMatches the maximum if they are objects.
	maxFound   = 1 << 19
	maxMatches = 1 << 16
	// untracked is the length of texts up to which they are not tracked.
	untracked = maxNotes / maxRound
)

// pattern is the maximum cost of a regular expression.
type pattern struct {
	// instructions counts the instructions with repetitions expanded; groups counts the
	// groups.
	instructions, groups int
	// round is the number of notes per iteration of a repeated group.
	round int
}

// measurePattern parses a regular expression as far as needed to estimate its cost.
func measurePattern(source string) pattern {
	const most = 1 << 30
	type part struct {
		size, notes int
		group       bool
	}
	var p pattern
	open := []part{{}}
	var last part
	add := func(next part) {
		top := &open[len(open)-1]
		top.size, top.notes = min(top.size+next.size, most), top.notes+next.notes
		last = next
	}
	repeat := func(times int) {
		if last.group {
			p.round = max(p.round, last.notes)
		}
		top := &open[len(open)-1]
		top.size = min(top.size+last.size*(min(max(times, 1), maxInstructions)-1), most)
		last = part{}
	}
	for i := 0; i < len(source); i++ {
		switch c := source[i]; c {
		case '\\':
			i++
			add(part{size: 1, notes: 1})
		case '[':
			for i++; i < len(source) && source[i] != ']'; i++ {
				if source[i] == '\\' {
					i++
				}
			}
			add(part{size: 1, notes: 1})
		case '(':
			p.groups++
			open = append(open, part{})
			if strings.HasPrefix(source[i+1:], "?") {
				// Skip the kind of the group.
				i += 1 + len(groupKind.FindString(source[i+2:]))
			}
		case ')':
			if len(open) == 1 {
				continue
			}
			inner := open[len(open)-1]
			open = open[:len(open)-1]
			add(part{size: inner.size + 2, notes: inner.notes + 1, group: true})
		case '*', '+', '?':
			repeat(1)
		case '{':
			if bounds := counted.FindStringSubmatch(source[i:]); bounds != nil {
				least, _ := strconv.Atoi(bounds[1])
				most, _ := strconv.Atoi(bounds[2])
				repeat(max(least, most))
				i += len(bounds[0]) - 1
				continue
			}
			add(part{size: 1, notes: 1})
		default:
			add(part{size: 1, notes: 1})
		}
	}
	for _, o := range open {
		p.instructions = min(p.instructions+o.size, most)
	}
	return p
}

var (
	groupKind = regexp.MustCompile(`^(?:[:=!]|<[=!]|<[^>]*>)`)
	counted   = regexp.MustCompile(`^\{([0-9]{1,6})(?:,([0-9]{0,6}))?\}`)
)

// checkPattern returns why a regular expression cannot be used, and the number of notes
// per iteration of one that backtracks.
func checkPattern(source, flags string) (round int, err error) {
	if len(source) > maxPattern {
		return 0, fmt.Errorf("cannot use a regular expression of more than %d characters", maxPattern)
	}
	p := measurePattern(source)
	switch {
	case p.instructions > maxInstructions:
		return 0, fmt.Errorf("cannot use a regular expression with so many repetitions")
	case p.groups > maxGroups:
		return 0, fmt.Errorf("cannot use a regular expression with more than %d groups", maxGroups)
	case p.round == 0:
		return 0, nil
	}
	if !strings.ContainsAny(flags, "gy") {
		if re2, err := parser.TransformRegExp(source, strings.Contains(flags, "s"), strings.Contains(flags, "u")); err == nil {
			if _, err := regexp.Compile(re2); err == nil {
				return 0, nil
			}
		}
	}
	if p.round > maxRound {
		return 0, fmt.Errorf("cannot use a regular expression that repeats a group of more than %d parts and backtracks", maxRound)
	}
	return p.round, nil
}

// backtrack records that the template has a regular expression that makes round notes
// per iteration; track records that it has a text of a length. The product must stay
// within limits: there is no way to know when the expression is matched against the
// text.
func (r *run) backtrack(round int) error {
	r.round = max(r.round, round)
	if r.round*r.longest <= maxNotes {
		return nil
	}
	return &fault{
		msg:  fmt.Sprintf("cannot use a string of %d characters with a regular expression that backtracks", r.longest),
		hint: "remove the repeated group from the expression, or split the string",
	}
}

func (r *run) track(length int) {
	if length > untracked && length > r.longest {
		r.longest = length
		r.must(r.backtrack(0))
	}
}

// checkSource limits a regular expression that is created from a text.
func (r *run) checkSource(source, flags sobek.Value) {
	if o, ok := source.(*sobek.Object); ok && o.ClassName() == "RegExp" {
		if sobek.IsUndefined(flags) {
			// The expression has already been checked.
			return
		}
		source = o.Get("source")
	}
	text, with := "", ""
	if !sobek.IsUndefined(source) {
		text = source.String()
	}
	if !sobek.IsUndefined(flags) {
		with = flags.String()
	}
	round, err := checkPattern(text, with)
	if err != nil {
		r.throw(&fault{msg: err.Error(), hint: "make it shorter"})
	}
	r.must(r.backtrack(round))
}

// guardRegExp limits the operations on regular expressions. It is called before a
// template can access the first one.
func (r *run) guardRegExp() {
	if r.regExp != nil {
		return
	}
	old := r.std.Get("RegExp").ToObject(r.vm)
	construct, _ := sobek.AssertConstructor(old)
	proto := old.Get("prototype").ToObject(r.vm)
	regExp := r.vm.ToValue(func(call sobek.ConstructorCall) *sobek.Object {
		r.checkSource(call.Argument(0), call.Argument(1))
		o, err := construct(nil, call.Arguments...)
		r.must(err)
		return o
	}).ToObject(r.vm)
	r.must(regExp.DefineDataProperty("prototype", proto, sobek.FLAG_FALSE, sobek.FLAG_FALSE, sobek.FLAG_FALSE))
	r.must(regExp.DefineDataProperty("name", r.vm.ToValue("RegExp"), sobek.FLAG_FALSE, sobek.FLAG_TRUE, sobek.FLAG_FALSE))
	r.must(proto.DefineDataProperty("constructor", regExp, sobek.FLAG_TRUE, sobek.FLAG_TRUE, sobek.FLAG_FALSE))
	r.regExp = regExp

	r.guard(proto, "compile", func(call sobek.FunctionCall) { r.checkSource(call.Argument(0), call.Argument(1)) })
	for symbol, guarded := range map[*sobek.Symbol]func(sobek.FunctionCall) sobek.Value{
		sobek.SymReplace:  r.replacer(r.finder(proto.GetSymbol(sobek.SymReplace), false)),
		sobek.SymMatch:    r.finder(proto.GetSymbol(sobek.SymMatch), false),
		sobek.SymSplit:    r.finder(proto.GetSymbol(sobek.SymSplit), true),
		sobek.SymMatchAll: r.guardMatches(proto.GetSymbol(sobek.SymMatchAll)),
	} {
		r.must(proto.DefineDataPropertySymbol(symbol, r.vm.ToValue(guarded), sobek.FLAG_TRUE, sobek.FLAG_TRUE, sobek.FLAG_FALSE))
	}
	r.must(proto.DefineAccessorProperty("flags", r.vm.ToValue(r.flags), nil, sobek.FLAG_FALSE, sobek.FLAG_FALSE))
}

// finder limits a function that finds the matches of a regular expression in a text: all
// matches if all is set, else only for a global one.
func (r *run) finder(v sobek.Value, all bool) func(sobek.FunctionCall) sobek.Value {
	const short = maxMatches / (maxGroups + 1)
	call, _ := sobek.AssertFunction(v)
	return func(c sobek.FunctionCall) sobek.Value {
		o, ok := c.This.(*sobek.Object)
		if n := textSize(c.Argument(0)); ok && n > short {
			own := o.GetOwnPropertyNames()
			changed := slices.Contains(own, "exec") || slices.Contains(own, "flags") || slices.Contains(own, "global")
			if global := o.Get("global"); all || changed || global != nil && global.ToBoolean() {
				places := n
				if source := o.Get("source"); source != nil {
					places *= measurePattern(source.String()).groups + 1
				}
				r.boundFound(places, changed)
				before := r.finding
				r.finding = places
				defer func() { r.finding = before }()
			}
		}
		v, err := call(c.This, c.Arguments...)
		r.must(err)
		return v
	}
}

// boundFound rejects finding too many matches at once; the limit is lower if an object
// is created for each.
func (r *run) boundFound(places int, objects bool) {
	most := maxFound
	if objects {
		most = maxMatches
	}
	if places > most {
		r.throw(&fault{
			msg:  fmt.Sprintf("cannot search with a regular expression that may match more than %d times, including groups", most),
			hint: "split the string first",
		})
	}
}

// flags implements flags of regular expressions. The engine reads it before it creates
// an object for each match, which it does for an expression that was modified in any
// way.
func (r *run) flags(call sobek.FunctionCall) sobek.Value {
	r.boundFound(r.finding, true)
	o := call.This.ToObject(r.vm)
	var flags []byte
	for i, name := range []string{"global", "ignoreCase", "multiline", "dotAll", "unicode", "sticky"} {
		if v := o.Get(name); v != nil && v.ToBoolean() {
			flags = append(flags, "gimsuy"[i])
		}
	}
	return r.vm.ToValue(string(flags))
}

// guardMatches limits the number of matches of matchAll: the consumer may be a function
// of the engine, which keeps them all.
func (r *run) guardMatches(all sobek.Value) func(sobek.FunctionCall) sobek.Value {
	call, _ := sobek.AssertFunction(all)
	guarded := false
	return func(c sobek.FunctionCall) sobek.Value {
		v, err := call(c.This, c.Arguments...)
		r.must(err)
		if o, ok := v.(*sobek.Object); ok && !guarded {
			guarded = true
			r.guard(o.Prototype(), "next", func(sobek.FunctionCall) {
				if r.matches++; r.matches > maxMatches {
					r.throw(&fault{msg: fmt.Sprintf("cannot find more than %d matches with matchAll", maxMatches)})
				}
			})
		}
		return v
	}
}
