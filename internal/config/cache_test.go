package config

import "testing"

func TestIsRedis(t *testing.T) {
	cases := map[string]struct {
		reason string
		url    string
		want   bool
	}{
		"Host":         {"the rest has defaults", "redis://redis", true},
		"Everything":   {"all that can be said", "rediss://me:p%2Fw@redis.example.org:6380/15", true},
		"PasswordOnly": {"the usual way", "redis://:pw@127.0.0.1:6379/", true},
		"IPv6":         {"addresses have brackets", "redis://[::1]:6379", true},
		"NoHost":       {"it is somewhere", "redis:///0", false},
		"NoScheme":     {"a host alone may be anything", "redis:6379", false},
		"Scheme":       {"another server", "http://redis:6379", false},
		"Port":         {"ports end at 65535", "redis://redis:70000", false},
		"UserAlone":    {"a password without its colon", "redis://pw@redis", false},
		"Database":     {"databases have numbers", "redis://redis/portal", false},
		"Deep":         {"and nothing below", "redis://redis/0/1", false},
		"Query":        {"nothing is passed over in silence", "redis://redis?db=1", false},
		"Slash":        {"a slash ends the host", "redis://:p/w@redis", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := isRedis(tc.url); got != tc.want {
				t.Errorf("%s\nisRedis(%q) = %v", tc.reason, tc.url, got)
			}
		})
	}
}
