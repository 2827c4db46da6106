package auth

import (
	"net/http/httptest"
	"testing"
)

// TestQuota checks that guests, who are all the same user, are counted by
// address.
func TestQuota(t *testing.T) {
	f := Quota{Most: 2}
	follow := func(kind Kind, subject, remote string) (func(), bool) {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = remote
		return f.Take(r.WithContext(With(r.Context(), Caller{Kind: kind, Subject: subject})))
	}
	steps := []struct {
		reason          string
		kind            Kind
		subject, remote string
		ok              bool
	}{
		{"A guest may follow a task.", Guest, "g", "192.0.2.1:1", true},
		{"A guest may follow two tasks.", Guest, "g", "192.0.2.1:2", true},
		{"A guest may not follow three tasks.", Guest, "g", "192.0.2.1:3", false},
		{"A guest with another address is counted separately.", Guest, "g", "192.0.2.2:1", true},
		{"A guest with an IPv6 address may follow a task.", Guest, "g", "[2001:db8::1]:1", true},
		{"Addresses of one IPv6 network count as one client.", Guest, "g", "[2001:db8::2]:1", true},
		{"A guest may not follow more from another address of the network.", Guest, "g", "[2001:db8::3]:1", false},
		{"A user may follow a task from any address.", User, "u", "192.0.2.1:1", true},
		{"A user is counted by name, not by address.", User, "u", "192.0.2.2:1", true},
		{"A user may not follow more from another address.", User, "u", "192.0.2.3:1", false},
		{"A service with the name of a user is counted separately.", Service, "u", "192.0.2.3:1", true},
	}
	var all []func()
	for _, s := range steps {
		done, ok := follow(s.kind, s.subject, s.remote)
		if ok != s.ok {
			t.Errorf("%s Take returned %t", s.reason, ok)
		}
		if ok {
			all = append(all, done)
		}
	}
	for _, done := range all {
		done()
	}
	if len(f.open) != 0 {
		t.Errorf("callers are left after all requests ended: %v", f.open)
	}
}
