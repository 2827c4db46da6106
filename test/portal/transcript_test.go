package portal_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// transcript is a request to Backstage with its response.
type transcript struct {
	// name is the name of the file without its extension.
	name   string
	method string
	// path includes the query.
	path   string
	header http.Header
	body   string

	status int
	answer http.Header
	got    []byte
}

// number returns the number at the start of the name, by which transcripts are
// sorted.
func (tr *transcript) number() int {
	n, _, _ := strings.Cut(tr.name, "-")
	i, _ := strconv.Atoi(n)
	return i
}

// recorded is the URL of Backstage during the recording, recordedFiles the URL
// of the files that it read.
const (
	recorded      = "http://127.0.0.1:7007"
	recordedFiles = "http://127.0.0.1:18001/_files"
)

// readTranscripts reads the transcripts of the folder INGESTOR_TRANSCRIPTS in
// order. Transcripts whose request is described in prose have no path.
func readTranscripts(t *testing.T) []*transcript {
	t.Helper()
	dir := os.Getenv("INGESTOR_TRANSCRIPTS")
	if dir == "" {
		t.Skip("INGESTOR_TRANSCRIPTS is not set; it names the folder with recorded responses")
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts found in %s", dir)
	}
	var all []*transcript
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(data, []byte("$ ")) {
			continue // The file has the content of a token, not an exchange.
		}
		tr, err := parseTranscript(data)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		tr.name = strings.TrimSuffix(filepath.Base(path), ".txt")
		tr.got = asJSON(t, tr.answer, tr.got)
		all = append(all, tr)
	}
	slices.SortFunc(all, func(a, b *transcript) int { return a.number() - b.number() })
	return all
}

// parseTranscript parses a line with a command, and the response after it.
func parseTranscript(data []byte) (*transcript, error) {
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	command, answer, _ := bytes.Cut(data, []byte("\n"))
	tr := &transcript{method: http.MethodGet, header: http.Header{}}
	if err := tr.command(string(command)); err != nil {
		return nil, err
	}
	head, body, _ := bytes.Cut(answer, []byte("\n\n"))
	lines := bufio.NewScanner(bytes.NewReader(head))
	lines.Buffer(nil, 1<<20)
	lines.Scan()
	if _, err := fmt.Sscanf(lines.Text(), "HTTP/1.1 %d", &tr.status); err != nil {
		return nil, fmt.Errorf("cannot parse the status %q: %w", lines.Text(), err)
	}
	tr.answer = http.Header{}
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ":")
		tr.answer.Add(key, strings.TrimSpace(value))
	}
	tr.got = bytes.TrimSpace(body)
	return tr, lines.Err()
}

// command parses a curl command.
func (tr *transcript) command(line string) error {
	args := shellWords(strings.TrimPrefix(line, "$ "))
	if len(args) == 0 || args[0] == "#" {
		return nil
	}
	for i := 1; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "-i" || arg == "-N":
		case strings.HasPrefix(arg, "http"):
			tr.path = strings.TrimPrefix(arg, recorded)
		case i+1 == len(args):
			return fmt.Errorf("cannot parse %q: %s has no value", line, arg)
		default:
			i++
			switch value := args[i]; arg {
			case "-X":
				tr.method = value
			case "-d":
				tr.body = value
			case "-H":
				key, text, _ := strings.Cut(value, ":")
				tr.header.Add(key, strings.TrimSpace(text))
			case "--max-time", "-m":
			default:
				return fmt.Errorf("cannot parse %q: %s is unknown", line, arg)
			}
		}
	}
	return nil
}

// shellWords splits a line like a shell in which every special character is
// escaped by a backslash; quotes are ordinary characters.
func shellWords(line string) []string {
	var words []string
	var word strings.Builder
	inside := false
	end := func() {
		if inside {
			words = append(words, word.String())
		}
		word.Reset()
		inside = false
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == ' ':
			end()
			continue
		case c == '\\' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
		default:
			word.WriteByte(c)
		}
		inside = true
	}
	end()
	return words
}

// asJSON returns a body as JSON: a stream of events becomes a list, each with
// its type and data.
func asJSON(t *testing.T, header http.Header, body []byte) []byte {
	t.Helper()
	if !strings.HasPrefix(header.Get("Content-Type"), "text/event-stream") {
		return body
	}
	type event struct {
		Event string          `json:"event"`
		Data  json.RawMessage `json:"data"`
	}
	events := []event{}
	for _, text := range strings.Split(strings.TrimSpace(string(body)), "\n\n") {
		kind, data, ok := strings.Cut(text, "\ndata: ")
		if kind, is := strings.CutPrefix(kind, "event: "); ok && is {
			events = append(events, event{kind, json.RawMessage(data)})
			continue
		}
		t.Fatalf("no event in %s", text)
	}
	out, err := json.Marshal(events)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// shape returns the structure of a JSON value: the keys of objects, the types
// of values, and for lists the shape of the first item.
func shape(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[key] = shape(value)
		}
		return out
	case []any:
		if len(v) == 0 {
			return []any{}
		}
		return []any{shape(v[0])}
	case nil:
		return "null"
	case json.Number, float64:
		return "number"
	default:
		return fmt.Sprintf("%T", v)
	}
}

func TestTranscript(t *testing.T) {
	reason := "a command and a response are parsed as shell and curl do"
	tr, err := parseTranscript([]byte(`$ curl -i -X POST http://127.0.0.1:7007/api/x\?a=b\&c=d -H Authorization:\ Bearer\ <TOKEN> -d \{\"a\ b\":\"c"\}` +
		"\nHTTP/1.1 409 Conflict\r\nContent-Type: application/json\r\nlink: <x>\r\n\r\n{\"a\":1}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := transcript{
		method: "POST", path: "/api/x?a=b&c=d", header: http.Header{"Authorization": {"Bearer <TOKEN>"}}, body: `{"a b":"c"}`,
		status: 409, answer: http.Header{"Content-Type": {"application/json"}, "Link": {"<x>"}}, got: []byte(`{"a":1}`),
	}
	if diff := cmp.Diff(want, *tr, cmp.AllowUnexported(transcript{})); diff != "" {
		t.Errorf("%s:\n%s", reason, diff)
	}
}

func TestShape(t *testing.T) {
	cases := map[string]struct{ reason, in, want string }{
		"values": {"The content of a value does not matter.", `{"a":"x","b":[1,2],"c":null}`, `{"a":"string","b":["number"],"c":"null"}`},
		"lists":  {"The first item stands for all items of a list.", `[[],[{"a":true}]]`, `[[]]`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(shape(decode(t, []byte(tc.in))))
			if err != nil || string(got) != tc.want {
				t.Errorf("%s: got %s, %v, want %s", tc.reason, got, err, tc.want)
			}
		})
	}
}

// decode decodes JSON; an empty text is nil.
func decode(t *testing.T, data []byte) any {
	t.Helper()
	if len(data) == 0 {
		return nil
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("cannot decode %s: %v", brief(data), err)
	}
	return v
}
