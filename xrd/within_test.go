package xrd

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWithin(t *testing.T) {
	const text = `{apiVersion: example.org/v1, kind: A, metadata: {name: red, namespace: red}}
---
{apiVersion: example.org/v1, kind: A, metadata: {name: blue, namespace: blue}}
---
{apiVersion: example.org/v1, kind: XA, metadata: {name: whole}}
---
{apiVersion: example.org/v1, kind: XA, metadata: {name: claimed-red}, spec: {claimRef: {namespace: red}}}
---
{apiVersion: example.org/v1, kind: XA, metadata: {name: claimed-blue}, spec: {claimRef: {namespace: blue}}}
`
	cases := map[string]struct {
		reason     string
		namespaces []string
		want       []string
	}{
		"All":  {"Without namespaces all composites are selected.", nil, []string{"red", "blue", "whole", "claimed-red", "claimed-blue"}},
		"One":  {"A cluster-scoped composite has the namespace of its claim.", []string{"red"}, []string{"red", "whole", "claimed-red"}},
		"None": {"A cluster-scoped composite without a claim is always selected.", []string{"green"}, []string{"whole"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			set := &Set{}
			if err := set.Read(strings.NewReader(text), Origin{}); err != nil {
				t.Fatal(err)
			}
			set.Within(tc.namespaces)
			var got []string
			for _, o := range set.Others {
				got = append(got, o.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}
