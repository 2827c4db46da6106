package eta

import "github.com/grafana/sobek"

// utcDates creates a Date class that uses UTC everywhere: the same template must give
// the same text wherever it is rendered, and the engine's class uses the time zone of
// the process. A text without a zone is also parsed as UTC.
var utcDates = sobek.MustCompile("date", `(Old) => {
	const proto = Old.prototype
	const put = (name, f) => Object.defineProperty(proto, name, { value: f, writable: true, configurable: true })
	for (const part of ['Date', 'Day', 'FullYear', 'Hours', 'Milliseconds', 'Minutes', 'Month', 'Seconds']) {
		put('get' + part, proto['getUTC' + part])
		if (part !== 'Day') put('set' + part, proto['setUTC' + part])
	}
	put('getTimezoneOffset', function () { return 0 * this.getTime() })
	for (const name of ['toString', 'toLocaleString']) put(name, proto.toUTCString)
	for (const name of ['toDateString', 'toLocaleDateString']) put(name, function () { return this.toISOString().slice(0, -14) })
	for (const name of ['toTimeString', 'toLocaleTimeString']) put(name, function () { return this.toISOString().slice(-13, -5) })
	const parse = (text) => {
		for (const zone of ['Z', ' GMT']) {
			const time = Old.parse(text + zone)
			if (!isNaN(time)) return time
		}
		return Old.parse(text)
	}
	function Date(...args) {
		if (args.length > 1) return new Old(Old.UTC(...args))
		return typeof args[0] === 'string' ? new Old(parse(args[0])) : new Old(...args)
	}
	Date.prototype = proto
	put('constructor', Date)
	return Object.assign(Date, { UTC: Old.UTC, now: Old.now, parse })
}`, false)

// dates returns the Date class of templates, derived from the engine's.
func (r *run) dates(old sobek.Value) sobek.Value {
	v, err := r.vm.RunProgram(utcDates)
	r.must(err)
	f, _ := sobek.AssertFunction(v)
	v, err = f(sobek.Undefined(), old)
	r.must(err)
	return v
}
