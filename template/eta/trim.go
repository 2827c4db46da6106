package eta

import "strings"

// trim removes the white space that tags request to remove, and the lines that contain
// only tags without output.
func (t *template) trim() {
	texts := make([]string, len(t.parts))
	for i, p := range t.parts {
		texts[i] = p.text
	}
	lone := t.lone()
	for i, p := range t.parts {
		if p.kind != literal {
			continue
		}
		text := p.text
		if i > 0 {
			prev := t.parts[i-1]
			switch {
			case prev.right != 0:
				text = trimAfter(text, prev.right)
			case lone[i-1]:
				text = strings.TrimLeft(text, " \t")
				text = trimAfter(text, '-')
			}
		}
		if i+1 < len(t.parts) {
			next := t.parts[i+1]
			switch {
			case next.left != 0:
				text = trimBefore(text, next.left)
			case lone[i+1]:
				text = strings.TrimRight(text, " \t")
			}
		}
		texts[i] = oneBreak.Replace(text)
	}
	for i := range t.parts {
		t.parts[i].text = texts[i]
	}
}

// oneBreak converts every line break to a newline, as upstream does.
var oneBreak = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// trimAfter trims the text after a tag that ends with a control.
func trimAfter(text string, control byte) string {
	if control == '_' {
		return strings.TrimLeft(text, spaces)
	}
	for _, br := range []string{"\r\n", "\n", "\r"} {
		if rest, ok := strings.CutPrefix(text, br); ok {
			return rest
		}
	}
	return text
}

// trimBefore trims the text before a tag that begins with a control.
func trimBefore(text string, control byte) string {
	if control == '_' {
		return strings.TrimRight(text, spaces)
	}
	for _, br := range []string{"\r\n", "\n", "\r"} {
		if rest, ok := strings.CutSuffix(text, br); ok {
			return rest
		}
	}
	return text
}

// spaces are the characters that JavaScript trims.
const spaces = " \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

// lone reports for each part whether it is a tag on a line that contains only blanks and
// tags without output.
func (t *template) lone() []bool {
	lone := make([]bool, len(t.parts))
	// first is the first part of the line; good is true if the line qualifies so far.
	first, good := 0, true
	flush := func(end int) {
		for i := first; good && i < end; i++ {
			lone[i] = t.parts[i].kind != literal
		}
	}
	for i, p := range t.parts {
		switch p.kind {
		case value:
			good = false
		case literal:
			head, tail, breaks := ends(p.text)
			good = good && blank(head)
			if breaks {
				flush(i)
				first, good = i, blank(tail)
			}
		}
	}
	flush(len(t.parts))
	return lone
}

// ends returns the text before the first line break and after the last.
func ends(text string) (head, tail string, breaks bool) {
	i := strings.IndexAny(text, "\r\n")
	if i < 0 {
		return text, text, false
	}
	return text[:i], text[strings.LastIndexAny(text, "\r\n")+1:], true
}

func blank(s string) bool { return strings.Trim(s, " \t") == "" }
