package parser

import (
	"fmt"
	"io"
	"testing"
	"time"

	"example.dev/ingestor/document/tree"
)

// TestDecodeLive checks that a value is returned as soon as its line is
// complete, without waiting for the next line, because a writer may pause
// between values.
func TestDecodeLive(t *testing.T) {
	in, out := io.Pipe()
	got := make(chan string)
	ended := make(chan error, 1)
	go func() {
		ended <- Decode(in, Limits{}, func(n *tree.Node, err *Error) bool {
			if err != nil {
				got <- err.Error()
				return true
			}
			got <- fmt.Sprintf("%s %d:%d", n.Get("a").Str(), n.Pos.Line, n.Pos.Column)
			return true
		})
	}()
	for _, step := range []struct{ write, want string }{{"{\"a\":\"one\"}\n", "one 1:1"}, {"{\"a\":\"two\"}\n", "two 2:1"}} {
		if _, err := io.WriteString(out, step.write); err != nil {
			t.Fatal(err)
		}
		select {
		case v := <-got:
			if v != step.want {
				t.Errorf("got %q, want %q", v, step.want)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("value %q was not returned in time", step.want)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
