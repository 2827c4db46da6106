package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
)

func TestRedact(t *testing.T) {
	tests := map[string]struct {
		reason, give, want string
	}{
		"Named":       {"A field that is named like a secret is hidden.", `{"spec":{"adminPassword":"x","user":"y"}}`, `{"spec":{"adminPassword":"(hidden)","user":"y"}}`},
		"Data":        {"The values of a ConfigMap are hidden, its keys are not.", `{"data":{"a":"x"},"binaryData":{"b":"eA=="}}`, `{"data":{"a":"(hidden)"},"binaryData":{"b":"(hidden)"}}`},
		"Environment": {"So are the values of variables.", `{"env":[{"name":"A","value":"x"},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"y"}}}]}`, `{"env":[{"name":"A","value":"(hidden)"},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"y"}}}]}`},
		"Command":     {"A command line is left out.", `{"containers":[{"name":"a","command":["run"],"args":["--password=x"]}]}`, `{"containers":[{"name":"a"}]}`},
		"Header":      {"The values of headers are hidden.", `{"httpGet":{"httpHeaders":[{"name":"Authorization","value":"x"}]}}`, `{"httpGet":{"httpHeaders":[{"name":"Authorization","value":"(hidden)"}]}}`},
		"Annotation":  {"An annotation that is a document may be a copy of the object.", `{"metadata":{"annotations":{"a":"{}","b":" [1]","c":"d"},"managedFields":[{"manager":"e"}]}}`, `{"metadata":{"annotations":{"c":"d"}}}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			n, err := wire.Decoder{}.Decode([]byte(tc.give))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(tree.AppendJSON(nil, redact(n), ""))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
