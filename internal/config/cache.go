package config

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source"
)

// Cache is where replicas share cached data.
type Cache struct {
	// Store is one of the constants.
	Store string
	// Connection is the URL of Redis; empty if it is not the store.
	Connection source.Secret
}

// The stores of a cache.
const (
	CacheMemory = "memory"
	CacheRedis  = "redis"
)

// foreignCaches are Backstage's other stores.
var foreignCaches = []string{"memcache", "infinispan"}

// valkey is another server that is compatible with Redis.
const valkey = "valkey"

func (c *Cache) read(o *object) {
	known := c.store(o)
	v := o.value("connection", true)
	if text, ok := o.r.textOf(v); ok {
		if isRedis(text) {
			c.Connection = source.Secret(text)
		} else {
			o.r.report(RuleValue, v.at, v.path, "write it as in redis://:password@host:6379/0, or rediss:// for TLS; in a password, percent-encode characters such as / or @ as %2F or %40",
				"%s: want the URL of a Redis server", v.path)
		}
	}
	o.done("connection", "secret", tree.OptStr(c.Connection.String()))
	switch {
	case !known:
	case c.Store == CacheRedis && !o.has("connection"):
		o.r.report(RuleMissing, o.keyAt("store"), o.pathTo("connection"), "write connection: ${NAME}, with a URL such as redis://:password@host:6379/0 in it",
			"%s has store %s, but no connection", o.path, CacheRedis)
	case c.Store == CacheMemory && o.has("connection"):
		o.r.report(RuleTogether, o.keyAt("connection"), o.pathTo("connection"), "write store: "+CacheRedis+", or remove it",
			"%s cannot be used with store %s", o.pathTo("connection"), CacheMemory)
	}
	o.noEffect("defaultTtl", "redis", "valkey", "infinispan")
}

// store reads the store of the cache, and reports whether it is valid.
func (c *Cache) store(o *object) bool {
	all := []string{CacheMemory, CacheRedis}
	v, text, ok := o.str("store")
	switch {
	case !ok:
		ok = !o.has("store")
	case text == valkey:
		o.r.report(RuleUnsupported, v.at, v.path, "write store: "+CacheRedis+" and redis:// before the address; it is compatible with Redis", "%s: %s is not a known store", v.path, text)
		ok = false
	case slices.Contains(foreignCaches, text):
		o.r.report(RuleUnsupported, v.at, v.path, "write "+CacheMemory+", which needs nothing, or "+CacheRedis, "%s: %s is not supported", v.path, text)
		ok = false
	default:
		ok = o.r.isOneOf(v, text, all)
		if ok {
			c.Store = text
		}
	}
	o.done("store", "one of "+strings.Join(all, ", "), tree.Str(c.Store))
	return ok
}

// isRedis reports whether text is the URL of a Redis server, optionally followed by a
// database number. A user needs a password.
func isRedis(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Hostname() == "" || !isPort(u) || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	if password, _ := u.User.Password(); u.User.Username() != "" && password == "" {
		return false
	}
	number := strings.Trim(u.Path, "/")
	_, err = strconv.ParseUint(number, 10, 16)
	return number == "" || err == nil
}

// marks is where the configuration sets the storage of changeDetection.
type marks struct {
	at   place
	path string
}

// checkMarks reports change detection in Redis without a configured Redis.
func (r *reader) checkMarks(c *Config) {
	used := c.Composer.Enabled && c.Composer.ChangeDetection.Enabled && c.Composer.ChangeDetection.Storage == StorageRedis
	if !used || !r.wants(SectionBackend) || c.Backend.Cache.Store == CacheRedis || r.describing {
		return
	}
	r.report(RuleMissing, r.marks.at, r.marks.path, "write backend: { cache: { store: "+CacheRedis+", connection: ${NAME} } }, or choose "+StorageMemory+" or "+StorageDatabase,
		"%s is %s, but backend.cache.store is not, so its address is unknown", r.marks.path, StorageRedis)
}
