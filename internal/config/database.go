package config

import (
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/input"
	"example.dev/ingestor/internal/config/keys"
	"example.dev/ingestor/internal/config/rule"
	"example.dev/ingestor/source"
)

// Database is where the portal stores its data.
type Database struct {
	// Client is "sqlite" or "pg".
	Client string
	// Path is the file of SQLite.
	Path string
	// URL is the connection string of PostgreSQL.
	URL source.Secret
}

// The databases.
const (
	ClientSQLite   = "sqlite"
	ClientPostgres = "pg"
)

// JobsPath returns the SQLite file of the queue: a separate one next to that of the
// catalog, so that neither waits for the other's writes.
func (d Database) JobsPath() string { return d.beside("-jobs" + filepath.Ext(d.Path)) }

// TasksKeyPath returns the file next to SQLite's with the key for the secrets of tasks,
// which is used if none is configured.
func (d Database) TasksKeyPath() string { return d.beside("-tasks.key") }

// beside returns a file next to SQLite's, whose name has the same beginning.
func (d Database) beside(end string) string {
	return strings.TrimSuffix(d.Path, filepath.Ext(d.Path)) + end
}

// sqliteNames are aliases of SQLite, after the libraries that Backstage uses.
var sqliteNames = []string{"better-sqlite3", "sqlite3"}

// sqliteFile is the name of the file in a folder for databases.
const sqliteFile = "portal.sqlite"

// inMemory is SQLite's name for a database that is lost when the process ends.
const inMemory = ":memory:"

func (d *Database) read(m *keys.Map, first input.Place) {
	d.client(m)
	m.NoEffect("prefix", "ensureExists", "ensureSchemaExists", "pluginDivisionMode", "role", "knexConfig", "skipMigrations", "plugin")
	if !m.Has("connection") && !m.Describing() {
		d.Path = first.Beside(d.Path)
	}
	get := m.Get
	if d.Client == ClientPostgres {
		get = m.GetSecret // It may contain a password.
	}
	v := get("connection")
	pg := postgres{Port: 5432, Database: "portal"}
	out := m.MapOr(v, "connection", "string", tree.Str(d.Path), d.text, func(m *keys.Map) {
		d.file(m)
		pg.read(m)
		d.only(m)
	})
	switch {
	case d.Client == ClientSQLite:
		d.URL = ""
		m.Out.Set("connection", tree.Obj(tree.F("filename", tree.Str(d.Path))))
	case v.Node.IsMap():
		d.Path, d.URL = "", source.Secret(pg.url())
		m.Out.Set("connection", out)
	default:
		d.Path = ""
		m.Out.Set("connection", tree.OptStr(d.URL.String()))
	}
	if d.Client == ClientPostgres && !m.Has("connection") {
		m.ReportMissing("connection", "", "write connection: ${NAME}, or a map of host, user, password and database",
			"%s has client %s, but no connection", m.Path(), ClientPostgres)
	}
}

// client reads which database is used.
func (d *Database) client(m *keys.Map) {
	all := append([]string{ClientSQLite, ClientPostgres}, sqliteNames...)
	v, text, ok := m.Str("client")
	switch {
	case !ok:
	case text == "embedded-postgres":
		v.Report(rule.Unsupported, "write "+ClientSQLite+", which needs no server, or "+ClientPostgres, "%s: %s is not supported", v.Path, text)
	case slices.Contains(sqliteNames, text):
		d.Client = ClientSQLite
	case v.IsOneOf(text, all...):
		d.Client = text
	}
	m.Done("client", "one of "+strings.Join(all, ", "), tree.Str(d.Client))
}

// text reads a connection that is text: a path, or the URL of PostgreSQL.
func (d *Database) text(v input.Value) {
	text, ok := v.Text()
	switch {
	case !ok:
	case d.Client == ClientPostgres:
		if isPostgres(text) {
			d.URL = source.Secret(text)
			return
		}
		v.Report(rule.Value, "write it as in postgres://user:password@host:5432/database, or as a map of host, user, password and database",
			"%s: want the URL of a PostgreSQL database", v.Path)
	default:
		d.toFile(v, text, "")
	}
}

// isPostgres reports whether text is the URL of a PostgreSQL database.
func isPostgres(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql") && (u.Host != "" || u.Query().Get("host") != "")
}

