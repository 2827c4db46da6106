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

// TestRecord compares whole lines: the order of fields, and how hostile texts
// are escaped.
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
		"Everything": {"A line has all fields in this order.", Event{
			Name: CatalogPush, Result: Success, Actor: &Actor{Kind: "service", Subject: "ci"}, Reason: "why",
			Target: map[string]string{"provider": "ci", "entity": "a:b/c", "none": ""}, Counts: map[string]int{"added": 1, "removed": 0},
		}, head + `{"kind":"service","subject":"ci"},"target":{"entity":"a:b/c","provider":"ci"},"counts":{"added":1,"removed":0},"reason":"why"}`},
		"Little":   {"Unknown fields are left out.", Event{Name: CatalogPush, Result: Success}, head + `{"kind":"anonymous"}}`},
		"Newline":  {"A text cannot forge a line.", target("a\r\n{\"event\":\"auth.sign-in\"}"), head + `{"kind":"anonymous"},"target":{"provider":"a\r\n{\"event\":\"auth.sign-in\"}"}}`},
		"Lines":    {"Unicode line ends are escaped.", target("a\u2028b\u2029c\u0085d\vz"), head + `{"kind":"anonymous"},"target":{"provider":"a\u2028b\u2029c\u0085d\u000bz"}}`},
		"Terminal": {"Control characters of terminals are escaped.", target("\x1b[2J\x7f\u009b1m\x00"), head + `{"kind":"anonymous"},"target":{"provider":"\u001b[2J\u007f\u009b1m\u0000"}}`},
		"Bidi":     {"Characters that change the text direction are escaped.", target("a\u202eb\u2066c\ufeff"), head + `{"kind":"anonymous"},"target":{"provider":"a\u202eb\u2066c\ufeff"}}`},
		"Far":      {"Characters outside the basic plane are escaped as surrogates.", target("\U000e0001x"), head + `{"kind":"anonymous"},"target":{"provider":"\udb40\udc01x"}}`},
		"Invalid":  {"Invalid UTF-8 is replaced.", target("a\xff\xfeb"), head + `{"kind":"anonymous"},"target":{"provider":"a\ufffd\ufffdb"}}`},
		"Scripts":  {"Letters of all scripts are kept.", target("名é🚀"), head + `{"kind":"anonymous"},"target":{"provider":"名é🚀"}}`},
		"Markup":   {"HTML is escaped for pages that show logs.", target("</script>&"), head + `{"kind":"anonymous"},"target":{"provider":"\u003c/script\u003e\u0026"}}`},
		"Long":     {"The length of a text is limited.", target(strings.Repeat("é", 10_000)), head + `{"kind":"anonymous"},"target":{"provider":"` + strings.Repeat("é", 512) + `…"}}`},
		"Exactly":  {"The limit counts characters, not bytes.", target(strings.Repeat("é", 512)), head + `{"kind":"anonymous"},"target":{"provider":"` + strings.Repeat("é", 512) + `"}}`},
		"LongKey":  {"The limit applies to keys, actors and reasons too.", Event{Name: CatalogPush, Result: Success, Actor: &Actor{Kind: "user", Subject: strings.Repeat("x", 513)}}, head + `{"kind":"user","subject":"` + strings.Repeat("x", 512) + `…"}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out := &stream{}
			open(t, toStdout(out)).Record(t.Context(), tc.event)
			if diff := cmp.Diff(tc.want+"\n", out.String()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if out.writes != 1 {
				t.Errorf("line was written in %d calls, want 1", out.writes)
			}
			linesOf(t, out.String())
		})
	}
}

// TestMany checks the limit on entries of a target.
func TestMany(t *testing.T) {
	out, all := &stream{}, map[string]string{}
	for i := range 1000 {
		all[fmt.Sprint(i)] = "x"
	}
	open(t, toStdout(out)).Record(t.Context(), Event{Name: CatalogPush, Result: Success, Target: all})
	if got := len(linesOf(t, out.String())[0].Target); got != maxFields {
		t.Errorf("target has %d entries, want the limit", got)
	}
}

// TestNil checks that a nil log records nothing, and that a disabled log is nil.
func TestNil(t *testing.T) {
	for _, to := range []string{"", "none"} {
		opts := toStdout(nil)
		opts.Config.To, opts.Registry = to, prometheus.NewRegistry()
		if l := open(t, opts); l != nil {
			t.Errorf("log is not nil with %q", to)
		}
	}
	var l *Log
	l.Record(t.Context(), Event{Name: CatalogPush})
	l.Done(t.Context(), Event{Name: CatalogPush}, errors.New("x"))
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestContext checks that caller, id and client of a request are those of its
// context.
func TestContext(t *testing.T) {
	cases := map[string]struct {
		reason string
		caller auth.Caller
		remote string
		event  Event
		want   line
	}{
		"User":    {"The caller is the actor.", ada, "192.0.2.7:1234", Event{}, line{Actor: Actor{Kind: "user", Subject: "user:default/ada"}, Client: "192.0.2.7", RequestID: "id-1"}},
		"Service": {"A service is an actor.", auth.Caller{Kind: auth.Service, Subject: "ci"}, "[2001:db8::1]:9", Event{}, line{Actor: Actor{Kind: "service", Subject: "ci"}, Client: "2001:db8::1", RequestID: "id-1"}},
		"Via":     {"A user of a Backstage came through it.", auth.Caller{Kind: auth.User, Subject: "user:default/ada", Via: "company"}, "192.0.2.7:1", Event{}, line{Actor: Actor{Kind: "user", Subject: "user:default/ada", Via: "company"}, Client: "192.0.2.7", RequestID: "id-1"}},
		"Mapped":  {"A mapped IPv4 address is written as IPv4.", ada, "[::ffff:192.0.2.7]:9", Event{}, line{Actor: Actor{Kind: "user", Subject: "user:default/ada"}, Client: "192.0.2.7", RequestID: "id-1"}},
		"None":    {"A public endpoint has no caller.", auth.Caller{}, "192.0.2.7:1", Event{}, line{Actor: Actor{Kind: "anonymous"}, Client: "192.0.2.7", RequestID: "id-1"}},
		"Given":   {"An explicit actor has precedence.", ada, "192.0.2.7:1", Event{Actor: &Actor{Kind: "guest", Subject: "g"}}, line{Actor: Actor{Kind: "guest", Subject: "g"}, Client: "192.0.2.7", RequestID: "id-1"}},
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

// TestDone checks that errors become results and reasons that quote no request.
func TestDone(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   []line
	}{
		"Success":     {"Without an error the result is success.", nil, []line{{Result: Success}}},
		"Denied":      {"A denial is recorded by the policy.", rest.NotAllowed("Missing permission x"), nil},
		"Input":       {"The error of a body may quote it, so it is not recorded.", rest.Input("line 3: hunter2"), []line{{Result: Failure, Reason: "InputError"}}},
		"NotFound":    {"A name of a request is not recorded.", rest.NotFound("hunter2"), []line{{Result: Failure, Reason: "NotFoundError"}}},
		"Conflict":    {"A target of a request is not recorded.", rest.Conflict("hunter2"), []line{{Result: Failure, Reason: "ConflictError"}}},
		"Internal":    {"An internal error is not recorded.", errors.New("hunter2"), []line{{Result: Failure, Reason: "InternalServerError"}}},
		"Unavailable": {"An outage of the database is recorded.", fmt.Errorf("%w: hunter2", db.ErrUnavailable), []line{{Result: Failure, Reason: "The database is not available, try again later"}}},
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

// TestWriteFails checks that a line that cannot be written is counted and logged
// once, and that the next one begins on its own line.
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
		t.Errorf("%d lines are complete in\n%s", whole, out)
	}
	if got := told.String(); strings.Count(got, "audit log write failed") != 1 || !strings.Contains(got, "no space left") || !strings.Contains(got, `msg="audit log write resumed" lost=2`) {
		t.Errorf("log is\n%s", got)
	}
	want := map[string]float64{
		"portal_audit_events_total catalog.push success": 1, "portal_audit_events_total other failure": 1, "portal_audit_failures_total": 2,
	}
	if diff := cmp.Diff(want, counters(t, registry)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDocumented checks that the handbook lists all events in order.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "audit-log.md"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+\\.[a-z.-]+)`").FindAllStringSubmatch(string(page), -1) {
		got = append(got, m[1])
	}
	if diff := cmp.Diff(Names, got); diff != "" {
		t.Errorf("events in docs/audit-log.md differ (-code +docs):\n%s", diff)
	}
	example := regexp.MustCompile(`(?m)^\{"time".*\}$`).FindString(string(page))
	if len(linesOf(t, example+"\n")) != 1 {
		t.Error("docs/audit-log.md has no example line")
	}
}
