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

// RedisOptions say where Redis is. Only URL is needed.
type RedisOptions struct {
	// URL is redis://user:password@host:port/database, or rediss:// for TLS.
	// All but the host may be left out. It is never shown.
	URL string
	// Prefix begins all keys, so that others may use the same database. Empty
	// means "ingestor:".
	Prefix string
	// Timeout is how long Redis may take to answer; 0 means two seconds.
	Timeout time.Duration
	// TLS is how rediss is spoken; nil means with the system's authorities.
	TLS *tls.Config
}

// The defaults of RedisOptions.
const (
	defaultPrefix  = "ingestor:"
	defaultTimeout = 2 * time.Second
)

// Redis is a connection to a Redis server that replicas share. Its methods may
// be called at once.
type Redis struct {
	client  rueidis.Client
	prefix  string
	timeout time.Duration
	// address is host and port; password is what no error may show.
	address, password string
}

// OpenRedis returns a connection that is made again whenever it breaks. If it
// cannot be made yet, the next call tries once more: only a URL that cannot be
// right is an error. Whoever opens it closes it.
func OpenRedis(opts RedisOptions) (*Redis, error) {
	option, err := redisOption(opts.URL)
	if err != nil {
		return nil, fmt.Errorf("cannot use the address of Redis: %w", err)
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
	// A connection must be made, and made anew once, within the time that an
	// answer has.
	option.Dialer.Timeout = r.timeout / 2
	option.ConnWriteTimeout = r.timeout
	// One connection, whose reader notices at once that it broke.
	option.ForceSingleClient, option.AlwaysPipelining, option.PipelineMultiplex = true, true, -1
	// What is tried again is decided by ask.
	option.DisableRetry, option.DisableCache = true, true
	client, err := rueidis.NewClient(option)
	if client == nil {
		return nil, r.redact(fmt.Errorf("cannot use Redis at %s: %w", r.address, err))
	}
	r.client = client
	return r, nil
}

// redisOption returns what a URL says. No error shows any of it.
func redisOption(text string) (rueidis.ClientOption, error) {
	option := rueidis.ClientOption{}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Opaque != "" {
		return option, errors.New("want redis://host:port or rediss://host:port; in a password, write signs such as / or @ as %2F or %40")
	}
	switch u.Scheme {
	case "redis":
	case "rediss":
		option.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: u.Hostname()}
	default:
		return option, errors.New("want it to begin with redis:// or rediss://")
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return option, errors.New("want nothing behind the number of the database")
	}
	option.InitAddress = []string{net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "6379"))}
	option.Username = u.User.Username()
	option.Password, _ = u.User.Password()
	if option.Username != "" && option.Password == "" {
		return option, errors.New("it has a user but no password; a password alone has a colon before it")
	}
	if number := strings.Trim(u.Path, "/"); number != "" {
		option.SelectDB, err = strconv.Atoi(number)
		if err != nil || option.SelectDB < 0 {
			return option, errors.New("want the number of a database behind the host, such as /0")
		}
	}
	return option, nil
}

// Ping reports whether Redis answers.
func (r *Redis) Ping(ctx context.Context) error {
	_, err := r.ask(ctx, func(b rueidis.Builder) rueidis.Completed { return b.Ping().Build() })
	return r.failed("reach", err)
}

// Get returns what was set under a key, and whether there still is something.
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

// Set keeps a value under a key for a while, which must be at least a
// millisecond.
func (r *Redis) Set(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	if ttl < time.Millisecond {
		return fmt.Errorf("cannot keep a value in Redis for %v: want a millisecond or more", ttl)
	}
	_, err := r.ask(ctx, func(b rueidis.Builder) rueidis.Completed {
		return b.Set().Key(r.cacheKey(key)).Value(string(value)).Px(ttl).Build()
	})
	return r.failed("write to", err)
}

// Close ends the connection. What is asked afterwards fails.
func (r *Redis) Close() { r.client.Close() }

func (r *Redis) cacheKey(key string) string { return r.prefix + "cache:" + key }

// ask sends a command and returns the answer, or the error that it is. All
// commands here may be done twice; so if the connection broke, it is sent once
// more on a new one.
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
			return answer, errors.New("the connection was closed")
		case ctx.Err() != nil:
			return answer, ctx.Err()
		case again && within.Err() == nil:
			continue
		}
		if slow, ok := errors.AsType[net.Error](err); ok && slow.Timeout() {
			err = fmt.Errorf("no answer within %v", r.timeout)
		}
		return answer, err
	}
}

// failed says what could not be done, nil if err is.
func (r *Redis) failed(verb string, err error) error {
	if err == nil {
		return nil
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		// It names the address once more.
		err = op.Err
	}
	return r.redact(fmt.Errorf("cannot %s Redis at %s: %w", verb, r.address, err))
}

// redact returns an error that does not show the password. Old servers repeat
// a command they do not know, and with it what came along.
func (r *Redis) redact(err error) error {
	if r.password == "" || !strings.Contains(err.Error(), r.password) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), r.password, "********"))
}
