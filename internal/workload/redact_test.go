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
		"Text":       {"A field that is named like a secret is hidden.", `{"spec":{"adminPassword":"x","user":"y"}}`, `{"spec":{"adminPassword":"(hidden)","user":"y"}}`},
		"List":       {"So are the items of a list.", `{"spec":{"apiTokens":["a",1],"ports":["b"]}}`, `{"spec":{"apiTokens":["(hidden)","(hidden)"],"ports":["b"]}}`},
		"Map":        {"So are the texts of a map, at any depth.", `{"spec":{"credentials":{"user":"x","more":[{"value":"y"}]}}}`, `{"spec":{"credentials":{"user":"(hidden)","more":[{"value":"(hidden)"}]}}}`},
		"Volume":     {"What says where a secret is stays.", `{"secret":{"secretName":"a","defaultMode":420,"items":[{"key":"b","path":"c"}]}}`, `{"secret":{"secretName":"a","defaultMode":420,"items":[{"key":"b","path":"c"}]}}`},
		"Projected":  {"So does the description of a token.", `{"serviceAccountToken":{"audience":"a","expirationSeconds":3607,"path":"token"}}`, `{"serviceAccountToken":{"audience":"a","expirationSeconds":3607,"path":"token"}}`},
		"PullSecret": {"A list of Secrets has names.", `{"imagePullSecrets":[{"name":"a"}]}`, `{"imagePullSecrets":[{"name":"a"}]}`},
		"Reference":  {"A reference has a name and a key.", `{"passwordSecretRef":{"name":"a","key":"b"}}`, `{"passwordSecretRef":{"name":"a","key":"b"}}`},
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
