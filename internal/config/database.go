package config

import (
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
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

func (d *Database) read(o *object) {
	d.client(o)
	o.noEffect("prefix", "ensureExists", "ensureSchemaExists", "pluginDivisionMode", "role", "knexConfig", "skipMigrations", "plugin")
	if !o.has("connection") && !o.r.describing {
		d.Path = o.r.besideFirst(d.Path)
	}
	// The connection of PostgreSQL may contain a password.
	v := o.value("connection", d.Client == ClientPostgres)
	pg := postgres{Port: 5432, Database: "portal"}
	out := o.mapOr(v, "connection", "string", tree.Str(d.Path), func(v value) { d.text(o, v) }, func(o *object) {
		d.file(o)
		pg.read(o)
		d.only(o)
	})
	switch {
	case d.Client == ClientSQLite:
		d.URL = ""
		o.out.Set("connection", tree.Obj(tree.F("filename", tree.Str(d.Path))))
	case v.node.IsMap():
		d.Path, d.URL = "", source.Secret(pg.url())
		o.out.Set("connection", out)
	default:
		d.Path = ""
		o.out.Set("connection", tree.OptStr(d.URL.String()))
	}
	if d.Client == ClientPostgres && !o.has("connection") {
		o.r.report(RuleMissing, o.at, o.pathTo("connection"), "write connection: ${NAME}, or a map of host, user, password and database",
			"%s has client %s, but no connection", o.path, ClientPostgres)
	}
}

// client reads which database is used.
func (d *Database) client(o *object) {
	all := append([]string{ClientSQLite, ClientPostgres}, sqliteNames...)
	v, text, ok := o.str("client")
	switch {
	case !ok:
	case text == "embedded-postgres":
		o.r.report(RuleUnsupported, v.at, v.path, "write "+ClientSQLite+", which needs no server, or "+ClientPostgres, "%s: %s is not supported", v.path, text)
	case slices.Contains(sqliteNames, text):
		d.Client = ClientSQLite
	case o.r.isOneOf(v, text, all):
		d.Client = text
	}
	o.done("client", "one of "+strings.Join(all, ", "), tree.Str(d.Client))
}

// text reads a connection that is text: a path, or the URL of PostgreSQL.
func (d *Database) text(o *object, v value) {
	text, ok := o.r.textOf(v)
	switch {
	case !ok:
	case d.Client == ClientPostgres:
		if isPostgres(text) {
			d.URL = source.Secret(text)
			return
		}
		o.r.report(RuleValue, v.at, v.path, "write it as in postgres://user:password@host:5432/database, or as a map of host, user, password and database",
			"%s: want the URL of a PostgreSQL database", v.path)
	default:
		d.toFile(o, v, text, "")
	}
}

// isPostgres reports whether text is the URL of a PostgreSQL database.
func isPostgres(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql") && (u.Host != "" || u.Query().Get("host") != "")
}

// file reads where SQLite's file is.
func (d *Database) file(o *object) {
	for _, key := range []string{"filename", "directory"} {
		inside := ""
		if key == "directory" {
			inside = sqliteFile
		}
		if v, text, ok := o.str(key); ok {
			d.toFile(o, v, text, inside)
		}
		o.note(key, "path", nil)
	}
	o.oneOf("filename", "directory")
}

// toFile sets the path of SQLite's file, or of the folder that contains it.
func (d *Database) toFile(o *object, v value, text, inside string) {
	switch {
	case text == inMemory:
		o.r.report(RuleUnsupported, v.at, v.path, "write a path such as ./data/"+sqliteFile+", or remove connection",
			"%s: an in-memory database is not supported, because its data is lost on exit", v.path)
	case strings.HasPrefix(text, "file:"), strings.Contains(text, "://"):
		// The value may be a URL with a password.
		v.secret = true
		o.r.wrong(v, "the path of a file", "write the path alone, or client: "+ClientPostgres)
	case o.r.isPath(v, text):
		d.Path = filepath.Join(o.r.beside(text, v.at), inside)
	}
}

// The keys of a connection that belong to one client.
var (
	fileKeys     = []string{"filename", "directory"}
	postgresKeys = []string{"host", "port", "user", "password", "database", "ssl"}
)

// only reports the keys of the other client, and missing ones.
func (d *Database) only(o *object) {
	others := postgresKeys
	if d.Client == ClientPostgres {
		others = fileKeys
		if o.node != nil && !o.has("host") {
			o.r.report(RuleMissing, o.at, o.pathTo("host"), "write the name of the server", "%s has no host", o.path)
		}
	}
	for _, key := range others {
		if o.has(key) {
			o.r.report(RuleTogether, o.keyAt(key), o.pathTo(key), "remove it, or choose another client", "%s cannot be used with client %s", o.pathTo(key), d.Client)
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

func (p *postgres) read(o *object) {
	v, text, ok := o.str("type")
	if ok && text != "default" {
		o.r.report(RuleUnsupported, v.at, v.path, "remove it, and connect with user and password", "%s: cloud-specific connection types are not supported", v.path)
	}
	o.note("type", "one of default", nil)
	o.text("host", &p.Host, nil)
	o.number("port", &p.Port, 1, maxPort)
	o.text("user", &p.User, nil)
	o.password("password", &p.Password)
	o.text("database", &p.Database, nil)
	secure, verify := false, true
	out := o.mapOr(o.get("ssl"), "ssl", "boolean", nil, func(v value) { o.r.flagOf(v, &secure) }, func(o *object) {
		o.flag("rejectUnauthorized", &verify)
		o.pemFile("ca", &p.ca)
		o.pemFile("cert", &p.cert)
		o.pemFile("key", &p.key)
		o.both("cert", "key")
		secure = secure || o.node != nil
	})
	switch {
	case !o.has("ssl"):
		return
	case !secure:
		p.mode = sslOff
		out = tree.Boolean(false)
	case verify:
		p.mode = sslVerified
	default:
		p.mode = sslRequired
	}
	o.out.Set("ssl", out)
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
