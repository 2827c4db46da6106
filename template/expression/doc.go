// Package expression is the language of ${{ }} in Templates: what a step's
// input, its if and each, and the files of fetch:template are written in.
//
//	${{ parameters.name }}                      a value
//	${{ parameters.list | join(", ") }}         a value through a filter
//	{% if parameters.public %}…{% endif %}      a statement: if, for, set, macro, call, filter, switch, raw
//	{# … #}                                     a comment
//
// A tag that begins or ends with a dash, such as {%- and -}}, takes the white
// space beside it away.
//
// Values are those of JavaScript, and so are their conversions: 1 + "2" is
// "12", an empty list is true in a condition (but not as the if of a step, see
// Truthy), what is looked up in nothing is undefined, and undefined writes
// nothing. Operators are + - * / // % ** ~ == != === !== < > <= >= and or not in
// is, and a if b else c. As upstream, not binds closer than == (write not (a ==
// b)), and the first }} outside of quotes ends an expression (write } } to end
// two objects).
//
// Filters: abs batch capitalize center default (d) dictsort dump escape (e)
// first float forceescape groupby indent int join last length list lower nl2br
// reject rejectattr replace reverse round safe select selectattr slice sort
// string striptags sum title trim truncate upper urlencode urlize wordcount,
// and the scaffolder's parseEntityRef parseRepoUrl pick projectSlug. Functions:
// cycler joiner range. Texts, numbers and lists have the methods of JavaScript
// that take no function.
//
// # Differences from upstream
//
// The language is that of the scaffolder, which is that of Nunjucks 3, except:
//
//	upstream                                   here
//	what cannot be read or evaluated stays as  it is an Error; only a text without ${{ whose {% or {#
//	it is written, and the task goes on        cannot be read stays as it is
//	an undefined item of a list is a hole,     it is left out
//	which is written as null
//	numbers above 2^53 lose their last digits  they are handed through as they are
//	regular expressions are JavaScript's       they are RE2's: no look-around, no references back, no flag y
//	random                                     an error: what is run again must do the same
//	text filters give other values back, or    they refuse them
//	something odd
//	x is odd == y is read as another test      an error
//	arguments by name are handed to filters    an error, but for default, int and sort
//	that know no names
//	constructor and __proto__ are refused      they are keys like others
//	a #} without a {# is an error              it is text
//	half of a character beyond U+FFFF can be   it is U+FFFD
//	cut off
//	parseRepoUrl and projectSlug want the      with Filters(nil) any host may be named
//	host in the configuration
//	projectSlug without an owner is            an error
//	"undefined/name"
package expression
