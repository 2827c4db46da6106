package transform

import (
	"context"
	"fmt"

	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/file"
	"example.dev/ingestor/xrd"
)

// source is where the inputs are looked for.
func (in *inputs) source(v *output.Output) *file.Source {
	paths := in.paths
	if len(paths) == 0 {
		paths = []string{file.Stdin}
	}
	return file.New(paths, file.Options{Recursive: in.recursive, Stdin: v.Env.Stdin, Skipped: func(path, why string) {
		if v.Detailed() {
			v.Sayf("passed over %s: %s", term.Safe(path), why)
		}
	}})
}

// each hands out what the inputs hold, one after the other, until take returns
// false or ctx ends. The error joins what could not be read.
func (in *inputs) each(ctx context.Context, v *output.Output, take func(xrd.Found) bool) error {
	return source.Walk(ctx, in.source(v), take)
}

// empty says why an input held no definition.
func (t *tally) empty() string {
	if t.documents == 0 {
		return "the input is empty"
	}
	return fmt.Sprintf("%s read, no %s among them", output.Count(t.documents, "document", "documents"), xrd.KindDefinition)
}
