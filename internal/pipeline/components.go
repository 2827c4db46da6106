package pipeline

import (
	"fmt"
	"maps"
	"runtime/debug"
	"slices"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// components builds the Components of workloads, sorted by id.
func (r *run) components(workloads []*xrd.Object) {
	r.report.Workloads = len(workloads)
	byID := map[string][]*xrd.Object{}
	for _, w := range workloads {
		for _, label := range words.Spellings(words.Key, words.LabelClusterID) {
			if id := w.Node.Get("metadata", "labels", label).Str(); id != "" {
				byID[id] = append(byID[id], w)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		res, withheld := Component(r.Engine, id, byID[id], r.Panicked)
		// With two spellings of the label, one workload may be listed twice; it counts
		// once.
		o := outcome{Result: res, withheld: withheld, name: id, origin: byID[id][0].Origin}
		r.report.Findings = append(append(r.report.Findings, res.Findings...), r.keep(&o)...)
		r.report.Withheld = append(r.report.Withheld, withheld...)
	}
}

// Component builds the entities of the workloads with one id, without those that the
// catalog would refuse, whose references are withheld. A hook that fails on them does
// not affect others: the failure is a finding of RuleInternal.
func Component(e *engine.Engine, id string, workloads []*xrd.Object, panicked func(of string, stack []byte)) (res engine.Result, withheld []string) {
	file := workloads[0].Origin.File
	failed := func(message string) finding.Finding {
		return finding.Finding{
			Rule: RuleInternal, Severity: finding.Error, Object: id, File: file,
			Message: Failed + message, Hint: "other components are not affected",
		}
	}
	defer func() {
		if p := recover(); p != nil {
			if panicked != nil {
				panicked(id, debug.Stack())
			}
			res, withheld = engine.Result{Findings: []finding.Finding{failed(fmt.Sprint(p))}}, nil
		}
	}()
	res, err := e.Component(id, workloads)
	if err != nil {
		res.Findings = append(res.Findings, failed(err.Error()))
	}
	return checked(res, file, tree.Pos{})
}
