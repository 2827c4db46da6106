package service_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/test/sample"
	"example.dev/ingestor/test/size"
)

// mostMemory is the memory limit of a service that ingests a folder or receives
// a push, however large.
const mostMemory = 250 << 20

// TestFolderMemory checks the memory of a service that ingests a folder of
// 3,000 definitions in JSON, or of 30,000 at full size. Files are read in
// pages, so memory does not grow with their number.
func TestFolderMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("peak memory of a process is known on Linux only")
	}
	n := size.Of(3000, 30_000)
	at := t.TempDir()
	writeDefinitions(t, at, n)
	p := launch(t, setup{sections: sections{"composerIngestor": sections{
		"schedule": sections{"frequency": "1h", "timeout": "1h"},
		"sources":  []any{sections{"name": "files", "type": "file", "path": at}},
	}}}).ready()
	begun := time.Now()
	for deadline := begun.Add(time.Duration(n) * 100 * time.Millisecond); ; time.Sleep(500 * time.Millisecond) {
		if h := p.health(); h.EntitiesGenerated == 3*n {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("service generated %d entities, want %d", p.health().EntitiesGenerated, 3*n)
		}
	}
	peak := peakMemory(t, p.PID())
	t.Logf("peak memory with %d files was %d MB, after %v", n, peak>>20, time.Since(begun).Round(time.Second))
	if peak > mostMemory {
		t.Errorf("peak memory with %d files was %d MB, want at most %d MB", n, peak>>20, mostMemory>>20)
	}
}

// TestPushMemory pushes many times the memory that the process may use: the
// push is buffered in a temporary file and written in parts.
func TestPushMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("peak memory of a process is known on Linux only")
	}
	n := size.Of(4000, 100_000)
	about := strings.Repeat("text that no one searches for, ", 200_000_000/n/31)
	var body bytes.Buffer
	for i := range n {
		fmt.Fprintf(&body, `{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"c%d"},"spec":{"type":"service","lifecycle":"production","owner":"team-a","about":%q}}`+"\n", i, about)
	}
	p := launch(t, setup{}).ready()
	for _, want := range []string{fmt.Sprintf(`"added":%d,"updated":0,"removed":0,"unchanged":0`, n), fmt.Sprintf(`"added":0,"updated":0,"removed":0,"unchanged":%d`, n)} {
		if got := p.push(body.Bytes()); !strings.Contains(got, want) {
			t.Fatalf("push returned %s, want %s", got, want)
		}
	}
	peak := peakMemory(t, p.PID())
	t.Logf("%d entities with %d MB in total: peak memory %d MB", n, body.Len()>>20, peak>>20)
	if peak > mostMemory {
		t.Errorf("%d entities with %d MB in total: peak memory was %d MB, want at most %d MB", n, body.Len()>>20, peak>>20, mostMemory>>20)
	}
}

// push pushes all entities of a provider and returns the response.
func (s *service) push(body []byte) string {
	s.t.Helper()
	said, err := s.pushTo("tests", body)
	if err != nil {
		s.t.Fatal(err)
	}
	return said
}

// pushTo pushes all entities of a provider, and returns the response.
func (s *service) pushTo(provider string, body []byte) (string, error) {
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPut, s.base+"/api/catalog/providers/"+provider+"/entities", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+theToken)
	req.Header.Set("Content-Type", "application/x-ndjson")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	said, err := io.ReadAll(resp.Body)
	return string(said), err
}

// writeDefinitions writes definitions in JSON, one per file.
func writeDefinitions(t *testing.T, at string, n int) {
	t.Helper()
	for i := range n {
		docs, errs := parser.DecodeBytes(sample.Definition(i))
		if len(docs) != 1 || len(errs) > 0 {
			t.Fatal(errs)
		}
		text := tree.AppendJSON(nil, docs[0], "")
		if err := os.WriteFile(filepath.Join(at, fmt.Sprintf("d%05d.json", i)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// peakMemory returns the peak memory of a process in bytes.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		t.Fatalf("VmHWM is missing in %s", data)
	}
	kB, err := strconv.Atoi(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	return kB << 10
}
