// Package expression implements the language of ${{ }} in Templates: that of a step's
// input, its if and each, and of the files of fetch:template.
//
//	${{ parameters.name }}                      a value
//	${{ parameters.list | join(", ") }}         a value through a filter
//	{% if parameters.public %}…{% endif %}      a statement: if, for, set, macro, call, filter, switch, raw
//	{# … #}                                     a comment
//
// A tag that begins or ends with a dash, such as {%- and -}}, removes the adjacent white
// space.
//
// Values and conversions are those of JavaScript: 1 + "2" is "12", an empty list is true
// in a condition (but not as the if of a step, see Truthy), a lookup in an undefined
// value is undefined, and undefined is written as nothing. Operators are + - * / // % **
// ~ == != === !== < > <= >= and or not in is, and a if b else c. As upstream, not binds
// closer than == (write not (a == b)), and the first }} outside of quotes ends an
// expression (write } } to end two objects).
//
// Filters: abs batch capitalize center default (d) dictsort dump escape (e) first float
// forceescape groupby indent int join last length list lower nl2br reject rejectattr
// replace reverse round safe select selectattr slice sort string striptags sum title
// trim truncate upper urlencode urlize wordcount, and the scaffolder's parseEntityRef
// parseRepoUrl pick projectSlug. Functions: cycler joiner range. Strings, numbers and
// lists have the methods of JavaScript that take no function.
//
// # Differences from upstream
//
// The language is that of the scaffolder, which is that of Nunjucks 3, except:
//
//	upstream                                   here
//	invalid expressions stay as they are       an Error; only a text without ${{ whose {% or {#
//	written, and the task continues            cannot be parsed stays as it is
//	an undefined item of a list is a hole,     it is left out
//	which is written as null
//	numbers above 2^53 lose their last digits  they are passed through unchanged
//	regular expressions are JavaScript's       they are RE2's: no look-around, no back references, no flag y
//	random                                     an error: a rerun must give the same result
//	text filters return other values           they reject them
//	unchanged, or something odd
//	x is odd == y is parsed as another test    an error
//	named arguments are passed to filters      an error, except for default, int and sort
//	that do not support them
//	constructor and __proto__ are rejected     they are keys like others
//	a #} without a {# is an error              it is text
//	half of a character beyond U+FFFF can be   it is U+FFFD
//	cut off
//	parseRepoUrl and projectSlug require the   with Filters(nil) any host is accepted
//	host in the configuration
//	projectSlug without an owner is            an error
//	"undefined/name"
//
// It is one package because the parts of a language call each other: its values, filters
// and methods evaluate expressions, and expressions are made of them.
package expression
