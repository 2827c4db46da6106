package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/sink"
)

func template(name string) *entity.Entity {
	return &entity.Entity{
		APIVersion: "scaffolder.portal.io/v1beta3", Kind: entity.KindTemplate,
		Metadata: entity.Metadata{Name: name, Description: "two\nlines"},
		Spec:     tree.Obj(tree.F("type", tree.Str("composer-xrd"))),
	}
}

func TestWrite(t *testing.T) {
	cases := map[string]struct {
		reason   string
		format   sink.Format
		entities []*entity.Entity
		want     string
	}{
		"YAML": {
			reason: "Each document has a separator.", entities: []*entity.Entity{template("a"), template("b")},
			want: `---
apiVersion: scaffolder.portal.io/v1beta3
kind: Template
metadata:
  name: a
  description: |-
    two
    lines
spec:
  type: composer-xrd
---
apiVersion: scaffolder.portal.io/v1beta3
kind: Template
metadata:
  name: b
  description: |-
    two
    lines
spec:
  type: composer-xrd
`,
		},
		"JSON": {
			reason: "Each object is one line.", format: sink.JSON, entities: []*entity.Entity{template("a"), template("b")},
			want: `{"apiVersion":"scaffolder.portal.io/v1beta3","kind":"Template","metadata":{"name":"a","description":"two\nlines"},"spec":{"type":"composer-xrd"}}
{"apiVersion":"scaffolder.portal.io/v1beta3","kind":"Template","metadata":{"name":"b","description":"two\nlines"},"spec":{"type":"composer-xrd"}}
`,
		},
		"Nothing": {reason: "Without entities nothing is written."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := New(&out, tc.format).Write(t.Context(), tc.entities); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestChunks writes more than one chunk.
func TestChunks(t *testing.T) {
	var es []*entity.Entity
	for i := range 3000 {
		es = append(es, template(fmt.Sprintf("t%d", i)))
	}
	var out bytes.Buffer
	if err := New(&out, sink.JSON).Write(t.Context(), es); err != nil {
		t.Fatal(err)
	}
	i := 0
	for line := range strings.Lines(out.String()) {
		var got struct{ Metadata struct{ Name string } }
		if err := json.Unmarshal([]byte(line), &got); err != nil || got.Metadata.Name != es[i].Metadata.Name {
			t.Fatalf("line %d: %v, %q", i, err, line)
		}
		i++
	}
	if i != len(es) {
		t.Errorf("got %d lines, want %d", i, len(es))
	}
}

// TestBrokenPipe writes to a pipe whose reader is closed.
func TestBrokenPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // the test is over
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	err = New(w, sink.YAML).Write(t.Context(), []*entity.Entity{template("a")})
	if !errors.Is(err, syscall.EPIPE) || !strings.HasPrefix(err.Error(), "cannot write entities: ") {
		t.Errorf("Write returned %v, want a broken pipe", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	err := New(&out, sink.YAML).Write(ctx, []*entity.Entity{template("a")})
	if !errors.Is(err, context.Canceled) || out.Len() > 0 {
		t.Errorf("Write: %v after %q", err, out.String())
	}
}
