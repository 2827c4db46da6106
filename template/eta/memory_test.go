package eta_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"example.dev/ingestor/template/eta"
)

// mostMemory is the number of MB by which a process may grow during any render.
const mostMemory = 200

// watched is the error of a template that was stopped because of its memory or
// time.
const watched = "it takes too"

// hungry are templates that would exhaust the memory, each in another way, with
// their expected error; empty if they are harmless.
var hungry = map[string]struct{ code, want string }{
	"Add":             {`let s = 'x'; for (;;) s += s`, "a string of more than 4 MiB"},
	"AddWide":         {`let s = 'ü'; for (;;) s += s`, "a string of more than 4 MiB"},
	"AddProperty":     {`const o = {s: 'x'}; for (;;) o.s += o.s`, "a string of more than 4 MiB"},
	"AddIndex":        {`const o = ['x']; for (;;) o[0] += o[0]`, "a string of more than 4 MiB"},
	"AddExpression":   {`let s = 'x'; for (;;) s = s + s`, "a string of more than 4 MiB"},
	"AddFlat":         {`let s = 'x'; ` + strings.Repeat("s = s + s; ", 40), "a string of more than 4 MiB"},
	"AddMany":         {`let s = 'x'.repeat(1e6); for (;;) s = s + s + s + s + s + s + s + s`, "a string of more than 4 MiB"},
	"AddObject":       {`let s = 'x'; for (;;) { const t = s; s = {toString: () => t} + {toString: () => t} }`, "a string of more than 4 MiB"},
	"AddArray":        {`let s = 'x'; for (;;) s = [s] + [s]`, "a string of more than 4 MiB"},
	"AddDefault":      {`let s = 'x'; const f = (a, b = a + a) => b; for (;;) s = f(s)`, "a string of more than 4 MiB"},
	"AddClass":        {`let s = 'x'; class A { m() { return s + s } static { } }; const a = new A(); for (;;) s = a.m()`, "a string of more than 4 MiB"},
	"AddPrivate":      {`class A { #s = 'x'; m() { for (;;) this.#s += this.#s } }; new A().m()`, "a string of more than 4 MiB"},
	"AddGenerator":    {`function* f() { let s = 'x'; for (;;) { s += (yield s) + s } }; const g = f(); let v = g.next().value; for (;;) v = g.next(v).value`, "a string of more than 4 MiB"},
	"Literal":         {"let s = 'x'; for (;;) s = `${s}${s}`", "a string of more than 4 MiB"},
	"LiteralLong":     {"let s = 'x'; for (;;) s = `" + strings.Repeat("${s}", 100) + "`", "a string of more than 4 MiB"},
	"LiteralTagged":   {"let s = 'x'; for (;;) s = String.raw`${s}${s}`", "a string of more than 4 MiB"},
	"Concat":          {`let s = 'x'; for (;;) s = s.concat(s)`, "a string of more than 4 MiB"},
	"ConcatObjects":   {`let s = new String('x'.repeat(1e6)); for (;;) s = new String(''.concat(s, s, s, s, s, s, s, s, s, s))`, "a string of more than 4 MiB"},
	"ConcatCall":      {`let s = 'x'; const f = ''.concat; for (;;) s = f.apply(s, [s, s, s])`, "a string of more than 4 MiB"},
	"Repeat":          {`'x'.repeat(1e9)`, "a string of more than 4 MiB"},
	"Pad":             {`'x'.padEnd(1e9)`, "a string of more than 4 MiB"},
	"PadStart":        {`'x'.padStart(1e9, 'ab')`, "a string of more than 4 MiB"},
	"ReplaceAll":      {`const s = 'x'.repeat(1e6); s.replaceAll('x', 'y'.repeat(200))`, "a string of more than 4 MiB"},
	"ReplaceEmpty":    {`const s = 'x'.repeat(4e6); s.replaceAll('', 'y')`, "a string of more than 4 MiB"},
	"ReplaceMatched":  {`const s = 'x'.repeat(1e4); s.replace(/x/g, '$&$&$&' + "$'".repeat(100))`, "a string of more than 4 MiB"},
	"ReplaceGroups":   {`'x'.repeat(1e5).replace(/(.*)/g, '$1'.repeat(5000))`, "a string of more than 4 MiB"},
	"Join":            {`Array(2.6e5).fill('x'.repeat(1e6)).join('')`, "a string of more than 4 MiB"},
	"ToString":        {`String(Array(2.6e5).fill('x'.repeat(1e6)))`, "a string of more than 4 MiB"},
	"ToLocaleString":  {`Array(2.6e5).fill('x'.repeat(1e6)).toLocaleString()`, "a string of more than 4 MiB"},
	"Raw":             {`String.raw({raw: Array(2.6e5).fill('x'.repeat(1e6))})`, "a string of more than 4 MiB"},
	"Normalize":       {`'\uFDFA'.repeat(4e6).normalize('NFKD')`, "a string of more than 4 MiB"},
	"Encode":          {`encodeURIComponent('\u20AC'.repeat(4e6))`, "a string of more than 4 MiB"},
	"Escape":          {`escape('\u20AC'.repeat(4e6))`, "a string of more than 4 MiB"},
	"StringifyDeep":   {`let a = 1; for (let i = 0; i < 190; i++) a = [a, a.x, 1]; let b = Array(1000).fill(a); JSON.stringify(b, null, 10)`, "a string of more than 4 MiB"},
	"StringifyText":   {`JSON.stringify('\u0001'.repeat(4e6))`, "a string of more than 4 MiB"},
	"StringifyKeys":   {`const o = {}; o['x'.repeat(4e6)] = 1; JSON.stringify(Array(1e5).fill(o))`, "a string of more than 4 MiB"},
	"StringifyToJSON": {`const s = 'x'.repeat(1e6), o = {toJSON: () => s}; JSON.stringify(Array(2.6e5).fill(o))`, "a string of more than 4 MiB"},
	"StringifyAgain":  {`let s = '"'; for (;;) s = JSON.stringify(s)`, "a string of more than 4 MiB"},
	"Labels":          {`a: for (;;) { let s = 'x'; for (;;) { s += s; if (!s) continue a } }`, "a string of more than 4 MiB"},
	"FoundMost":       {`[...'x'.repeat(5e5).match(/x/g), ...'x'.repeat(5e5).split(/x/)]`, "a list of more than 262144 values"},
	"JoinHoles":       {`Array(4e9).join('xxxxxxxxxx')`, "a list of more than 262144 values"},
	"Splice":          {`const a = Array(2.6e5).fill(1); for (;;) a.splice(0, 0, ...a)`, "a list of more than 262144 values"},
	"SpreadText":      {`[...'x'.repeat(4e6)]`, "a list of more than 262144 values"},
	"ArrayConcat":     {`let a = [1]; for (;;) a = a.concat(a)`, "a list of more than 262144 values"},
	"ArrayConcatArgs": {`const a = Array(2.6e5).fill(1); [].concat(a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a)`, "a list of more than 262144 values"},
	"From":            {`Array.from({length: 1e9})`, "a list of more than 262144 values"},
	"FromText":        {`Array.from('x'.repeat(4e6))`, "a list of more than 262144 values"},
	"ObjectEntries":   {`Object.entries('x'.repeat(4e6))`, "a list of more than 262144 values"},
	"ObjectKeys":      {`Object.keys('x'.repeat(4e6))`, "a list of more than 262144 values"},
	"ObjectValues":    {`Object.values('x'.repeat(4e6))`, "a list of more than 262144 values"},
	"ObjectNames":     {`Object.getOwnPropertyNames('x'.repeat(4e6))`, "a list of more than 262144 values"},
	"ObjectDescribe":  {`Object.getOwnPropertyDescriptors('x'.repeat(4e6))`, "a list of more than 262144 values"},
	"ObjectOfText":    {`Object.assign({}, 'x'.repeat(4e6))`, "a list of more than 262144 values"},
	"ObjectOfList":    {`Object.entries(Array(2.6e5).fill(1))`, "a list of more than 262144 values"},
	"ObjectDescribes": {`Object.getOwnPropertyDescriptors(Array(2.6e5).fill(1))`, "a list of more than 262144 values"},
	"ObjectSpread":    {`({...'x'.repeat(4e6)})`, "a list of more than 262144 values"},
	"Replace":         {`const s = 'x'.repeat(1e6); s.replace(/x/g, 'y'.repeat(200))`, "times"},
	"ReplaceFunction": {`const y = 'y'.repeat(1e5); 'x'.repeat(1e6).replace(/x/g, () => y)`, "times"},
	"ReplaceSymbol":   {`/x/g[Symbol.replace]('x'.repeat(1e6), 'y'.repeat(500))`, "times"},
	"ReplaceMany":     {`'x'.repeat(4e6).replace(/x/g, 'y')`, "times"},
	"Match":           {`'x'.repeat(4e6).match(/./g)`, "times"},
	"MatchGroups":     {`'x'.repeat(4e6).match(/(.)(.)(.)(.)(.)(.)/)`, ""},
	"MatchSymbol":     {`/./g[Symbol.match]('x'.repeat(4e6))`, "times"},
	"MatchAll":        {`[...'x'.repeat(4e6).matchAll(/./g)]`, "more than 65536 matches"},
	"FoundGeneric":    {`RegExp.prototype.exec = RegExp.prototype.exec; 'x'.repeat(2.6e5).replace(/x/g, 'y')`, "times"},
	"FoundOwn":        {`const r = /x/g; r.exec = r.exec; r.flags; 'x'.repeat(2.6e5).match(r)`, "times"},
	"FoundOther":      {`const r = /x/g; Object.defineProperty(r, 'x', {value: 1}); 'x'.repeat(2.6e5).match(r)`, "times"},
	"FoundFlags":      {`const r = /x/g; Object.defineProperty(r, 'flags', {value: 'g'}); 'x'.repeat(2.6e5).match(r)`, "times"},
	"FoundSplit":      {`RegExp.prototype.exec = RegExp.prototype.exec; 'x'.repeat(2.6e5).split(/(x)/)`, "times"},
	"Split":           {`'x'.repeat(4e6).split('')`, "times"},
	"SplitWords":      {`'x '.repeat(2e6).split(' ')`, "times"},
	"SplitPattern":    {`'x '.repeat(2e6).split(/ /)`, "times"},
	"SetText":         {`const a = []; for (;;) a.push(new Set('x'.repeat(1e6).split('')))`, "times"},
	"Backtrack":       {`/^(?=x)(?:x|y)*z/.test('x'.repeat(4e6))`, "a regular expression that backtracks"},
	"BacktrackExec":   {`/^(?=x)(?:(x)|(y))*z/.exec('x'.repeat(4e6))`, "a regular expression that backtracks"},
	"BacktrackSearch": {`'x'.repeat(4e6).search(/^(?=x)(?:x|y)*z/)`, "a regular expression that backtracks"},
	"BacktrackSplit":  {`'x'.repeat(4e6).split(/^(?=x)(?:x|y)*z/)`, "a regular expression that backtracks"},
	"BacktrackBefore": {`const s = 'x'.repeat(4e6); new RegExp('^(?=x)(?:x|y)*z').exec(s)`, "a regular expression that backtracks"},
	"BacktrackSource": {`const s = 'x'.repeat(4e6); new RegExp(/(?:x|y)*z/, 'y').exec(s)`, "a regular expression that backtracks"},
	"PatternLong":     {`new RegExp('x'.repeat(4e6))`, "a regular expression of more than 16384 characters"},
	"PatternCounted":  {`new RegExp('(?:x{1000})?'.repeat(1300))`, "so many repetitions"},
	"PatternMany":     {`const a = []; for (let i = 0;; i++) a.push(new RegExp('(?:x{1000})?'.repeat(100) + i))`, "so many repetitions"},
	"PatternLiteral":  {`/` + strings.Repeat("(?:x{1000})?", 1300) + `/`, "so many repetitions"},
	"PatternMatch":    {`'x'.match('(?:x{1000})?'.repeat(1300))`, "so many repetitions"},
	"PatternCompile":  {`/x/.compile('(?:x{1000})?'.repeat(1300))`, "so many repetitions"},
	"PatternHidden":   {`new (/x/.constructor)('(?:x{1000})?'.repeat(1300))`, "so many repetitions"},
	"Flat":            {`let a = [1, 1]; for (;;) a = [a, a, a, a].flat()`, "nested too deeply, too large"},
	"Parse":           {`JSON.parse('[' + '1,'.repeat(2e6) + '1]')`, "nested too deeply, too large"},
	"ParseLists":      {`JSON.parse('[' + '[],'.repeat(1e6) + '1]')`, "nested too deeply, too large"},
	"ParseObjects":    {`JSON.parse('[' + '{},'.repeat(1e6) + '1]')`, "nested too deeply, too large"},
	"Output":          {`for (;;) output('x'.repeat(1e6))`, "output is larger than"},
	"Recursion":       {`const f = (a) => f([a, a, a]); f(1)`, "function calls are nested too deeply"},
	"FoundGroups":     {`'x'.repeat(2600).replace(/` + strings.Repeat("(x?)", 90) + `/g, 'y')`, ""},
	"BacktrackShort":  {`/^(?=x)(?:x|y)*z/.test('x'.repeat(2e5))`, ""},
	"BacktrackGroups": {`/^(?=x)(?:(?:(?:(x)|(y))(?:)|(z)))*w/.exec('x'.repeat(6.5e4))`, ""},
	"BacktrackLazy":   {`/^(?=x)(?:(?:(x)|(y))+?)+?z/.exec('x'.repeat(1e5))`, ""},
	"UpperCase":       {`'\uFB03'.repeat(2e6).toUpperCase()`, ""},
	"Array":           {`new Array(1e9)`, ""},
	"ArrayLength":     {`const a = [1]; a.length = 4e9; a.push(1)`, ""},
	"ForIn":           {`for (const k in 'x'.repeat(4e6)) break`, ""},
	"ForInList":       {`const a = Array(2.6e5).fill(1); for (const k in a) { for (const l in a) { for (const m in a) break; break } break }`, ""},
	"Stringify":       {`const a = Array(2.6e5).fill('\u0001'); JSON.stringify(a)`, ""},
	"StringifyFilter": {`const s = 'x'.repeat(1e6); JSON.stringify(Array(2.6e5).fill(1), () => s)`, ""},
	"AddKept":         {`const a = []; const s = 'x'.repeat(1e6); for (let i = 0;; i++) a.push(s + i)`, watched},
	"AddKey":          {`const o = {}; let s = 'x'.repeat(1e6); for (let i = 0;; i++) o[s + i] = 1`, watched},
	"AddSuper":        {`class B { }; B.prototype.s = 'x'; class A extends B { m() { for (;;) { super.s += this.s || 'x' } } }; new A().m()`, watched},
	"HiddenName":      {`'x'['re' + 'peat'](1e9)`, "a string of more than 4 MiB"},
	"HiddenIndex":     {`const k = 'repeat'; 'x'?.[k]?.(1e9)`, "a string of more than 4 MiB"},
	"HiddenEscape":    {`'x'.r\u0065peat(1e9)`, "a string of more than 4 MiB"},
	"HiddenPattern":   {`const {['re' + 'peat']: f} = ''; f.call('x', 1e9)`, "a string of more than 4 MiB"},
	"HiddenAssign":    {`let f; ({['re' + 'peat']: f} = ''); f.call('x', 1e9)`, "a string of more than 4 MiB"},
	"HiddenTemplate":  {"'x'[`re${'peat'}`](1e9)", "a string of more than 4 MiB"},
	"HiddenList":      {`const {getOwnPropertyDescriptors: d} = Object; Object.values(d(''.__proto__)).map((x) => x.value).find((f) => f?.name === 're' + 'peat' || f?.call && f.length === 0 && String(f).includes('repeat'))?.call('x', 1e9); 'x'.repeat(1e9)`, "a string of more than 4 MiB"},
	"HiddenSuper":     {`class A extends String { m(k) { return super[k](1e9) } }; new A('x').m('re' + 'peat')`, "a string of more than 4 MiB"},
	"RepeatWide":      {`const a = []; for (;;) a.push('ü'.repeat(4e6))`, watched},
	"BacktrackLast":   {`const r = /(?:(x)|(y))*z/g; r.lastIndex = 1; r.exec('x'.repeat(1.5e5))`, watched},
	"BacktrackSticky": {`const r = /(?:x|y)*z/y; r.lastIndex = 1; r.exec('x'.repeat(2.5e5))`, watched},
	"ArrayMany":       {`const a = []; for (;;) a.push(new Array(2.6e5))`, watched},
	"ArrayFill":       {`const a = []; for (;;) a.push(new Array(2.6e5).fill(1))`, watched},
	"ArrayGrow":       {`const a = []; for (let i = 1;; i *= 1.2) a[Math.floor(i)] = 1`, watched},
	"ArrayIndex":      {`const a = Array.from({length: 2.6e5}); for (let i = 1e6;; i += 3e6) a[i] = 1`, watched},
	"Push":            {`const a = []; for (;;) a.push(1)`, watched},
	"PushMany":        {`const a = Array(2.6e5).fill(1), b = []; for (;;) b.push(...a)`, watched},
	"PushApply":       {`const a = Array(2.6e5).fill(1), b = []; for (;;) b.push.apply(b, a)`, watched},
	"PushOwn":         {`const a = [1]; for (;;) a.push(...a)`, watched},
	"Unshift":         {`const a = Array(1e5).fill(1), b = []; for (;;) b.unshift(...a)`, watched},
	"Spread":          {`let a = [1]; for (;;) a = [...a, ...a]`, watched},
	"SpreadCall":      {`const f = (...a) => a; let a = [1]; for (;;) a = f(...a, ...a)`, watched},
	"SpreadObject":    {`const a = Array(2.6e5).fill(1); const b = []; for (;;) b.push({...a})`, watched},
	"SpreadNew":       {`let a = [1, 2]; for (;;) a = new Array(...a, ...a)`, watched},
	"FromMapped":      {`Array.from({length: 2.6e5}, () => Array(100).fill(1))`, watched},
	"FromSet":         {`const s = new Set(); for (let i = 0; i < 5e5; i++) s.add(i); const a = []; for (;;) a.push(Array.from(s))`, watched},
	"Of":              {`let a = [1]; for (;;) a = Array.of(...a, ...a)`, watched},
	"FlatMap":         {`let a = [1, 1]; for (;;) a = a.flatMap((x) => [x, x])`, watched},
	"Map":             {`const m = new Map(); for (let i = 0;; i++) m.set(i, i)`, watched},
	"MapCopies":       {`let m = new Map(); for (let i = 0; i < 3e5; i++) m.set(i, i); const a = []; for (;;) a.push(new Map(m))`, watched},
	"Set":             {`const m = new Set(); for (let i = 0;; i++) m.add(i)`, watched},
	"WeakMap":         {`const m = new WeakMap(), a = []; for (;;) { const o = {}; a.push(o); m.set(o, {}) }`, watched},
	"Object":          {`const o = {}; for (let i = 0;; i++) o['k' + i] = i`, watched},
	"Capture":         {`const a = []; for (;;) a.push(capture(() => { output('x'.repeat(1e6)) }))`, watched},
	"Closures":        {`const a = []; for (;;) a.push(() => a)`, watched},
	"Errors":          {`const a = []; for (;;) a.push(new Error('x'))`, watched},
	"Dates":           {`const a = []; for (let i = 0;; i++) a.push(new Date(i))`, watched},
	"Promises":        {`const f = () => Promise.resolve().then(f).then(f); for (;;) f()`, watched},
	"Symbols":         {`const a = []; for (let i = 0;; i++) a.push(Symbol('x' + i))`, watched},
	"Registry":        {`for (let i = 0;; i++) Symbol.for('x'.repeat(1e5) + i)`, watched},
	"Global":          {`for (let i = 0;; i++) globalThis['g' + i] = Array(1000).fill(1)`, watched},
	"Data":            {`for (let i = 0;; i++) it['k' + i] = Array(1000).fill(1)`, watched},
	"Numbers":         {`const a = []; for (let i = 0;; i++) a.push((i / 3).toString(2).repeat(1e4))`, watched},
	"FromCharCode":    {`const a = Array(2.6e5).fill(8364); let s = []; for (;;) s.push(String.fromCharCode(...a))`, watched},
	"Arguments":       {`function f() { return arguments.length ? [].concat(...[arguments, arguments].map((a) => [...a])) : [1] }; let a = [1]; for (;;) a = f(...a)`, watched},
	"Thrown":          {`const a = []; for (;;) { try { null.x } catch (e) { a.push(e) } }`, watched},
	"Caught":          {`const a = []; for (let s = 'x';;) { try { s += s } catch { a.push(s); s = 'x' } }`, watched},
}

