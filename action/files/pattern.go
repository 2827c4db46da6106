package files

import (
	"regexp"
	"strings"

	"example.dev/ingestor/action"
)

// pattern matches paths: * matches any characters of a name, ? one character, [ab]
// one of several characters, {a,b} one of several strings, and ** any number of
// folders. A pattern that matches a folder matches everything in it. Names with a
// leading dot are matched like others.
type pattern struct{ is *regexp.Regexp }

// isPattern reports whether a path contains pattern characters.
func isPattern(text string) bool { return strings.ContainsAny(text, "*?[{") }

// parsePattern parses a pattern.
func parsePattern(text string) (pattern, error) {
	const hint = `use *, **, ?, [ab] and {a,b}; escape a literal one with a backslash`
	const most = 4096
	if len(text) > most {
		return pattern{}, action.Errorf("use several patterns", "cannot read pattern %.20q…: more than %d characters", text, most)
	}
	var b strings.Builder
	b.WriteString("^")
	open := 0
	for rest := strings.TrimPrefix(strings.TrimSuffix(text, "/"), "./"); rest != ""; {
		skip := 1
		switch c := rest[0]; {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString("(?:.*/)?")
			skip = 3
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			skip = 2
		case c == '*':
			b.WriteString("[^/]*")
		case c == '?':
			b.WriteString("[^/]")
		case c == '[':
			class, n := class(rest)
			if n == 0 {
				return pattern{}, action.Errorf(hint, "cannot read pattern %q: unclosed bracket", text)
			}
			b.WriteString(class)
			skip = n
		case c == '{':
			b.WriteString("(?:")
			open++
		case c == '}' && open > 0:
			b.WriteString(")")
			open--
		case c == ',' && open > 0:
			b.WriteString("|")
		case c == '\\' && len(rest) > 1:
			b.WriteString(regexp.QuoteMeta(rest[1:2]))
			skip = 2
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
		}
		rest = rest[skip:]
	}
	if open > 0 {
		return pattern{}, action.Errorf(hint, "cannot read pattern %q: unclosed brace", text)
	}
	is, err := regexp.Compile("(?s)" + b.String() + "(?:/.*)?$")
	if err != nil {
		return pattern{}, action.Errorf(hint, "cannot read pattern %q: invalid pattern", text)
	}
	return pattern{is}, nil
}

// class converts a bracket expression to a regular expression, and returns its
// length; 0 if the bracket is not closed.
func class(text string) (string, int) {
	end := strings.IndexByte(text[1:], ']')
	if end <= 0 {
		return "", 0
	}
	in := text[1 : 1+end]
	not := ""
	if strings.HasPrefix(in, "!") || strings.HasPrefix(in, "^") {
		not, in = "^/", in[1:]
	}
	if in == "" {
		return "", 0
	}
	in = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `^`, `\^`, `&`, `\&`, `~`, `\~`).Replace(in)
	return "[" + not + in + "]", end + 2
}

// matches reports whether the pattern matches a path.
func (p pattern) matches(name string) bool { return p.is.MatchString(name) }

// patterns match if any pattern matches, except where a pattern with a leading
// exclamation mark matches.
type patterns []struct {
	pattern
	not bool
}

// parsePatterns parses patterns.
func parsePatterns(texts []string) (patterns, error) {
	var all patterns
	for _, t := range texts {
		text, not := strings.CutPrefix(t, "!")
		p, err := parsePattern(text)
		if err != nil {
			return nil, err
		}
		all = append(all, struct {
			pattern
			not bool
		}{p, not})
	}
	return all, nil
}

func (all patterns) match(name string) bool {
	yes := false
	for _, p := range all {
		if p.matches(name) {
			if p.not {
				return false
			}
			yes = true
		}
	}
	return yes
}
