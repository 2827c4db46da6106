package ingest

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"example.dev/ingestor/internal/ingestion/variant"
)

// TestDebugLog checks that the log at level debug names each list, file and
// definition that was read or skipped, with the reason, and no credential.
func TestDebugLog(t *testing.T) {
	t.Parallel()
	a := stand(t)
	a.put(t, definition("as", "one"), 50)
	a.put(t, unlabelled("bs"), 51)
	files := &fakeSource{}
	files.set("c.yaml", definition("cs", "one")+"---\n"+unlabelled("ds"))
	files.set("e.yaml", "a: [1\n")
	out := &bytes.Buffer{}
	b := abroad(t, a, func(o *Options) {
		o.Variants[0].Log = slog.New(slog.NewTextHandler(&locked{to: out}, &slog.HandlerOptions{Level: slog.LevelDebug}))
		o.Variants[0].Folders = []variant.Folder{{Name: "files", Source: files}}
	})
	b.visits(t)
	b.visits(t)
	if _, err := b.read(t, "files"); err == nil {
		t.Error("scan of a broken file returned no error")
	}
	for _, want := range []string{
		`msg="list read" source=composerIngestor/prod list="definitions compositeresourcedefinitions.apiextensions.crossplane.io" objects=2`,
		`msg="definition listed" source=composerIngestor/prod definition=as.example.org selected=true`,
		`msg="definition listed" source=composerIngestor/prod definition=bs.example.org selected=false why="label openportal.dev/ingest: \"true\" is missing"`,
		`msg="object skipped" source=composerIngestor/prod list="definitions compositeresourcedefinitions.apiextensions.crossplane.io" object=as.example.org why=unchanged`,
		`msg="definition read" source=composerIngestor/sources/files definition=cs.example.org file=c.yaml selected=true`,
		`msg="definition read" source=composerIngestor/sources/files definition=ds.example.org file=c.yaml selected=false why=`,
		`msg="file read" source=composerIngestor/sources/files file=c.yaml objects=2`,
		`msg="document skipped" source=composerIngestor/sources/files at=e.yaml:2:1 why=`,
		`msg="scan ended" source=composerIngestor/sources/files definitions=2 selected=1`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("log lacks %s", want)
		}
	}
	if strings.Contains(out.String(), "theirs") {
		t.Error("log contains the token")
	}
	if t.Failed() {
		t.Log(out)
	}
}
