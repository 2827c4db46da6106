package marks_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/rueidis"

	"example.dev/ingestor/internal/ingestion/marks"
	"example.dev/ingestor/test/redis"
)

// quick is the timeout in tests that wait for Redis in vain.
const quick = 500 * time.Millisecond

// soon is far longer than quick, but finite.
const soon = 20 * time.Second

// failure returns the error of a call that must fail soon, without the password.
func failure(t *testing.T, s *redis.Server, call func(context.Context) error) string {
	t.Helper()
	began := time.Now()
	err := call(t.Context())
	if err == nil {
		t.Fatal("call succeeded without Redis, want an error")
	}
	if took := time.Since(began); took > soon {
		t.Errorf("call took %v to return %v", took, err)
	}
	if strings.Contains(err.Error(), s.Password) {
		t.Errorf("error contains the password: %v", err)
	}
	return err.Error()
}

// calls returns all operations.
func calls(r *marks.Redis) map[string]func(context.Context) error {
	m := r.Marks()
	return map[string]func(context.Context) error{
		"Ping":   r.Ping,
		"Get":    func(ctx context.Context) error { _, _, err := r.Get(ctx, "k"); return err },
		"Set":    func(ctx context.Context) error { return r.Set(ctx, "k", []byte("v"), time.Hour) },
		"Load":   func(ctx context.Context) error { _, err := m.Load(ctx, "a"); return err },
		"Save":   func(ctx context.Context) error { return m.Save(ctx, "a", marksByKey{"x": "1"}, []string{"y"}) },
		"Forget": func(ctx context.Context) error { return m.Forget(ctx, []string{"a"}) },
	}
}

// waitForSuccess waits until a call succeeds again.
func waitForSuccess(t *testing.T, call func(context.Context) error) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		err := call(t.Context())
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("call still fails after Redis is back: %v", err)
		}
	}
}

func TestRedisComesLater(t *testing.T) {
	s := redis.Start(t)
	s.Kill()
	r := openRedis(t, marks.RedisOptions{URL: s.URL(0)})
	want := map[string]string{
		"Ping": "cannot reach Redis at ", "Get": "cannot read from Redis at ", "Set": "cannot write to Redis at ",
		"Load": `cannot load marks of "a": cannot read from Redis at `, "Save": `cannot save marks of "a": cannot write to Redis at `,
		"Forget": "cannot remove marks: cannot write to Redis at ",
	}
	for name, call := range calls(r) {
		if diff := cmp.Diff(want[name]+s.Address()+": connect: connection refused", failure(t, s, call)); diff != "" {
			t.Errorf("%s returned another error: %s", name, diff)
		}
	}
	s.Restart(t)
	waitForSuccess(t, r.Ping)
	for name, call := range calls(r) {
		if err := call(t.Context()); err != nil {
			t.Errorf("%s returned the error %v", name, err)
		}
	}
}

func TestRedisGoneAndBack(t *testing.T) {
	s := redis.StartWith(t, redis.Options{Durable: true})
	r := openRedis(t, marks.RedisOptions{URL: s.URL(0)})
	save(t, r.Marks(), "a", marksByKey{"x": "1"})

	// A restart is not noticed.
	s.Restart(t)
	if diff := cmp.Diff(marksByKey{"x": "1"}, load(t, r.Marks(), "a")); diff != "" {
		t.Error(diff)
	}

	s.Kill()
	for name, call := range calls(r) {
		if got := failure(t, s, call); !strings.Contains(got, s.Address()) {
			t.Errorf("%s returned %s, want an error with the address", name, got)
		}
	}
	s.Restart(t)
	waitForSuccess(t, r.Ping)
	if diff := cmp.Diff(marksByKey{"x": "1"}, load(t, r.Marks(), "a")); diff != "" {
		t.Error(diff)
	}
}

func TestRedisForgets(t *testing.T) {
	s := redis.Start(t)
	r := openRedis(t, marks.RedisOptions{URL: s.URL(0)})
	save(t, r.Marks(), "a", marksByKey{"x": "1"})
	s.Restart(t)
	if diff := cmp.Diff(marksByKey{}, load(t, r.Marks(), "a")); diff != "" {
		t.Errorf("marks after Redis lost them: %s", diff)
	}
}

