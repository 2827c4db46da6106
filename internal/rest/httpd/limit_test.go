package httpd

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/rest"
)

func TestLimiter(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	// step is a request of a client at a time after the start.
	type step struct {
		after  time.Duration
		remote string
		want   time.Duration
	}
	three := config.RateLimit{Enabled: true, Requests: 3, Window: 3 * time.Second, AllowIPs: []string{"10.0.0.0/8", "192.0.2.7", "::1", "nonsense"}}
	cases := map[string]struct {
		reason string
		config config.RateLimit
		steps  []step
	}{
		"Off": {"Without a limit no request waits.", config.RateLimit{Requests: 1, Window: time.Hour}, []step{
			{0, "192.0.2.1:1", 0}, {0, "192.0.2.1:1", 0}}},
		"Burst": {"A client may send the requests of a window at once, then one at a time.", three, []step{
			{0, "192.0.2.1:1", 0}, {0, "192.0.2.1:2", 0}, {0, "192.0.2.1:3", 0}, {0, "192.0.2.1:4", time.Second},
			{500 * time.Millisecond, "192.0.2.1:4", 500 * time.Millisecond}, {time.Second, "192.0.2.1:4", 0}, {time.Second, "192.0.2.1:4", time.Second}}},
		"Refill": {"A client that pauses has a full window again.", three, []step{
			{0, "192.0.2.1:1", 0}, {0, "192.0.2.1:1", 0}, {0, "192.0.2.1:1", 0},
			{time.Hour, "192.0.2.1:1", 0}, {time.Hour, "192.0.2.1:1", 0}, {time.Hour, "192.0.2.1:1", 0}, {time.Hour, "192.0.2.1:1", time.Second}}},
		"Others": {"Each client has its own limit.", three, []step{
			{0, "192.0.2.1:1", 0}, {0, "192.0.2.1:1", 0}, {0, "192.0.2.1:1", 0}, {0, "192.0.2.2:1", 0}}},
		"Site": {"An IPv6 network is one client.", three, []step{
			{0, "[2001:db8::1]:1", 0}, {0, "[2001:db8::2]:1", 0}, {0, "[2001:db8:0:0:ffff::]:1", 0}, {0, "[2001:db8::4]:1", time.Second},
			{0, "[2001:db8:0:1::4]:1", 0}}},
		"Mapped": {"A mapped IPv4 address is the same client.", three, []step{
			{0, "192.0.2.1:1", 0}, {0, "[::ffff:192.0.2.1]:1", 0}, {0, "192.0.2.1:1", 0}, {0, "[::ffff:192.0.2.1]:1", time.Second}}},
		"Network": {"Exempt networks do not wait.", three, []step{
			{0, "10.1.2.3:1", 0}, {0, "10.1.2.3:1", 0}, {0, "10.1.2.3:1", 0}, {0, "10.1.2.3:1", 0}, {0, "[::ffff:10.1.2.3]:1", 0}}},
		"Address": {"An exempt address does not wait.", three, []step{
			{0, "192.0.2.7:1", 0}, {0, "192.0.2.7:1", 0}, {0, "192.0.2.7:1", 0}, {0, "192.0.2.7:1", 0}}},
		"Socket": {"A local socket without an address does not wait.", three, []step{{0, "@", 0}, {0, "@", 0}, {0, "@", 0}, {0, "@", 0}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLimiter(tc.config)
			for i, s := range tc.steps {
				if got := l.wait(s.remote, begin.Add(s.after)); (got - s.want).Abs() > time.Millisecond {
					t.Errorf("%s: step %d waits %s, want %s", tc.reason, i, got, s.want)
				}
			}
		})
	}
}

func TestLimiterForgets(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	l := newLimiter(config.RateLimit{Enabled: true, Requests: 1, Window: time.Minute})
	for i := range maxClients + maxClients/4 {
		a := netip.AddrFrom4([4]byte{20, byte(i >> 16), byte(i >> 8), byte(i)})
		l.wait(netip.AddrPortFrom(a, 1).String(), now)
		if len(l.clients) > maxClients {
			t.Fatalf("%d clients are stored", len(l.clients))
		}
	}
	l.forget(now.Add(time.Hour))
	if len(l.clients) != 0 {
		t.Errorf("%d clients are stored after their windows ended", len(l.clients))
	}
}

func TestRateLimit(t *testing.T) {
	_, hs := start(t, Options{RateLimit: config.RateLimit{Enabled: true, Requests: 2, Window: time.Hour}},
		rest.Route{Method: "GET", Path: "/x", Public: true, Handle: textRoute(func(*http.Request) string { return "x" })})
	for i, want := range []int{200, 404, 429} {
		path := "/api/things/x"
		if want == 404 {
			path = "/api/nosuch"
		}
		got := ask(t, hs, "GET", path, "")
		if got.StatusCode != want {
			t.Errorf("request %d returned %d", i, got.StatusCode)
		}
		if want == 429 && got.Header.Get("Retry-After") != "1800" {
			t.Errorf("Retry-After is %q", got.Header.Get("Retry-After"))
		}
	}
	for _, path := range []string{"/health/live", "/.backstage/health/v1/readiness", "/metrics"} {
		if got := ask(t, hs, "GET", path, ""); got.StatusCode != 200 {
			t.Errorf("%s is limited: %d", path, got.StatusCode)
		}
	}
	if got := ask(t, hs, "GET", "/api/nosuch", ""); got.StatusCode != 429 {
		t.Errorf("unknown route is not limited: %s", fmt.Sprint(got.StatusCode))
	}
}
