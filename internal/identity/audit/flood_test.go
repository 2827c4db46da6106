package audit

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/internal/identity/auth"
)

// TestFlood has clients cause more events than are written: each client has its
// own limit, and dropped events are counted.
func TestFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, registry := &stream{}, prometheus.NewRegistry()
		opts := toStdout(out)
		opts.Now, opts.Registry = time.Now, registry
		l := open(t, opts)
		cause := func(c auth.Caller, from string, e Event, times int) {
			for range times {
				as(t, c, from+":1", "id", func(ctx context.Context) { l.Record(ctx, e) })
			}
		}
		bad := Event{Name: Token, Result: Denied, Reason: "token refused"}
		cause(auth.Caller{}, "192.0.2.1", bad, 100)
		cause(auth.Caller{}, "192.0.2.2", bad, 3)
		cause(auth.Caller{}, "[2001:db8::1]", bad, 8)
		cause(auth.Caller{}, "[2001:db8::2]", bad, 8)
		cause(ada, "192.0.2.1", Event{Name: PermissionRefused, Result: Denied}, 11)
		cause(ada, "192.0.2.1", Event{Name: SignIn, Result: Success}, 20)
		cause(auth.Caller{Kind: auth.Guest, Subject: "user:development/guest"}, "192.0.2.1", Event{Name: SignIn, Result: Success}, 20)
		cause(auth.Caller{Kind: auth.Service, Subject: "ci"}, "192.0.2.1", Event{Name: CatalogPush, Result: Success}, 20)
		for range 20 {
			l.Record(t.Context(), Event{Name: ClusterApply, Result: Failure, Actor: &Actor{Kind: "user", Subject: "x"}})
		}
		time.Sleep(floodWindow)
		synctest.Wait()
		cause(auth.Caller{}, "192.0.2.1", bad, 11)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, one := range linesOf(t, out.String()) {
			key := fmt.Sprint(one.Event, " ", one.Actor.Kind, " ", one.Client)
			if one.Event == Suppressed {
				got[key+" "+one.Target["event"]] += one.Counts["suppressed"]
				continue
			}
			got[key]++
		}
		want := map[string]int{
			"auth.token anonymous 192.0.2.1":                      20,
			"auth.token anonymous 192.0.2.2":                      3,
			"auth.token anonymous 2001:db8::1":                    8,
			"auth.token anonymous 2001:db8::2":                    2,
			"permission.refused user 192.0.2.1":                   10,
			"auth.sign-in user 192.0.2.1":                         20,
			"auth.sign-in guest 192.0.2.1":                        10,
			"catalog.push service 192.0.2.1":                      20,
			"cluster.apply user ":                                 20,
			"audit.suppressed anonymous 192.0.2.1 auth.token":     91,
			"audit.suppressed anonymous 2001:db8::/64 auth.token": 6,
			"audit.suppressed user 192.0.2.1 permission.refused":  1,
			"audit.suppressed guest 192.0.2.1 auth.sign-in":       10,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		counted := map[string]float64{}
		for name, n := range counters(t, registry) {
			if of, ok := strings.CutPrefix(name, "portal_audit_suppressed_total "); ok {
				counted[of] = n
			}
		}
		if diff := cmp.Diff(map[string]float64{SignIn: 10, Token: 97, PermissionRefused: 1}, counted); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestFloodOfClients checks that memory is bounded in a flood from many
// addresses.
func TestFloodOfClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		total := 0
		f := &flood{suppressed: func(_ floodKey, n int) { total += n }}
		remembered := func() int { f.mu.Lock(); defer f.mu.Unlock(); return len(f.seen) }
		written := 0
		for i := range 100_000 {
			if f.admit(floodKey{event: Token, result: Denied, client: fmt.Sprint(i)}) {
				written++
			}
		}
		if !f.admit(floodKey{event: PermissionRefused, result: Denied, actor: Actor{Kind: "user", Subject: "ada"}}) {
			t.Error("event of another kind was dropped")
		}
		if written != mostKeys+mostPerWindow || remembered() > mostKeys+2 {
			t.Errorf("%d events were written, %d keys are stored", written, remembered())
		}
		time.Sleep(floodWindow)
		synctest.Wait()
		if total != 100_000-written || remembered() != 0 {
			t.Errorf("%d events were counted, %d keys are stored", total, remembered())
		}
	})
}