// TestHungry renders the templates that are stopped before they allocate.
func TestHungry(t *testing.T) {
	s := eta.New(fstest.MapFS{}, eta.Limits{Time: eta.MaxTime})
	for name, tc := range hungry {
		if tc.want == watched {
			continue
		}
		t.Run(name, func(t *testing.T) {
			_, err := s.RenderText(t.Context(), "x.eta", "<% "+tc.code+" %>", nil)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\ngot %v, want %q", tc.code, err, tc.want)
			}
		})
	}
}

// TestMemory renders some of the others, or all with ETA_MEMORY=all, in
// separate processes, and checks the peak memory of each process.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes that use much memory")
	}
	names := []string{"Add", "AddKept", "Caught", "Push", "PushApply", "FromSet", "Map", "Capture", "Promises", "Backtrack"}
	if os.Getenv("ETA_MEMORY") == "all" {
		names = slices.Sorted(maps.Keys(hungry))
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The peak depends on when the watch gets a turn, so on a busy machine the
			// least of some processes counts.
			least := mostMemory + 1
			for attempt := 0; attempt < 4 && least > mostMemory; attempt++ {
				mb, said := grown(t, name)
				t.Logf("%d MB: %s", mb, said)
				least = mb
			}
			if least > mostMemory {
				t.Errorf("%s\ngrew by %d MB, want at most %d MB", hungry[name].code, least, mostMemory)
			}
		})
	}
}

