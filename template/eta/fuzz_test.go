package eta

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var seeds = []string{
	"", "plain", "a <%= 1 %> b", "<% if (x) { %>\n y\n<% } %>\n", "<%# c -%>\nx", "<%_= `a${ {a:'}'}.a }` _%>",
	"<%= '%>' %>", "<% // x %>", "<% /* %> */ %>", "<%= /[/'\"]%>/.test(x) / 2 %>", "<%", "%>", "<%=", "<%-", "<%= \"", "<%~ f(() => { %>x<% }) %>",
	"é\r\n<%= 😀 %>\u2028<% } %>", "<% let s = ''; for (let i = 0; i < 9; i++) s += i %><%= s %>", "<%= __eta_o %><%= it %>", "<% throw 1 %>", "<%= include('x') %>",
}

// FuzzParse checks that the parser never panics, that text without tags is
// unchanged, and that every error has a position in the text.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tpl, err := parse("t", text)
		if err == nil {
			_, err = tpl.program([]string{"a", "it"})
		}
		if err != nil {
			checkPlace(t, text, err)
			return
		}
		for i, p := range tpl.parts {
			before, after := text[:p.from], text[p.from:]
			if p.kind == literal && i > 0 && !strings.HasSuffix(before, closeTag) || p.kind != literal && !strings.HasPrefix(after, openTag) {
				t.Fatalf("part %d begins at %d, want it at a tag", i, p.from)
			}
			if i > 0 && p.from <= tpl.parts[i-1].from {
				t.Fatalf("part %d begins at %d, before the previous one", i, p.from)
			}
		}
		if !strings.Contains(text, openTag) && utf8.ValidString(text) {
			out, err := New(folder(nil), Limits{}).RenderText(t.Context(), "t", text, nil)
			if want := oneBreak.Replace(text); err != nil || out != want {
				t.Fatalf("got %q, %v; want %q", out, err, want)
			}
		}
	})
}

// FuzzRender checks that a render ends with text or with an error that has a
// position.
func FuzzRender(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	set := New(folder(map[string]string{"x.eta": "<%= it.n %>"}), Limits{Time: 20 * time.Millisecond, Output: 1 << 16})
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<10 {
			t.Skip("long templates find no more than short ones")
		}
		out, err := set.RenderText(t.Context(), "t", text, Data{"n": 1, "list": []any{1, "a"}})
		if err != nil {
			checkPlace(t, text, err)
			return
		}
		if len(out) > 1<<16 {
			t.Fatalf("wrote %d bytes", len(out))
		}
	})
}

// checkPlace checks that an error is an *Error with a position in the text.
func checkPlace(t *testing.T, text string, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%T is not an *Error: %v", err, err)
	}
	if e.Line == 0 || e.File != "t" {
		return
	}
	lines := strings.Split(text, "\n")
	if e.Line < 1 || e.Line > len(lines) || e.Column < 1 || e.Column > utf8.RuneCountInString(lines[e.Line-1])+1 {
		t.Fatalf("%v: position is not in the text", err)
	}
}