// file reads where SQLite's file is.
func (d *Database) file(m *keys.Map) {
	for _, key := range []string{"filename", "directory"} {
		inside := ""
		if key == "directory" {
			inside = sqliteFile
		}
		if v, text, ok := m.Str(key); ok {
			d.toFile(v, text, inside)
		}
		m.Note(key, "path", nil)
	}
	m.OneOf("filename", "directory")
}

// toFile sets the path of SQLite's file, or of the folder that contains it.
func (d *Database) toFile(v input.Value, text, inside string) {
	switch {
	case text == inMemory:
		v.Report(rule.Unsupported, "write a path such as ./data/"+sqliteFile+", or remove connection",
			"%s: an in-memory database is not supported, because its data is lost on exit", v.Path)
	case strings.HasPrefix(text, "file:"), strings.Contains(text, "://"):
		// The value may be a URL with a password.
		v.Secret = true
		v.Wrong("the path of a file", "write the path alone, or client: "+ClientPostgres)
	case v.IsPath(text):
		d.Path = filepath.Join(v.At.Beside(text), inside)
	}
}

// The keys of a connection that belong to one client.
var (
	fileKeys     = []string{"filename", "directory"}
	postgresKeys = []string{"host", "port", "user", "password", "database", "ssl"}
)

// only reports the keys of the other client, and missing ones.
func (d *Database) only(m *keys.Map) {
	others := postgresKeys
	if d.Client == ClientPostgres {
		others = fileKeys
		if m.Present() && !m.Has("host") {
			m.ReportMissing("host", "", "write the name of the server", "%s has no host", m.Path())
		}
	}
	for _, key := range others {
		if m.Has(key) {
			m.ReportKey(rule.Together, key, "remove it, or choose another client", "%s cannot be used with client %s", m.PathTo(key), d.Client)
		}
	}
}

// postgres is a connection that is written as a map.
type postgres struct {
	Host     string
	Port     int
	User     string
	Password source.Secret
	Database string
	mode     string
	// The CA of the server's certificate, and the client certificate and key.
	ca, cert, key string
}

// The SSL modes of PostgreSQL.
const (
	sslOff      = "disable"
	sslRequired = "require"
	sslVerified = "verify-full"
)

func (p *postgres) read(m *keys.Map) {
	v, text, ok := m.Str("type")
	if ok && text != "default" {
		v.Report(rule.Unsupported, "remove it, and connect with user and password", "%s: cloud-specific connection types are not supported", v.Path)
	}
	m.Note("type", "one of default", nil)
	m.Text("host", &p.Host, nil)
	m.Number("port", &p.Port, 1, maxPort)
	m.Text("user", &p.User, nil)
	m.Password("password", &p.Password)
	m.Text("database", &p.Database, nil)
	secure, verify := false, true
	out := m.MapOr(m.Get("ssl"), "ssl", "boolean", nil, func(v input.Value) { v.Flag(&secure) }, func(m *keys.Map) {
		m.Flag("rejectUnauthorized", &verify)
		m.PEMFile("ca", &p.ca)
		m.PEMFile("cert", &p.cert)
		m.PEMFile("key", &p.key)
		m.Both("cert", "key")
		secure = secure || m.Present()
	})
	switch {
	case !m.Has("ssl"):
		return
	case !secure:
		p.mode = sslOff
		out = tree.Boolean(false)
	case verify:
		p.mode = sslVerified
	default:
		p.mode = sslRequired
	}
	m.Out.Set("ssl", out)
}

// url returns the connection as a URL.
func (p *postgres) url() string {
	u := url.URL{Scheme: "postgres", Path: "/" + p.Database}
	q := url.Values{}
	if strings.HasPrefix(p.Host, "/") {
		// The folder of a Unix socket.
		q.Set("host", p.Host)
		q.Set("port", strconv.Itoa(p.Port))
	} else {
		u.Host = net.JoinHostPort(p.Host, strconv.Itoa(p.Port))
	}
	switch {
	case p.Password != "":
		u.User = url.UserPassword(p.User, p.Password.Reveal())
	case p.User != "":
		u.User = url.User(p.User)
	}
	for key, text := range map[string]string{"sslmode": p.mode, "sslrootcert": p.ca, "sslcert": p.cert, "sslkey": p.key} {
		if text != "" {
			q.Set(key, text)
		}
	}
	u.RawQuery = q.Encode()
	return u.String()
}