// grown renders a template in a new process, and returns by how many MB the process
// grew and what the render returned.
func grown(t *testing.T, name string) (mb int, said string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMemoryChild$", "-test.v")
	cmd.Env = append(os.Environ(), "ETA_HUNGRY="+name)
	out, err := cmd.CombinedOutput()
	_, after, ok := strings.Cut(string(out), "grown by ")
	if err != nil || !ok {
		t.Fatalf("%s\n%v: %s", hungry[name].code, err, out)
	}
	number, said, _ := strings.Cut(after, " MB: ")
	said, _, _ = strings.Cut(said, "\n")
	if mb, err = strconv.Atoi(number); err != nil {
		t.Fatal(err)
	}
	return mb, said
}

// TestMemoryChild is the main function of these processes.
func TestMemoryChild(t *testing.T) {
	name := os.Getenv("ETA_HUNGRY")
	if name == "" {
		t.Skip("runs only as a subprocess of TestMemory")
	}
	s := eta.New(fstest.MapFS{}, eta.Limits{})
	// Memory that is allocated once does not belong to the template.
	if _, err := s.RenderText(t.Context(), "x.eta", "<%= [1].map((x) => `${x}` + /x/.test('x')) %>", nil); err != nil {
		t.Fatal(err)
	}
	before := struct{ memory, goroutines int }{memory(t, "VmRSS:"), runtime.NumGoroutine()}
	_, err := s.RenderText(t.Context(), "x.eta", "<% "+hungry[name].code+" %>", nil)
	// A runtime that did not stop is abandoned, and keeps running for a while.
	for range 100 {
		if runtime.NumGoroutine() <= before.goroutines {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	fmt.Printf("grown by %d MB: %.200v\n", max(0, memory(t, "VmHWM:")-before.memory), err)
}

// memory returns a line of the memory statistics of the process, in MB.
func memory(t *testing.T, line string) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	for at := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(at, line); ok {
			kb, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			if err != nil {
				t.Fatal(err)
			}
			return kb >> 10
		}
	}
	t.Fatal("no " + line)
	return 0
}
