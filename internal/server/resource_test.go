package server

import (
	"errors"
	"fmt"
	"testing"

	"example.dev/ingestor/action"
	"example.dev/ingestor/internal/resource"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd/composed"
)

func TestReadFault(t *testing.T) {
	o := resource.Object{Cluster: "prod", Ref: composed.Ref{APIVersion: "example.org/v1", Kind: "Shop", Namespace: "team-a", Name: "invoices"}}
	down := &cluster.Error{Cluster: "prod", Doing: "read Shop invoices", Reason: cluster.Unreachable, Err: errors.New("no route to host")}
	scope := action.Errorf("remove metadata.namespace", "namespace %q is set, but the kind is cluster-scoped", "team-a")
	cases := map[string]struct {
		reason string
		err    error
		// status is 0 if the error is left to the API.
		status  int
		message string
	}{
		"Scope":  {"An object that the cluster cannot have is not found, and the message says why.", scope, 404, `Cannot read Shop invoices in cluster prod: namespace "team-a" is set, but the kind is cluster-scoped`},
		"Denied": {"A denied permission is named.", fmt.Errorf("step: %w", &action.Denied{Message: "Missing permission"}), 403, "Missing permission"},
		"Down":   {"The API describes an outage.", action.Errorf("check the network", "cannot read: %w", down), 0, ""},
		"Other":  {"Other errors are defects.", errors.New("broken"), 0, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := readFault(o, tc.err)
			f, ok := errors.AsType[*rest.Fault](got)
			switch {
			case tc.status == 0 && !errors.Is(got, tc.err):
				t.Errorf("%s Got %v", tc.reason, got)
			case tc.status != 0 && (!ok || f.Status != tc.status || f.Message != tc.message):
				t.Errorf("%s Got %v", tc.reason, got)
			}
		})
	}
}
