package engine

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
		"Password":    {"A field that holds a password is hidden.", `{"spec":{"adminPassword":"x","user":"y"}}`, `{"spec":{"adminPassword":"(hidden)","user":"y"}}`},
		"Number":      {"A password may be a number.", `{"password":1234}`, `{"password":"(hidden)"}`},
		"List":        {"The items of a list are hidden.", `{"apiTokens":["a","b"]}`, `{"apiTokens":["(hidden)","(hidden)"]}`},
		"Map":         {"The values of a map are hidden.", `{"credentials":{"ci":"x","nested":{"y":"z"}}}`, `{"credentials":{"ci":"(hidden)","nested":{"y":"(hidden)"}}}`},
		"Key":         {"A key is secret depending on what it is for.", `{"accessKey":"x","partitionKey":"y"}`, `{"accessKey":"(hidden)","partitionKey":"y"}`},
		"Reference":   {"A reference to a Secret is a name.", `{"passwordSecretRef":{"name":"a","key":"b"},"secret":{"secretName":"a","namespace":"b"},"secretName":"c"}`, `{"passwordSecretRef":{"name":"a","key":"b"},"secret":{"secretName":"a","namespace":"b"},"secretName":"c"}`},
		"Within":      {"The word may be within the name.", `{"credentialsJson":"x","connectionString":"y"}`, `{"credentialsJson":"(hidden)","connectionString":"(hidden)"}`},
		"Setting":     {"A setting of a token is not the token.", `{"tokenLifetime":"5m","passwordLength":20}`, `{"tokenLifetime":"5m","passwordLength":20}`},
		"LastApplied": {"kubectl's copy would show it.", `{"metadata":{"annotations":{"a":"b","kubectl.kubernetes.io/last-applied-configuration":"{\"password\":1}"}}}`, `{"metadata":{"annotations":{"a":"b"}}}`},
		"Document":    {"Other tools keep copies too.", `{"metadata":{"annotations":{"kapp.k14s.io/original":" {\"spec\":{\"password\":1}}","list":"[1]","a":"b"}}}`, `{"metadata":{"annotations":{"kapp.k14s.io/original":"(hidden)","list":"(hidden)","a":"b"}}}`},
		"MapOfLists":  {"The values of a map are hidden at any depth.", `{"credentials":{"user":"x","more":[{"value":"y"}]},"ports":["b"]}`, `{"credentials":{"user":"(hidden)","more":[{"value":"(hidden)"}]},"ports":["b"]}`},
		"Volume":      {"The name of a Secret and where it is mounted are shown.", `{"secret":{"secretName":"a","defaultMode":420,"items":[{"key":"b","path":"c"}]}}`, `{"secret":{"secretName":"a","defaultMode":420,"items":[{"key":"b","path":"c"}]}}`},
		"Projected":   {"The description of a token is shown.", `{"serviceAccountToken":{"audience":"a","expirationSeconds":3607,"path":"token"}}`, `{"serviceAccountToken":{"audience":"a","expirationSeconds":3607,"path":"token"}}`},
		"PullSecret":  {"The names in a list of Secrets are shown.", `{"imagePullSecrets":[{"name":"a"}]}`, `{"imagePullSecrets":[{"name":"a"}]}`},
		"Mixed":       {"The items of a list may be texts and numbers.", `{"apiTokens":["a",1]}`, `{"apiTokens":["(hidden)","(hidden)"]}`},
		"Empty":       {"An empty value says that there is none.", `{"password":"","token":null,"secret":true}`, `{"password":"","token":null,"secret":true}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			n, err := wire.Decoder{}.Decode([]byte(tc.give))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(tree.AppendJSON(nil, Redact(n), ""))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.give, string(tree.AppendJSON(nil, n, ""))); diff != "" {
				t.Errorf("the object itself was changed (-want +got):\n%s", diff)
			}
		})
	}
}
