package config

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/keys"
	"example.dev/ingestor/internal/config/rule"
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

func (c *Cache) read(m *keys.Map) {
	known := c.store(m)
	v := m.GetSecret("connection")
	if text, ok := v.Text(); ok {
		if isRedis(text) {
			c.Connection = source.Secret(text)
		} else {
			v.Report(rule.Value, "write it as in redis://:password@host:6379/0, or rediss:// for TLS; in a password, percent-encode characters such as / or @ as %2F or %40",
				"%s: want the URL of a Redis server", v.Path)
		}
	}
	m.Done("connection", "secret", tree.OptStr(c.Connection.String()))
	switch {
	case !known:
	case c.Store == CacheRedis && !m.Has("connection"):
		m.ReportMissing("connection", "store", "write connection: ${NAME}, with a URL such as redis://:password@host:6379/0 in it",
			"%s has store %s, but no connection", m.Path(), CacheRedis)
	case c.Store == CacheMemory && m.Has("connection"):
		m.ReportKey(rule.Together, "connection", "write store: "+CacheRedis+", or remove it",
			"%s cannot be used with store %s", m.PathTo("connection"), CacheMemory)
	}
	m.NoEffect("defaultTtl", "redis", "valkey", "infinispan")
}

// store reads the store of the cache, and reports whether it is valid.
func (c *Cache) store(m *keys.Map) bool {
	all := []string{CacheMemory, CacheRedis}
	v, text, ok := m.Str("store")
	switch {
	case !ok:
		ok = !m.Has("store")
	case text == valkey:
		v.Report(rule.Unsupported, "write store: "+CacheRedis+" and redis:// before the address; it is compatible with Redis", "%s: %s is not a known store", v.Path, text)
		ok = false
	case slices.Contains(foreignCaches, text):
		v.Report(rule.Unsupported, "write "+CacheMemory+", which needs nothing, or "+CacheRedis, "%s: %s is not supported", v.Path, text)
		ok = false
	default:
		ok = v.IsOneOf(text, all...)
		if ok {
			c.Store = text
		}
	}
	m.Done("store", "one of "+strings.Join(all, ", "), tree.Str(c.Store))
	return ok
}

// isRedis reports whether text is the URL of a Redis server, optionally followed by a
// database number. A user needs a password.
func isRedis(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Hostname() == "" || !keys.IsPort(u) || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	if password, _ := u.User.Password(); u.User.Username() != "" && password == "" {
		return false
	}
	number := strings.Trim(u.Path, "/")
	_, err = strconv.ParseUint(number, 10, 16)
	return number == "" || err == nil
}

// checkMarks reports change detection in Redis without a configured Redis.
func (l *loader) checkMarks(m *keys.Map) {
	detection := l.c.Composer.ChangeDetection
	used := l.c.Composer.Enabled && detection.Enabled && detection.Storage == StorageRedis
	if !used || !l.wants(SectionBackend) || l.c.Backend.Cache.Store == CacheRedis || m.Describing() {
		return
	}
	at := m.Written()[SectionComposer+".changeDetection.storage"]
	m.Report(rule.Missing, at.Key, at.Path, "write backend: { cache: { store: "+CacheRedis+", connection: ${NAME} } }, or choose "+StorageMemory+" or "+StorageDatabase,
		"%s is %s, but backend.cache.store is not, so its address is unknown", at.Path, StorageRedis)
}
