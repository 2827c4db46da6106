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

// source returns the source of the inputs.
func (in *inputs) source(v *output.Output) *file.Source {
	paths, why := in.paths, output.Named
	if len(paths) == 0 {
		paths, why = []string{file.Stdin}, output.Unnamed
	}
	v.ReadingFiles(paths, why)
	return file.New(paths, file.Options{Recursive: in.recursive, Stdin: v.Env.Stdin, Skipped: func(path, why string) {
		if v.Detailed() {
			v.Sayf("skipped %s: %s", term.Safe(path), why)
		}
	}})
}

// each calls take for each object of the inputs, until take returns false or ctx
// ends. The error joins the read errors.
func (in *inputs) each(ctx context.Context, v *output.Output, take func(xrd.Found) bool) error {
	return source.Walk(ctx, in.source(v), take)
}

// empty returns why an input held no definition.
func (t *tally) empty() string {
	if t.documents == 0 {
		return "the input is empty"
	}
	return fmt.Sprintf("%s read, no %s among them", output.Count(t.documents, "document", "documents"), xrd.KindDefinition)
}
