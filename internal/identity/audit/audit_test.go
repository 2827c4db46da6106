package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/rest"
)

// TestRecord compares whole lines: their order of fields, and what hostile texts
// become.
func TestRecord(t *testing.T) {
	const head = `{"time":"2026-07-01T10:00:00.123Z","event":"catalog.push","result":"success","actor":`
	target := func(s string) Event {
		return Event{Name: CatalogPush, Result: Success, Target: map[string]string{"provider": s}}
	}
	cases := map[string]struct {
		reason string
		event  Event
		want   string
	}{
		"Everything": {"all fields, in this order", Event{
			Name: CatalogPush, Result: Success, Actor: &Actor{Kind: "service", Subject: "ci"}, Reason: "why",
			Target: map[string]string{"provider": "ci", "entity": "a:b/c", "none": ""}, Counts: map[string]int{"added": 1, "removed": 0},
		}, head + `{"kind":"service","subject":"ci"},"target":{"entity":"a:b/c","provider":"ci"},"counts":{"added":1,"removed":0},"reason":"why"}`},
		"Little":   {"what is not known is left out", Event{Name: CatalogPush, Result: Success}, head + `{"kind":"anonymous"}}`},
		"Newline":  {"a line cannot be forged", target("a\r\n{\"event\":\"auth.sign-in\"}"), head + `{"kind":"anonymous"},"target":{"provider":"a\r\n{\"event\":\"auth.sign-in\"}"}}`},
		"Lines":    {"what others take for the end of a line", target("a\u2028b\u2029c\u0085d\vz"), head + `{"kind":"anonymous"},"target":{"provider":"a\u2028b\u2029c\u0085d\u000bz"}}`},
		"Terminal": {"what terminals take for a command", target("\x1b[2J\x7f\u009b1m\x00"), head + `{"kind":"anonymous"},"target":{"provider":"\u001b[2J\u007f\u009b1m\u0000"}}`},
		"Bidi":     {"what shows text in another order", target("a\u202eb\u2066c\ufeff"), head + `{"kind":"anonymous"},"target":{"provider":"a\u202eb\u2066c\ufeff"}}`},
		"Far":      {"what needs two halves", target("\U000e0001x"), head + `{"kind":"anonymous"},"target":{"provider":"\udb40\udc01x"}}`},
		"Invalid":  {"what is no UTF-8", target("a\xff\xfeb"), head + `{"kind":"anonymous"},"target":{"provider":"a\ufffd\ufffdb"}}`},
		"Scripts":  {"letters of all scripts stay", target("名é🚀"), head + `{"kind":"anonymous"},"target":{"provider":"名é🚀"}}`},
		"Markup":   {"pages that show logs are not ours", target("</script>&"), head + `{"kind":"anonymous"},"target":{"provider":"\u003c/script\u003e\u0026"}}`},
		"Long":     {"texts have a bound", target(strings.Repeat("é", 10_000)), head + `{"kind":"anonymous"},"target":{"provider":"` + strings.Repeat("é", 512) + `…"}}`},
		"Exactly":  {"which is one of characters", target(strings.Repeat("é", 512)), head + `{"kind":"anonymous"},"target":{"provider":"` + strings.Repeat("é", 512) + `"}}`},
		"LongKey":  {"also in keys, actors and reasons", Event{Name: CatalogPush, Result: Success, Actor: &Actor{Kind: "user", Subject: strings.Repeat("x", 513)}}, head + `{"kind":"user","subject":"` + strings.Repeat("x", 512) + `…"}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out := &stream{}
			open(t, toStdout(out)).Record(t.Context(), tc.event)
			if diff := cmp.Diff(tc.want+"\n", out.String()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if out.writes != 1 {
				t.Errorf("a line was written in %d calls", out.writes)
			}
			linesOf(t, out.String())
		})
	}
}

// TestMany bounds the number of entries of a target.
func TestMany(t *testing.T) {
	out, all := &stream{}, map[string]string{}
	for i := range 1000 {
		all[fmt.Sprint(i)] = "x"
	}
	open(t, toStdout(out)).Record(t.Context(), Event{Name: CatalogPush, Result: Success, Target: all})
	if got := len(linesOf(t, out.String())[0].Target); got != maxFields {
		t.Errorf("a target has %d entries", got)
	}
}

// TestNil wants no log to record nothing, and to be what none is configured as.
func TestNil(t *testing.T) {
	for _, to := range []string{"", "none"} {
		opts := toStdout(nil)
		opts.Config.To, opts.Registry = to, prometheus.NewRegistry()
		if l := open(t, opts); l != nil {
			t.Errorf("with %q there is a log", to)
		}
	}
	var l *Log
	l.Record(t.Context(), Event{Name: CatalogPush})
	l.Done(t.Context(), Event{Name: CatalogPush}, errors.New("x"))
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestContext wants the caller, the id and the client of a request to be those of
// the context.
func TestContext(t *testing.T) {
	cases := map[string]struct {
		reason string
		caller auth.Caller
		remote string
		event  Event
		want   line
	}{
		"User":    {"who asks is the actor", ada, "192.0.2.7:1234", Event{}, line{Actor: Actor{"user", "user:default/ada"}, Client: "192.0.2.7", RequestID: "id-1"}},
		"Service": {"also a service", auth.Caller{Kind: auth.Service, Subject: "ci"}, "[2001:db8::1]:9", Event{}, line{Actor: Actor{"service", "ci"}, Client: "2001:db8::1", RequestID: "id-1"}},
		"Mapped":  {"one spelling for an address", ada, "[::ffff:192.0.2.7]:9", Event{}, line{Actor: Actor{"user", "user:default/ada"}, Client: "192.0.2.7", RequestID: "id-1"}},
		"None":    {"a public endpoint has no caller", auth.Caller{}, "192.0.2.7:1", Event{}, line{Actor: Actor{Kind: "anonymous"}, Client: "192.0.2.7", RequestID: "id-1"}},
		"Given":   {"another actor goes first", ada, "192.0.2.7:1", Event{Actor: &Actor{"guest", "g"}}, line{Actor: Actor{"guest", "g"}, Client: "192.0.2.7", RequestID: "id-1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out := &stream{}
			l := open(t, toStdout(out))
			as(t, tc.caller, tc.remote, "id-1", func(ctx context.Context) {
				tc.event.Name, tc.event.Result = EntityDelete, Success
				l.Record(ctx, tc.event)
			})
			tc.want.Time, tc.want.Event, tc.want.Result = "2026-07-01T10:00:00.123Z", EntityDelete, Success
			if diff := cmp.Diff([]line{tc.want}, linesOf(t, out.String())); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDone wants errors to become results and reasons that quote no request.
func TestDone(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   []line
	}{
		"Success":     {"no error", nil, []line{{Result: Success}}},
		"Denied":      {"the policy has recorded it", rest.NotAllowed("Missing permission x"), nil},
		"Input":       {"what is wrong with a body may quote it", rest.Input("line 3: hunter2"), []line{{Result: Failure, Reason: "InputError"}}},
		"NotFound":    {"so may a name", rest.NotFound("hunter2"), []line{{Result: Failure, Reason: "NotFoundError"}}},
		"Conflict":    {"so may an address", rest.Conflict("hunter2"), []line{{Result: Failure, Reason: "ConflictError"}}},
		"Internal":    {"and an error of ours", errors.New("hunter2"), []line{{Result: Failure, Reason: "InternalServerError"}}},
		"Unavailable": {"the database", fmt.Errorf("%w: hunter2", db.ErrUnavailable), []line{{Result: Failure, Reason: "The database is not available, try again later"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out := &stream{}
			open(t, toStdout(out)).Done(t.Context(), Event{Name: LocationDelete}, tc.err)
			for i := range tc.want {
				tc.want[i].Time, tc.want[i].Event, tc.want[i].Actor = "2026-07-01T10:00:00.123Z", LocationDelete, Actor{Kind: "anonymous"}
			}
			if diff := cmp.Diff(tc.want, linesOf(t, out.String())); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWriteFails wants a line that cannot be written to be counted, and told of
// once; the next that can be begins on a line of its own.
func TestWriteFails(t *testing.T) {
	out, told, registry := &stream{}, &stream{}, prometheus.NewRegistry()
	opts := toStdout(out)
	opts.Log, opts.Registry = slog.New(slog.NewTextHandler(told, nil)), registry
	l := open(t, opts)
	one := Event{Name: CatalogPush, Result: Success}
	l.Record(t.Context(), one)
	out.fail = func([]byte) (int, error) { return 10, errors.New("no space left on device") }
	l.Record(t.Context(), one)
	l.Record(t.Context(), Event{Name: "acme.custom", Result: Failure})
	out.fail = nil
	l.Record(t.Context(), Event{Name: "acme.custom", Result: Failure})
	whole := 0
	for text := range strings.Lines(out.String()) {
		if strings.HasSuffix(text, "}\n") {
			linesOf(t, text)
			whole++
		}
	}
	if whole != 2 {
		t.Errorf("%d lines are whole in\n%s", whole, out)
	}
	if got := told.String(); strings.Count(got, "audit log write failed") != 1 || !strings.Contains(got, "no space left") || !strings.Contains(got, `msg="audit log write resumed" lost=2`) {
		t.Errorf("the log says\n%s", got)
	}
	want := map[string]float64{
		"portal_audit_events_total catalog.push success": 1, "portal_audit_events_total other failure": 1, "portal_audit_failures_total": 2,
	}
	if diff := cmp.Diff(want, counters(t, registry)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDocumented wants the handbook to list the events there are, in their order.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "portal.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Audit log\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var got []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+\\.[a-z.-]+)`").FindAllStringSubmatch(section, -1) {
		got = append(got, m[1])
	}
	if diff := cmp.Diff(Names, got); diff != "" {
		t.Errorf("docs/portal.md does not list the events as they are (-code +docs):\n%s", diff)
	}
	example := regexp.MustCompile(`(?m)^\{"time".*\}$`).FindString(section)
	if len(linesOf(t, example+"\n")) != 1 {
		t.Error("docs/portal.md shows no line")
	}
}
