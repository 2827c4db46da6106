package marks

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"
)

// RedisOptions configure the connection to Redis. Only URL is required.
type RedisOptions struct {
	// URL is redis://user:password@host:port/database, or rediss:// for TLS. Everything
	// except the host is optional. The URL is never shown.
	URL string
	// Prefix is the prefix of all keys, so that other programs can use the same database.
	// Empty means "ingestor:".
	Prefix string
	// Timeout is the timeout for a command; 0 means two seconds.
	Timeout time.Duration
	// TLS is the configuration for rediss; nil means the system's certificate authorities.
	TLS *tls.Config
}

// The defaults of RedisOptions.
const (
	defaultPrefix  = "ingestor:"
	defaultTimeout = 2 * time.Second
)

// Redis is a connection to a Redis server that replicas share. Its methods may be
// called concurrently.
type Redis struct {
	client  rueidis.Client
	prefix  string
	timeout time.Duration
	// address is host and port; password is redacted from errors.
	address, password string
}

// OpenRedis returns a connection that reconnects whenever it breaks. If Redis is not
// reachable yet, the next call tries again: only an invalid URL is an error. The caller
// must close the connection.
func OpenRedis(opts RedisOptions) (*Redis, error) {
	option, err := redisOption(opts.URL)
	if err != nil {
		return nil, fmt.Errorf("cannot use Redis URL: %w", err)
	}
	r := &Redis{
		prefix: cmp.Or(opts.Prefix, defaultPrefix), timeout: cmp.Or(opts.Timeout, defaultTimeout),
		address: option.InitAddress[0], password: option.Password,
	}
	if option.TLSConfig != nil && opts.TLS != nil {
		name := option.TLSConfig.ServerName
		option.TLSConfig = opts.TLS.Clone()
		option.TLSConfig.ServerName = cmp.Or(opts.TLS.ServerName, name)
	}
	// Connecting, and reconnecting once, must fit into the timeout of a command.
	option.Dialer.Timeout = r.timeout / 2
	option.ConnWriteTimeout = r.timeout
	// One connection, whose reader detects immediately that it broke.
	option.ForceSingleClient, option.AlwaysPipelining, option.PipelineMultiplex = true, true, -1
	// Retries are up to ask.
	option.DisableRetry, option.DisableCache = true, true
	client, err := rueidis.NewClient(option)
	if client == nil {
		return nil, r.redact(fmt.Errorf("cannot use Redis at %s: %w", r.address, err))
	}
	r.client = client
	return r, nil
}

// redisOption parses a URL. Errors contain nothing of it.
func redisOption(text string) (rueidis.ClientOption, error) {
	option := rueidis.ClientOption{}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Opaque != "" {
		return option, errors.New("want redis://host:port or rediss://host:port; in a password, escape characters such as / or @ as %2F or %40")
	}
	switch u.Scheme {
	case "redis":
	case "rediss":
		option.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: u.Hostname()}
	default:
		return option, errors.New("want redis:// or rediss:// at the beginning")
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return option, errors.New("want nothing after the database number")
	}
	option.InitAddress = []string{net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "6379"))}
	option.Username = u.User.Username()
	option.Password, _ = u.User.Password()
	if option.Username != "" && option.Password == "" {
		return option, errors.New("URL has a user but no password; write a colon before a password without a user")
	}
	if number := strings.Trim(u.Path, "/"); number != "" {
		option.SelectDB, err = strconv.Atoi(number)
		if err != nil || option.SelectDB < 0 {
			return option, errors.New("want a database number after the host, such as /0")
		}
	}
	return option, nil
}

// Ping returns an error if Redis does not answer.
func (r *Redis) Ping(ctx context.Context) error {
	_, err := r.ask(ctx, func(b rueidis.Builder) rueidis.Completed { return b.Ping().Build() })
	return r.failed("reach", err)
}

// Get returns the value of a key, and reports whether there is one.
func (r *Redis) Get(ctx context.Context, key string) ([]byte, bool, error) {
	answer, err := r.ask(ctx, func(b rueidis.Builder) rueidis.Completed { return b.Get().Key(r.cacheKey(key)).Build() })
	if rueidis.IsRedisNil(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, r.failed("read from", err)
	}
	value, err := answer.AsBytes()
	return value, err == nil, r.failed("read from", err)
}

// Set stores a value with a TTL of at least a millisecond.
func (r *Redis) Set(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	if ttl < time.Millisecond {
		return fmt.Errorf("cannot store a value in Redis for %v: want at least 1ms", ttl)
	}
	_, err := r.ask(ctx, func(b rueidis.Builder) rueidis.Completed {
		return b.Set().Key(r.cacheKey(key)).Value(string(value)).Px(ttl).Build()
	})
	return r.failed("write to", err)
}

// Close closes the connection. Later calls fail.
func (r *Redis) Close() { r.client.Close() }

func (r *Redis) cacheKey(key string) string { return r.prefix + "cache:" + key }

// ask sends a command and returns the response, or its error. All commands used here
// are idempotent, so a command is sent once more if the connection broke.
func (r *Redis) ask(ctx context.Context, build func(rueidis.Builder) rueidis.Completed) (rueidis.RedisResult, error) {
	within, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	for again := true; ; again = false {
		answer := r.client.Do(within, build(r.client.B()))
		err := answer.NonRedisError()
		switch {
		case err == nil:
			return answer, answer.Error()
		case errors.Is(err, rueidis.ErrClosing):
			return answer, errors.New("connection is closed")
		case ctx.Err() != nil:
			return answer, ctx.Err()
		case again && within.Err() == nil:
			continue
		}
		if slow, ok := errors.AsType[net.Error](err); ok && slow.Timeout() {
			err = fmt.Errorf("no response within %v", r.timeout)
		}
		return answer, err
	}
}

// failed wraps an error with the failed operation; nil if err is nil.
func (r *Redis) failed(verb string, err error) error {
	if err == nil {
		return nil
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		// The error would repeat the address.
		err = op.Err
	}
	return r.redact(fmt.Errorf("cannot %s Redis at %s: %w", verb, r.address, err))
}

// redact removes the password from an error. Old servers echo an unknown command with
// its arguments.
func (r *Redis) redact(err error) error {
	if r.password == "" || !strings.Contains(err.Error(), r.password) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), r.password, "********"))
}
