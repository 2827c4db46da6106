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

// transcript is a request to the original, and its answer.
type transcript struct {
	// name is that of the file, without its ending.
	name   string
	method string
	// path is with the query.
	path   string
	header http.Header
	body   string

	status int
	answer http.Header
	got    []byte
}

// number is what the name begins with; transcripts are in its order.
func (tr *transcript) number() int {
	n, _, _ := strings.Cut(tr.name, "-")
	i, _ := strconv.Atoi(n)
	return i
}

// recorded is where the original was when it was recorded, and recordedFiles
// where the files were served that it read.
const (
	recorded      = "http://127.0.0.1:7007"
	recordedFiles = "http://127.0.0.1:18001/_files"
)

// readTranscripts reads the transcripts of the folder INGESTOR_TRANSCRIPTS, in
// order. Those whose request is described in words have no path.
func readTranscripts(t *testing.T) []*transcript {
	t.Helper()
	dir := os.Getenv("INGESTOR_TRANSCRIPTS")
	if dir == "" {
		t.Skip("INGESTOR_TRANSCRIPTS is not set: it is the folder with answers of the original")
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no transcripts in %s", dir)
	}
	var all []*transcript
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(data, []byte("$ ")) {
			continue // Not an exchange, but what a token holds.
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

// parseTranscript reads a line with a command, and the answer behind it.
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
		return nil, fmt.Errorf("cannot read the status %q: %w", lines.Text(), err)
	}
	tr.answer = http.Header{}
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ":")
		tr.answer.Add(key, strings.TrimSpace(value))
	}
	tr.got = bytes.TrimSpace(body)
	return tr, lines.Err()
}

// command reads a call of curl.
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
			return fmt.Errorf("cannot read %q: there is nothing behind %s", line, arg)
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
				return fmt.Errorf("cannot read %q: %s is not known", line, arg)
			}
		}
	}
	return nil
}

// shellWords splits a line as a shell does where everything special stands
// behind a backslash; quotes are characters like any other.
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

// asJSON returns a body as JSON: a stream of events is a list of them, each with
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
		t.Fatalf("there is no event in %s", text)
	}
	out, err := json.Marshal(events)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// shape is a JSON value without what it says: the keys of objects and the types
// of values, of lists those of the first item.
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
	reason := "a command and an answer are read as the shell and curl meant them"
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
		"values": {"what a value says does not matter", `{"a":"x","b":[1,2],"c":null}`, `{"a":"string","b":["number"],"c":"null"}`},
		"lists":  {"the first item stands for a list", `[[],[{"a":true}]]`, `[[]]`},
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

// decode reads JSON; nothing is nil.
func decode(t *testing.T, data []byte) any {
	t.Helper()
	if len(data) == 0 {
		return nil
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("cannot read %s: %v", brief(data), err)
	}
	return v
}
