// Package eta renders Eta templates: text with JavaScript between <% and %>.
//
//	<% code %>     runs
//	<%= value %>   is written; so is <%~ value %>
//	<%# text %>    is a comment
//
// A template sees its data as bare names and below `it`, and these functions:
// include(path[, data]) returns the text of another file, which sees the same names and
// those in data; layout(path[, data]) puts the text of this file into another, as
// it.body; block(name[, function]) is a part of a layout that a file may fill;
// capture(function) returns the output of a function; output(value) writes a value. A
// path that begins with ./ or ../ is relative to the file that contains it, any other to
// the folder; .eta is added to a path without an extension.
//
// A line that contains only tags without output is removed. Every other line break
// stays. A tag that begins with <%- or ends with -%> removes the adjacent line break,
// one with _ all adjacent white space.
//
// # Differences from upstream
//
// Templates are those of Eta 4, except where that would break YAML or give a template
// access to the outside:
//
//	upstream                              here
//	<%= %> escapes for XML                it writes the value as it is, like <%~ %>
//	<%# %> is a syntax error              it is a comment
//	names are below `it` only             they are bare names too, as with useWith
//	the line break after a tag is eaten   it stays, unless the line has only <% %> and <%# %>: such a line is removed
//	undefined is written as "undefined"   it is an error (null is written as null, as in YAML)
//	objects are written "[object Object]" objects and functions are errors
//	included text ends in a line break    its last line break is removed; so is that of it.body
//	a quote in a // comment or in a       it does not: comments and regular expressions are recognised
//	regular expression opens a string
//	%> ends a tag inside /…/              it is a part of the regular expression
//	a name is looked up in the views only ./ and ../ are relative to the file; nothing outside the folder
//	options: tags, varName, autoTrim, …   none: all templates have the same syntax
//	includeAsync, promises are awaited    rendering is synchronous; a rejected promise is an error
//	the clock, Math.random, eval, new     errors: Date needs an argument; no code is generated from text;
//	Function, all of the host             there is no BigInt, Proxy, Reflect, typed array, console, require or process
//	dates use the local time zone         they use UTC everywhere, so that the same input gives the same output
//	with (object) { … }                   an error: it is not supported
//	no limits                             time, output, depth of includes, memory
//
// # Limits
//
// Each render has its own machine and gets copies of its data, so that renders do not
// see each other's changes. It ends with an error when its time is over, when it writes
// too much, when includes are nested too deep, and when the process grows too much
// meanwhile: by 64 MiB, unless Limits says otherwise. The process never grows by more
// than three times as much, because single operations with large results have their own
// limits: texts have at most 4 MiB, and lists passed to a function 262,144 values. A
// regular expression has at most 16,384 characters, and 100,000 instructions with
// repetitions expanded; one that backtracks, because it uses look-around, back
// references or continues where it ended last, and repeats a group, works with short
// texts only.
//
// For that purpose, + and template literals of values, and spread lists, are replaced by
// calls of functions that check the length of the result. The results are those of
// JavaScript.
//
// A render that still does not stop is abandoned: Render returns in time, and its
// goroutine ends when it can. The limits are meant for mistakes and for text of unknown
// origin; a malicious template can still waste CPU time.
//
// It is one package because the parts of a language call each other: compiler, values and
// limits share the JavaScript runtime of a render.
package eta