func TestRedisStandsStill(t *testing.T) {
	s := redis.Start(t)
	r := openRedis(t, marks.RedisOptions{URL: s.URL(0), Timeout: quick})
	long := openRedis(t, marks.RedisOptions{URL: s.URL(0), Timeout: soon})
	waitForSuccess(t, r.Ping)
	waitForSuccess(t, long.Ping)
	s.Pause()
	for name, call := range calls(r) {
		if got := failure(t, s, call); !strings.Contains(got, s.Address()+": no response within 500ms") {
			t.Errorf("%s returned %s, want the timeout", name, got)
		}
	}
	// A caller whose context ends does not wait.
	ctx, cancel := context.WithTimeout(t.Context(), quick)
	defer cancel()
	if err := long.Ping(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Ping returned %v, want context.DeadlineExceeded", err)
	}
	s.Resume()
	for _, call := range calls(r) {
		waitForSuccess(t, call)
	}
}

func TestRedisAtOnceWhileItRestarts(t *testing.T) {
	s := redis.Start(t)
	one, two := openRedis(t, marks.RedisOptions{URL: s.URL(0), Timeout: quick}), openRedis(t, marks.RedisOptions{URL: s.URL(0), Timeout: quick})
	stop := make(chan struct{})
	var all sync.WaitGroup
	for i, r := range []*marks.Redis{one, two, one, two} {
		all.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				// Some calls fail meanwhile. None may return the value of another.
				key := strconv.Itoa(i)
				_ = r.Set(t.Context(), key, []byte(key), time.Hour)
				if got, ok, err := r.Get(t.Context(), key); err == nil && ok && string(got) != key {
					t.Errorf("key %s has %q", key, got)
				}
			}
		})
	}
	for range 3 {
		s.Restart(t)
		s.Kill()
		s.Restart(t)
	}
	close(stop)
	all.Wait()
	waitForSuccess(t, one.Ping)
	waitForSuccess(t, two.Ping)
}

func TestRedisCache(t *testing.T) {
	s := redis.Start(t)
	one, two := openRedis(t, marks.RedisOptions{URL: s.URL(0)}), openRedis(t, marks.RedisOptions{URL: s.URL(0)})
	get := func(r *marks.Redis, key string) string {
		t.Helper()
		got, ok, err := r.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return "nothing"
		}
		return string(got)
	}
	set := func(r *marks.Redis, key, value string, ttl time.Duration) {
		t.Helper()
		if err := r.Set(t.Context(), key, []byte(value), ttl); err != nil {
			t.Fatal(err)
		}
	}
	binary := string([]byte{0, 255, '\r', '\n'}) + strings.Repeat("x", 1<<20)
	set(one, "k", binary, time.Hour)
	set(one, "empty", "", time.Hour)
	// Marks are separate from values of the same name.
	save(t, one.Marks(), "k", marksByKey{"x": "1"})
	if !bytes.Equal([]byte(get(two, "k")), []byte(binary)) {
		t.Error("another client read a different value")
	}
	if got := get(two, "empty"); got != "" {
		t.Errorf("empty value was read as %q", got)
	}
	set(two, "k", "new", time.Hour)
	if got := get(one, "k"); got != "new" {
		t.Errorf("value of another client was read as %q, want new", got)
	}
	set(one, "short", "v", 20*time.Millisecond)
	for deadline := time.Now().Add(time.Minute); get(one, "short") != "nothing"; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("value still exists long after its TTL")
		}
	}
	if err := one.Set(t.Context(), "k", nil, 0); err == nil {
		t.Error("Set accepted a TTL of zero")
	}

	apart := map[string]marks.RedisOptions{
		"Prefix":   {URL: s.URL(0), Prefix: "other:"},
		"Database": {URL: s.URL(3)},
	}
	for name, opts := range apart {
		r := openRedis(t, opts)
		if got := get(r, "k"); got != "nothing" {
			t.Errorf("%s: client read %q of another client", name, got)
		}
		forget(t, r.Marks())
	}
	if diff := cmp.Diff(marksByKey{"x": "1"}, load(t, one.Marks(), "k")); diff != "" {
		t.Errorf("other clients dropped marks that are not theirs: %s", diff)
	}
	forget(t, one.Marks())
	if got := get(one, "k"); got != "new" {
		t.Errorf("cached value is %q after marks were forgotten, want new", got)
	}
}

