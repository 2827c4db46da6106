// Package eta renders Eta templates: text with JavaScript between <% and %>.
//
//	<% code %>     runs
//	<%= value %>   is written; so is <%~ value %>
//	<%# text %>    is a comment
//
// A template sees the names it is handed, bare and below `it`, and these
// functions: include(path[, data]) returns the text of another file, which sees
// the same names and those in data; layout(path[, data]) puts the text of this
// file into another, as it.body; block(name[, function]) is a part of a layout
// that a file may fill; capture(function) returns what a function writes;
// output(value) writes a value. A path that begins with ./ or ../ is relative to
// the file it stands in, any other to the folder; .eta is added to one without
// an extension.
//
// A line that holds nothing but tags that write nothing vanishes. Every other
// line break stays. A tag that begins <%- or ends -%> takes the line break that
// touches it away, one with _ all white space.
//
// # Differences from upstream
//
// Templates are those of Eta 4, except where that would spoil YAML or let a
// template reach outside:
//
//	upstream                              here
//	<%= %> escapes for XML                it writes the value as it is, like <%~ %>
//	<%# %> is a syntax error              it is a comment
//	names stand below `it` only           they are bare names too, as with useWith
//	the line break after a tag is eaten   it stays, unless the line has only <% %> and <%# %>: such a line vanishes
//	undefined is written as "undefined"   it is an error (null is written as null, as YAML has it)
//	objects are written "[object Object]" objects and functions are errors
//	included text ends in a line break    it comes without its last one; so does it.body
//	a quote in a // comment or in a       it does not: comments and regular expressions are read as such
//	regular expression opens a string
//	%> ends a tag inside /…/              it is a part of the regular expression
//	a name is sought in the views only    ./ and ../ are relative to the file; nothing outside the folder
//	options: tags, varName, autoTrim, …   none: every template is read the same way
//	includeAsync, promises are awaited    rendering is synchronous; a rejected promise is an error
//	the clock, Math.random, eval, new     errors: Date needs an argument; no code is made of text;
//	Function, all of the host             there is no BigInt, Proxy, Reflect, typed array, console, require or process
//	dates are those of the time zone      it is UTC everywhere, so that the same input gives the same output
//	with (object) { … }                   an error: there is none
//	no bounds                             time, output, depth of includes, memory
//
// # Bounds
//
// Each render has a machine of its own and gets copies of its data, so that none
// sees another's changes. It ends with an error when its time is over, when it
// writes too much, when files include one another too deep, and when the process
// grows too much while it runs: by 64 MiB, unless Limits says otherwise. The
// process never grows by more than three times as much, because what makes much
// of little at a stroke is bounded by itself: texts have 4 MiB at most, and lists
// that are handed to a function 262,144 values. A regular expression has 16,384
// characters, and its repetitions come to 100,000 instructions; one that
// backtracks, because it looks around, refers back or goes on where it ended last,
// and repeats a group, goes with short texts only.
//
// To that end + and template literals of values, and lists that are spread, are
// calls of functions that look at how long the outcome is. They give what
// JavaScript gives.
//
// A render that does not stop all the same is given up: Render returns in time,
// and what it left behind ends when it can. The bounds are meant for mistakes and
// for text of unknown origin; a template written to do harm can still waste
// processor time.
package eta
