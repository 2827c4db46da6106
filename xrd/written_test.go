package xrd_test

import (
	"testing"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/xrd"
)

func TestWritten(t *testing.T) {
	const spec = `fieldsV1: {"f:spec": {"f:size": {}}}`
	cases := map[string]struct {
		reason, managed string
		version         string
		composed        bool
	}{
		"None":       {"Without managed fields it is not known.", "", "", false},
		"One":        {"The version of the author counts.", `{manager: kubectl, apiVersion: e.org/v1, time: "2026-01-02T00:00:00Z", ` + spec + `}`, "v1", false},
		"Latest":     {"Of several authors the last one counts, in any order.", `{manager: argocd, apiVersion: e.org/v2, time: "2026-01-03T00:00:00Z", ` + spec + `}, {manager: kubectl, apiVersion: e.org/v1, time: "2026-01-02T00:00:00Z", ` + spec + `}`, "v2", false},
		"Labels":     {"A label is not the spec.", `{manager: kubectl, apiVersion: e.org/v1, time: "2026-01-02T00:00:00Z", ` + spec + `}, {manager: labeler, apiVersion: e.org/v2, time: "2026-01-03T00:00:00Z", fieldsV1: {"f:metadata": {}}}`, "v1", false},
		"Status":     {"Nor is the status.", `{manager: kubectl, apiVersion: e.org/v1, time: "2026-01-02T00:00:00Z", ` + spec + `}, {manager: x, subresource: status, apiVersion: e.org/v2, time: "2026-01-03T00:00:00Z", ` + spec + `}`, "v1", false},
		"Crossplane": {"Crossplane's bookkeeping does not count.", `{manager: kubectl, apiVersion: e.org/v1, time: "2026-01-02T00:00:00Z", ` + spec + `}, {manager: crossplane, apiVersion: e.org/v2, time: "2026-01-03T00:00:00Z", ` + spec + `}, {manager: apiextensions.crossplane.io/composite, apiVersion: e.org/v2, time: "2026-01-03T00:00:00Z", ` + spec + `}`, "v1", false},
		"Composed":   {"A Composition writes a part of another composite.", `{manager: apiextensions.crossplane.io/composed/abc, apiVersion: e.org/v1, time: "2026-01-02T00:00:00Z", ` + spec + `}`, "v1", true},
		"Both":       {"An author of a part counts more than its Composition.", `{manager: apiextensions.crossplane.io/composed/abc, apiVersion: e.org/v1, time: "2026-01-03T00:00:00Z", ` + spec + `}, {manager: kubectl, apiVersion: e.org/v2, time: "2026-01-02T00:00:00Z", ` + spec + `}`, "v2", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			docs, errs := parser.DecodeBytes([]byte("managedFields: [" + tc.managed + "]"))
			if len(errs) > 0 {
				t.Fatal(errs[0])
			}
			if version, composed := xrd.Written(docs[0]); version != tc.version || composed != tc.composed {
				t.Errorf("%s: got %q, %v, want %q, %v", tc.reason, version, composed, tc.version, tc.composed)
			}
		})
	}
}