// TestRedisRoundTrips counts the commands that many marks need.
func TestRedisRoundTrips(t *testing.T) {
	s := redis.Start(t)
	r := openRedis(t, marks.RedisOptions{URL: s.URL(0)})
	save(t, r.Marks(), "a", many(10_000))
	load(t, r.Marks(), "a")
	option, err := rueidis.ParseURL(s.URL(0))
	if err != nil {
		t.Fatal(err)
	}
	client, err := rueidis.NewClient(option)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	stats, err := client.Do(t.Context(), client.B().Info().Section("commandstats").Build()).ToString()
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"hset", "hscan"} {
		_, rest, _ := strings.Cut(stats, "cmdstat_"+command+":calls=")
		n, _, _ := strings.Cut(rest, ",")
		if calls, err := strconv.Atoi(n); err != nil || calls > 5 {
			t.Errorf("10,000 marks needed %q calls of %s, want at most 5", n, command)
		}
	}
	if strings.Contains(stats, "cmdstat_keys") {
		t.Error("KEYS was used, which blocks all clients")
	}
}

func TestRedisRefuses(t *testing.T) {
	s := redis.Start(t)
	cases := map[string]struct {
		reason  string
		url     string
		timeout time.Duration
		want    string
	}{
		"WrongPassword": {"The error of Redis is passed on.", "redis://:" + s.Password + "x@" + s.Address(), 0, "WRONGPASS"},
		"NoPassword":    {"A password is required.", "redis://" + s.Address(), 0, "NOAUTH"},
		"NoDatabase":    {"The database number must exist.", s.URL(99), 0, "out of range"},
		"NoTLS":         {"A TLS handshake with a plain server fails.", "rediss://" + s.Address(), quick, "cannot reach Redis at " + s.Address()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := openRedis(t, marks.RedisOptions{URL: tc.url, Timeout: tc.timeout})
			if got := failure(t, s, r.Ping); !strings.Contains(got, tc.want) {
				t.Errorf("%s\n%s", tc.reason, got)
			}
		})
	}
}

// TestRedisRepeats checks a server that quotes commands it does not know.
func TestRedisRepeats(t *testing.T) {
	const password = "hunter2hunter2"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				// Each command begins with the number of its words.
				for lines := bufio.NewScanner(c); lines.Scan(); {
					if strings.HasPrefix(lines.Text(), "*") {
						_, _ = io.WriteString(c, "-ERR unknown command, with args beginning with: 'AUTH' '"+password+"'\r\n")
					}
				}
			}()
		}
	}()
	r := openRedis(t, marks.RedisOptions{URL: fmt.Sprintf("redis://:%s@%s", password, l.Addr())})
	for name, call := range calls(r) {
		err := call(t.Context())
		if err == nil || strings.Contains(err.Error(), password) || !strings.Contains(err.Error(), "********") {
			t.Errorf("%s returned %v, want an error with the password redacted", name, err)
		}
	}
}

func TestRedisAddress(t *testing.T) {
	cases := map[string]struct {
		reason string
		url    string
		want   string
	}{
		"Empty":        {"The URL must not be empty.", "", "want redis://host:port"},
		"NoScheme":     {"A host without a scheme is refused.", "s3cret@localhost:6379", "want redis://host:port"},
		"Other":        {"Another scheme is refused.", "https://:s3cret@localhost", "redis:// or rediss:// at the beginning"},
		"BadSign":      {"A URL that cannot be parsed is not shown.", "redis://:s3cret%zz@localhost", "escape characters such as"},
		"Slash":        {"A slash must be escaped in the password.", "redis://:s3/cret@localhost:6379", "escape characters such as"},
		"UserAlone":    {"A password without a colon would be taken for a user.", "redis://s3cret@localhost", "a colon before a password"},
		"Query":        {"Query parameters are refused, not ignored.", "redis://:s3cret@localhost/0?protocol=2", "nothing after"},
		"DatabaseName": {"A database is a number.", "redis://:s3cret@localhost/s3cret", "a database number"},
		"Negative":     {"A database number is not negative.", "redis://localhost/-1", "a database number"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := marks.OpenRedis(marks.RedisOptions{URL: tc.url})
			if err == nil || !strings.HasPrefix(err.Error(), "cannot use Redis URL: ") || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			if strings.Contains(err.Error(), "s3") || strings.Contains(err.Error(), "cret") {
				t.Errorf("error contains the URL: %v", err)
			}
		})
	}
}

func TestRedisClosed(t *testing.T) {
	s := redis.Start(t)
	r := openRedis(t, marks.RedisOptions{URL: s.URL(0)})
	waitForSuccess(t, r.Ping)
	r.Close()
	for name, call := range calls(r) {
		if got := failure(t, s, call); !strings.HasSuffix(got, ": connection is closed") {
			t.Errorf("%s returned %s, want that the connection is closed", name, got)
		}
	}
}
