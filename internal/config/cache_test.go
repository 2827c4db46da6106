package config

import "testing"

func TestIsRedis(t *testing.T) {
	cases := map[string]struct {
		reason string
		url    string
		want   bool
	}{
		"Host":         {"A host is enough, the rest has defaults.", "redis://redis", true},
		"Everything":   {"All parts of a URL are accepted.", "rediss://me:p%2Fw@redis.example.org:6380/15", true},
		"PasswordOnly": {"A password with a default port is accepted.", "redis://:pw@127.0.0.1:6379/", true},
		"IPv6":         {"An IPv6 address has brackets.", "redis://[::1]:6379", true},
		"NoHost":       {"A URL needs a host.", "redis:///0", false},
		"NoScheme":     {"A host without a scheme is refused.", "redis:6379", false},
		"Scheme":       {"Another scheme is refused.", "http://redis:6379", false},
		"Port":         {"A port out of range is refused.", "redis://redis:70000", false},
		"UserAlone":    {"A password without a colon is refused.", "redis://pw@redis", false},
		"Database":     {"A database is a number.", "redis://redis/portal", false},
		"Deep":         {"A path below the database is refused.", "redis://redis/0/1", false},
		"Query":        {"A query is refused, not ignored.", "redis://redis?db=1", false},
		"Slash":        {"A slash must be escaped in a password.", "redis://:p/w@redis", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := isRedis(tc.url); got != tc.want {
				t.Errorf("%s\nisRedis(%q) = %v", tc.reason, tc.url, got)
			}
		})
	}
}
