package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPortalMistakes checks the findings of the sections of the portal.
func TestPortalMistakes(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		env    vars
		want   []string
	}{
		"Slip": {
			reason: "Misspelled keys of the portal are reported, and other keys of the pages are ignored.",
			text:   "app: { titel: x, support: {} }\nbackend: { databse: {} }\ncatalog: { providers: { xrdTemplate: {}, github: {} } }\n",
			want: []string{
				`a.yaml:1:8: CONF003 app has no key "titel" | did you mean title? known keys: title, baseUrl and logo`,
				`a.yaml:2:12: CONF003 backend has no key "databse" | did you mean database? known keys: listen, https, baseUrl, allowedHosts, cors, database, cache, auth, reading, rateLimit, maxBody, maxPush, logger, lifecycle and telemetry`,
				`a.yaml:3:25: CONF003 catalog.providers has no key "xrdTemplate" | did you mean xrdTemplates? known keys: xrdTemplates`,
				"a.yaml:3:42: CONF013 catalog.providers.github has no effect here | remove it, unless a portal that shares the file uses it",
			},
		},
		"Listen": {
			reason: "An invalid listen address is reported.",
			text:   "backend:\n  listen: here\n  baseUrl: localhost:7007\n",
			want: []string{
				`a.yaml:2:11: CONF005 backend.listen: want an address to listen on, found "here" | write it as in :7007 for all interfaces, 127.0.0.1:7007, or 7007`,
				"a.yaml:3:12: CONF005 backend.baseUrl: want an address that begins with https:// or http://, and a host | write it as in https://10.0.0.1:6443",
			},
		},
		"ListenParts": {
			reason: "Each part of a listen address is checked.",
			text:   "backend:\n  listen: { host: 'a b', port: 70000, protocol: x }\n",
			want: []string{
				`a.yaml:2:19: CONF005 backend.listen.host: want an address or the name of a host, such as 127.0.0.1, or 0.0.0.0 for all interfaces, found "a b"`,
				"a.yaml:2:32: CONF005 backend.listen.port: want a port from 0 to 65535, found 70000",
				`a.yaml:2:39: CONF003 backend.listen has no key "protocol" | known keys: host and port`,
			},
		},
		"ListenType": {
			reason: "A list is not a listen address.",
			text:   "backend:\n  listen: [1]\n",
			want: []string{
				"a.yaml:2:11: CONF004 backend.listen: want an address to listen on, found a list | write it as in :7007 for all interfaces, 127.0.0.1:7007, or 7007",
			},
		},
		"Hosts": {
			reason: "An allowed host is a host, and not a star.",
			text:   "backend:\n  allowedHosts: ['https://x', '*', 'a/b']\n",
			want: []string{
				`a.yaml:2:18: CONF005 backend.allowedHosts[0]: want a host such as example.org, *.example.org or example.org:8443, without a scheme and a path, found "https://x"`,
				`a.yaml:2:31: CONF005 backend.allowedHosts[1]: want a host such as example.org, *.example.org or example.org:8443, without a scheme and a path, found "*"`,
				`a.yaml:2:36: CONF005 backend.allowedHosts[2]: want a host such as example.org, *.example.org or example.org:8443, without a scheme and a path, found "a/b"`,
			},
		},
		"HTTPS": {
			reason: "A certificate needs a key, and is configured once.",
			text:   "backend:\n  https: { certFile: a, certificate: { cert: b, key: c } }\n",
			want: []string{
				"a.yaml:2:12: CONF006 backend.https has certFile, but no keyFile | write both, or none",
				"a.yaml:2:25: CONF007 backend.https.certificate cannot be used with certFile at a.yaml:2:12 | keep one of the two",
			},
		},
		"HTTPSHalf": {
			reason: "A key needs a certificate.",
			text:   "backend:\n  https:\n    keyFile: a\n",
			want: []string{
				"a.yaml:3:5: CONF006 backend.https has keyFile, but no certFile | write both, or none",
			},
		},
		"HTTPSTrue": {
			reason: "A self-signed certificate is not supported.",
			text:   "backend:\n  https: true\n",
			want: []string{
				"a.yaml:2:10: CONF012 backend.https: a self-signed certificate generated at start is not supported | write certFile and keyFile",
			},
		},
		"HTTPSInline": {
			reason: "A key in the configuration is refused, as it cannot be renewed.",
			text:   "backend:\n  https: { certificate: { cert: '${PEM}', key: { $file: k.pem } } }\n",
			env:    vars{"PEM": "-----BEGIN CERTIFICATE-----"},
			want: []string{
				"a.yaml:2:33: CONF012 backend.https.certificate.cert: inline PEM is not supported | put it into a file and write { $file: path }",
			},
		},
		"CORS": {
			reason: "An origin is that of a browser, and not a star.",
			text:   "backend:\n  cors: { origin: ['*', 'https://x/'], methods: get, credentials: 1 }\n",
			want: []string{
				`a.yaml:2:20: CONF005 backend.cors.origin[0]: want an origin as browsers send it, such as https://portal.example.org, without a path and without *, found "*"`,
				`a.yaml:2:25: CONF005 backend.cors.origin[1]: want an origin as browsers send it, such as https://portal.example.org, without a path and without *, found "https://x/"`,
				`a.yaml:2:49: CONF005 backend.cors.methods: want GET, HEAD, PUT, PATCH, POST or DELETE, found "get"`,
				"a.yaml:2:67: CONF004 backend.cors.credentials: want true or false, found 1",
			},
		},
		"Memory": {
			reason: "An in-memory database of Backstage's example is refused.",
			text:   "backend:\n  database: { client: better-sqlite3, connection: ':memory:' }\n",
			want: []string{
				"a.yaml:2:51: CONF012 backend.database.connection: an in-memory database is not supported, because its data is lost on exit | write a path such as ./data/portal.sqlite, or remove connection",
			},
		},
		"Client": {
			reason: "An unknown database client is reported.",
			text:   "backend:\n  database: { client: mysql }\n",
			want: []string{
				`a.yaml:2:23: CONF005 backend.database.client: want sqlite, pg, better-sqlite3 or sqlite3, found "mysql"`,
			},
		},
		"Embedded": {
			reason: "An embedded PostgreSQL is not supported.",
			text:   "backend:\n  database: { client: embedded-postgres }\n",
			want: []string{
				"a.yaml:2:23: CONF012 backend.database.client: embedded-postgres is not supported | write sqlite, which needs no server, or pg",
			},
		},
		"Cache": {
			reason: "The store redis needs a connection.",
			text:   "backend: { cache: { store: redis } }\n",
			want: []string{
				"a.yaml:1:21: CONF006 backend.cache has store redis, but no connection | write connection: ${NAME}, with a URL such as redis://:password@host:6379/0 in it",
			},
		},
		"CacheMemory": {
			reason: "A connection without the store redis is reported.",
			text:   "backend: { cache: { connection: 'redis://:s3cr3t@r' } }\n",
			want: []string{
				"a.yaml:1:21: CONF007 backend.cache.connection cannot be used with store memory | write store: redis, or remove it",
			},
		},
		"CacheHidden": {
			reason: "An invalid connection is not shown.",
			text:   "backend: { cache: { store: redis, connection: 's3cr3t' } }\n",
			want: []string{
				"a.yaml:1:47: CONF005 backend.cache.connection: want the URL of a Redis server | write it as in redis://:password@host:6379/0, or rediss:// for TLS; in a password, percent-encode characters such as / or @ as %2F or %40",
			},
		},
		"CacheForeign": {
			reason: "Other stores and keys of Backstage are reported.",
			text:   "backend:\n  cache: { store: memcache, connection: 'x:11211', defaultTtl: 5 }\n",
			want: []string{
				"a.yaml:2:19: CONF012 backend.cache.store: memcache is not supported | write memory, which needs nothing, or redis",
				"a.yaml:2:41: CONF005 backend.cache.connection: want the URL of a Redis server | write it as in redis://:password@host:6379/0, or rediss:// for TLS; in a password, percent-encode characters such as / or @ as %2F or %40",
				"a.yaml:2:52: CONF013 backend.cache.defaultTtl has no effect here | remove it, unless a portal that shares the file uses it",
			},
		},
		"CacheValkey": {
			reason: "The store valkey has a hint to redis.",
			text:   "backend: { cache: { store: valkey, connection: 'redis://r' } }\n",
			want: []string{
				"a.yaml:1:28: CONF012 backend.cache.store: valkey is not a known store | write store: redis and redis:// before the address; it is compatible with Redis",
			},
		},
		"AuditFile": {
			reason: "An audit log in a file needs a path.",
			text:   "audit: { to: file }\n",
			want: []string{
				"a.yaml:1:10: CONF006 audit has to: file, but no file | write file: audit.jsonl, or another path",
			},
		},
		"AuditAlone": {
			reason: "A path without a destination is reported.",
			text:   "audit: { file: audit.jsonl }\n",
			want: []string{
				"a.yaml:1:10: CONF007 audit.file cannot be used with to: none | write to: file, or remove it",
			},
		},
		"AuditStdout": {
			reason: "An audit log has one destination.",
			text:   "audit: { to: stdout, file: audit.jsonl }\n",
			want: []string{
				"a.yaml:1:22: CONF007 audit.file cannot be used with to: stdout | write to: file, or remove it",
			},
		},
		"AuditUnknown": {
			reason: "An invalid destination causes no finding about the file.",
			text:   "audit: { to: stdot, file: audit.jsonl }\n",
			want: []string{
				`a.yaml:1:14: CONF005 audit.to: want none, stdout or file, found "stdot" | did you mean stdout?`,
			},
		},
		"AuditTypes": {
			reason: "A path must be text.",
			text:   "audit: { to: file, file: [a] }\n",
			want: []string{
				"a.yaml:1:26: CONF004 audit.file: want text, found a list",
			},
		},
		"ProviderOff": {
			reason: "A disabled provider needs no folder.",
			text:   "catalog: { providers: { xrdTemplates: { enabled: false } } }\n",
		},
		"NoConnection": {
			reason: "PostgreSQL needs a connection.",
			text:   "backend:\n  database:\n    client: pg\n",
			want: []string{
				"a.yaml:3:5: CONF006 backend.database has client pg, but no connection | write connection: ${NAME}, or a map of host, user, password and database",
			},
		},
		"ConnectionHidden": {
			reason: "An invalid connection is not shown.",
			text:   "backend:\n  database: { client: pg, connection: 's3cr3t' }\n",
			want: []string{
				"a.yaml:2:39: CONF005 backend.database.connection: want the URL of a PostgreSQL database | write it as in postgres://user:password@host:5432/database, or as a map of host, user, password and database",
			},
		},
		"ConnectionMixed": {
			reason: "Keys of SQLite cannot be used with PostgreSQL.",
			text:   "backend:\n  database: { client: pg, connection: { filename: x, ssl: { cert: a } } }\n",
			want: []string{
				"a.yaml:2:39: CONF006 backend.database.connection has no host | write the name of the server",
				"a.yaml:2:41: CONF007 backend.database.connection.filename cannot be used with client pg | remove it, or choose another client",
				"a.yaml:2:61: CONF006 backend.database.connection.ssl has cert, but no key | write both, or none",
			},
		},
		"ConnectionSQLite": {
			reason: "Keys of PostgreSQL cannot be used with SQLite.",
			text:   "backend:\n  database: { connection: { host: db, password: s3cr3t } }\n",
			want: []string{
				"a.yaml:2:29: CONF007 backend.database.connection.host cannot be used with client sqlite | remove it, or choose another client",
				"a.yaml:2:39: CONF007 backend.database.connection.password cannot be used with client sqlite | remove it, or choose another client",
			},
		},
		"ConnectionURL": {
			reason: "A URL from the environment is not a path, and is not shown.",
			text:   "backend:\n  database: { connection: '${PG}' }\n",
			env:    vars{"PG": "postgres://me:s3cr3t@db/x"},
			want: []string{
				"a.yaml:2:27: CONF005 backend.database.connection: want the path of a file, found the value of the environment variable PG | write the path alone, or client: pg",
			},
		},
		"ConnectionPlain": {
			reason: "A URL in the file is not a path, and is not shown.",
			text:   "backend:\n  database: { connection: 'postgres://me:s3cr3t@db/x' }\n",
			want: []string{
				"a.yaml:2:27: CONF005 backend.database.connection: want the path of a file, found text | write the path alone, or client: pg",
			},
		},
		"ConnectionCloud": {
			reason: "Connection types of clouds are not supported.",
			text:   "backend:\n  database: { client: pg, connection: { type: rds, host: x, password: \"a\\nb\" } }\n",
			want: []string{
				"a.yaml:2:47: CONF012 backend.database.connection.type: cloud-specific connection types are not supported | remove it, and connect with user and password",
				"a.yaml:2:71: CONF005 backend.database.connection.password contains a control character | remove line breaks and other control characters",
			},
		},
		"ExternalAccess": {
			reason: "Service tokens are strong, unique and have a valid subject.",
			text: "backend:\n  auth:\n    externalAccess:\n      - { type: static, options: { token: short, subject: ci } }\n" +
				"      - { type: static, options: { token: 0123456789abcdef, subject: guest } }\n" +
				"      - { type: static, options: { token: 0123456789abcdef, subject: 'a b' }, accessRestrictions: [] }\n" +
				"      - { type: jwks, options: { url: x } }\n      - { type: statik }\n      - { options: {} }\n      - type: static\n",
			want: []string{
				"a.yaml:4:43: CONF005 backend.auth.externalAccess[0].options.token: want at least 16 characters, so that it cannot be guessed | generate one with: openssl rand -base64 24",
				`a.yaml:5:70: CONF005 backend.auth.externalAccess[1].options.subject: want a name other than guest, user or service, which are kinds of callers, found "guest"`,
				"a.yaml:6:43: CONF010 backend.auth.externalAccess[2].options.token is already used by another service, at a.yaml:5:43 | use a different token for each service",
				`a.yaml:6:70: CONF005 backend.auth.externalAccess[2].options.subject: want a name without spaces, found "a b"`,
				"a.yaml:6:79: CONF012 backend.auth.externalAccess[2].accessRestrictions is not supported | restrict it with permission.rules, with the subject under who",
				"a.yaml:7:17: CONF012 backend.auth.externalAccess[3].type: jwks is not supported | write type: static with a token; tokens of an issuer are accepted by auth.providers.oidc",
				`a.yaml:8:17: CONF005 backend.auth.externalAccess[4].type: want static, found "statik" | did you mean static?`,
				"a.yaml:9:9: CONF006 backend.auth.externalAccess[5] has no type | write type: static",
				"a.yaml:9:20: CONF006 backend.auth.externalAccess[5].options has no subject | write the name of the service in logs and rules",
				"a.yaml:9:20: CONF006 backend.auth.externalAccess[5].options has no token | write token: ${NAME}",
				"a.yaml:10:9: CONF006 backend.auth.externalAccess[6] has no options | write options: { token: ${NAME}, subject: name }",
			},
		},
		"Guessable": {
			reason: "Weak secrets are reported everywhere.",
			text: "backend:\n  auth:\n    externalAccess:\n      - { type: static, options: { token: aaaaaaaaaaaaaaaa, subject: a } }\n" +
				"      - { type: static, options: { token: abcdefghabcdefgh, subject: b } }\n" +
				"      - { type: static, options: { token: '${TOKEN}', subject: c } }\n" +
				"auth: { session: { secret: 15-characters-x } }\nscaffolder: { secretKey: abababababababab }\n",
			env: vars{"TOKEN": "s3cr3t000000000000"},
			want: []string{
				"a.yaml:4:43: CONF005 backend.auth.externalAccess[0].options.token: want at least 8 different characters, so that it cannot be guessed | generate one with: openssl rand -base64 24",
				"a.yaml:5:43: CONF005 backend.auth.externalAccess[1].options.token: want text that does not repeat, so that it cannot be guessed | generate one with: openssl rand -base64 24",
				"a.yaml:6:43: CONF005 backend.auth.externalAccess[2].options.token: want at least 8 different characters, so that it cannot be guessed | generate one with: openssl rand -base64 24",
				"a.yaml:7:28: CONF005 auth.session.secret: want at least 16 characters, so that it cannot be guessed | generate one with: openssl rand -base64 24",
				"a.yaml:8:26: CONF005 scaffolder.secretKey: want at least 8 different characters, so that it cannot be guessed | generate one with: openssl rand -base64 24",
			},
		},
		"Policy": {
			reason: "Unsupported switches that would open access are errors.",
			text:   "backend: { auth: { dangerouslyDisableDefaultAuthPolicy: true } }\ncatalog: { readonly: true, processingInterval: false }\npermission: { rbac: {} }\n",
			want: []string{
				"a.yaml:1:57: CONF012 backend.auth.dangerouslyDisableDefaultAuthPolicy is not supported | remove it; auth.providers.guest lets people read without signing in",
				"a.yaml:2:22: CONF012 catalog.readonly is not supported | write locationTypes: [], and permission.rules that deny catalog.entity.delete and catalog.location.delete",
				"a.yaml:2:48: CONF012 catalog.processingInterval: locations that are never read again are not supported | write a long time, such as { days: 1 }",
				"a.yaml:3:15: CONF012 permission.rbac is not supported | write rules: who may do what",
			},
		},
		"Off": {
			reason: "Unsupported switches that are off are accepted.",
			text:   "backend: { auth: { dangerouslyDisableDefaultAuthPolicy: false } }\ncatalog: { readonly: false }\n",
		},
		"Reading": {
			reason: "Invalid hosts and roots are reported.",
			text:   "backend:\n  reading:\n    allow: [ { host: 'https://x' }, { host: '*' }, { paths: [a] } ]\n    roots: ['~/x', 1]\n    timeout: 1ms\n    maxSize: huge\n",
			want: []string{
				`a.yaml:3:22: CONF005 backend.reading.allow[0].host: want a host such as example.org, *.example.org or example.org:8443, without a scheme and a path, found "https://x"`,
				`a.yaml:3:45: CONF005 backend.reading.allow[1].host: want a host such as example.org, *.example.org or example.org:8443, without a scheme and a path, found "*"`,
				"a.yaml:3:52: CONF006 backend.reading.allow[2] has no host | write the name of the host, such as example.org or *.example.org",
				`a.yaml:3:62: CONF005 backend.reading.allow[2].paths[0]: want a path prefix, such as /catalog/, found "a"`,
				`a.yaml:4:13: CONF005 backend.reading.roots[0]: want a path, found "~/x" | write ${HOME} instead of ~, which is not expanded`,
				"a.yaml:4:20: CONF004 backend.reading.roots[1]: want text, found 1 | put it in quotes",
				"a.yaml:5:14: CONF005 backend.reading.timeout: want at least 100ms, found less",
				`a.yaml:6:14: CONF004 backend.reading.maxSize: want a size, found "huge" | write it as in 4MiB, or as a number of bytes`,
			},
		},
		"Limits": {
			reason: "Values out of range are reported.",
			text:   "backend:\n  rateLimit: { window: 10, incomingRequestLimit: 0, ipAllowList: [me] }\n  maxBody: 1\n  maxPush: 99999999999999 GB\n",
			want: []string{
				`a.yaml:2:24: CONF004 backend.rateLimit.window: want a duration, such as { minutes: 5 } or "5m", found 10 | add a unit`,
				"a.yaml:2:50: CONF005 backend.rateLimit.incomingRequestLimit: want a number from 1 to 1000000, found 0",
				`a.yaml:2:67: CONF005 backend.rateLimit.ipAllowList[0]: want an address or a network, such as 10.0.0.1 or 10.0.0.0/8, found "me"`,
				"a.yaml:3:12: CONF005 backend.maxBody: want a size from 1KiB to 1GiB, found 1",
				`a.yaml:4:12: CONF005 backend.maxPush: want a size from 1KiB to 64GiB, found "99999999999999 GB"`,
			},
		},
		"Telemetry": {
			reason: "An address that is no URL, an invalid header name and values out of range are reported, and no value of a header is shown.",
			text:   "backend:\n  telemetry:\n    endpoint: collector:4318\n    headers: { 'a b': s3cr3t, B: 7 }\n    sampleRatio: 2\n    interval: 10ms\n    trace: true\n",
			want: []string{
				"a.yaml:3:15: CONF005 backend.telemetry.endpoint: want an address that begins with https:// or http://, and a host | write it as in https://10.0.0.1:6443",
				"a.yaml:4:16: CONF005 backend.telemetry.headers.a b: invalid header name | write the name of an HTTP header, such as Authorization",
				"a.yaml:4:34: CONF004 backend.telemetry.headers.B: want text, found a number | put it in quotes",
				"a.yaml:5:18: CONF005 backend.telemetry.sampleRatio: want a number from 0 to 1, found 2",
				"a.yaml:6:15: CONF005 backend.telemetry.interval: want at least 1s, found less",
				`a.yaml:7:5: CONF003 backend.telemetry has no key "trace" | did you mean traces? known keys: endpoint, headers, traces, metrics, sampleRatio, interval and serviceName`,
			},
		},
		"TelemetryRatio": {
			reason: "A ratio is a number, and an address has no credentials.",
			text:   "backend:\n  telemetry: { endpoint: 'https://me:pw@collector', sampleRatio: half }\n",
			want: []string{
				"a.yaml:2:26: CONF011 backend.telemetry.endpoint contains credentials, which would be logged | remove everything before the @, and write the credentials under their own keys",
				`a.yaml:2:66: CONF004 backend.telemetry.sampleRatio: want a number from 0 to 1, found "half" | write the number alone, such as 0.1`,
			},
		},
		"RateLimitType": {
			reason: "A rate limit is a switch or a map.",
			text:   "backend:\n  rateLimit: 7\n",
			want: []string{
				"a.yaml:2:14: CONF004 backend.rateLimit: want true or false, found 7",
			},
		},
		"Providers": {
			reason: "Unsupported sign-in providers are reported.",
			text:   "auth:\n  providers:\n    github: { development: {} }\n    gest: {}\n    guest: { userEntityRef: group:default/x, ownershipEntityRefs: [a/b/c] }\n",
			want: []string{
				"a.yaml:3:5: CONF012 auth.providers.github is not supported | use oidc with the address of its issuer, or remove it",
				`a.yaml:4:5: CONF003 auth.providers has no key "gest" | did you mean guest? known keys: guest and oidc`,
				`a.yaml:5:29: CONF005 auth.providers.guest.userEntityRef: want a user, as name, namespace/name or user:namespace/name, found "group:default/x"`,
				`a.yaml:5:68: CONF005 auth.providers.guest.ownershipEntityRefs[0]: want name, namespace/name or kind:namespace/name, found "a/b/c"`,
			},
		},
		"OIDC": {
			reason: "An issuer is configured once, over https, with a client.",
			text:   "auth:\n  providers:\n    oidc: { metadataUrl: 'http://x/', issuer: 'http://y' }\n",
			want: []string{
				"a.yaml:3:11: CONF006 auth.providers.oidc has no clientId | write the client id of the portal at the issuer",
				"a.yaml:3:26: CONF011 auth.providers.oidc.metadataUrl would send credentials over plain HTTP | use https",
				"a.yaml:3:39: CONF007 auth.providers.oidc.issuer cannot be used with metadataUrl at a.yaml:3:13 | keep one of the two",
			},
		},
		"OIDCNothing": {
			reason: "An OIDC provider needs an issuer.",
			text:   "auth:\n  providers:\n    oidc: { clientId: a, clientSecret: 'a b', userNamespace: A_B }\n",
			want: []string{
				"a.yaml:3:11: CONF006 auth.providers.oidc has neither issuer nor metadataUrl | write the address of the issuer",
				"a.yaml:3:40: CONF005 auth.providers.oidc.clientSecret contains an invalid character at position 2 | remove spaces and line breaks; a file must contain only the secret",
				`a.yaml:3:62: CONF005 auth.providers.oidc.userNamespace: want the name of a namespace (lower-case letters, digits and dashes, at most 63), found "A_B"`,
			},
		},
		"OIDCEnvironment": {
			reason: "The current environment must be configured.",
			text:   "auth:\n  environment: ${E}\n  providers:\n    oidc: { staging: {}, production: {} }\n",
			env:    vars{"E": "s3cr3t"},
			want: []string{
				"a.yaml:4:11: CONF006 auth.providers.oidc has staging and production, but not the environment of auth.environment | add that environment, or set auth.environment to an existing one",
			},
		},
		"Lifetime": {
			reason: "A token lifetime has a maximum.",
			text:   "auth: { backstageTokenExpiration: 2d }\n",
			want: []string{
				"a.yaml:1:35: CONF005 auth.backstageTokenExpiration: want at most 1d, found more",
			},
		},
		"GuestOutside": {
			reason: "Guests that have no effect are reported.",
			text:   "auth:\n  environment: production\n  providers:\n    guest: {}\n",
			want: []string{
				"a.yaml:4:12: CONF013 auth.providers.guest has no effect, because auth.environment is not development | write dangerouslyAllowOutsideDevelopment: true to let guests in, or remove guest",
			},
		},
		"Rules": {
			reason: "A rule that matches no caller is reported.",
			text: "permission:\n  rules:\n    - { who: [guests, 'component:default/x', ci], permissions: [catalog.entity.raed, catalog.things.*, nonsense], result: allow }\n" +
				"    - { kinds: [a b], namespaces: [A], owners: [own, 'a b'], result: alow }\n    - { who: user }\n",
			want: []string{
				`a.yaml:3:15: CONF005 permission.rules[0].who[0]: want guest, user or service, a user or group such as group:default/platform, or a subject of backend.auth.externalAccess, found "guests"`,
				`a.yaml:3:23: CONF005 permission.rules[0].who[1]: want guest, user or service, a user or group such as group:default/platform, or a subject of backend.auth.externalAccess, found "component:default/x"`,
				`a.yaml:3:46: CONF005 permission.rules[0].who[2]: want guest, user or service, a user or group such as group:default/platform, or a subject of backend.auth.externalAccess, found "ci"`,
				`a.yaml:3:65: CONF005 permission.rules[0].permissions[0]: want the name of a permission, found "catalog.entity.raed" | did you mean catalog.entity.read?`,
				`a.yaml:3:86: CONF005 permission.rules[0].permissions[1]: want the name of a permission, found "catalog.things.*" | the names are in docs/configuration.md`,
				`a.yaml:3:104: CONF005 permission.rules[0].permissions[2]: want the name of a permission, found "nonsense" | the names are in docs/configuration.md`,
				`a.yaml:4:17: CONF005 permission.rules[1].kinds[0]: want a kind of entity, such as Component, found "a b"`,
				`a.yaml:4:36: CONF005 permission.rules[1].namespaces[0]: want the name of a namespace (lower-case letters, digits and dashes, at most 63), found "A"`,
				`a.yaml:4:54: CONF005 permission.rules[1].owners[1]: want name, namespace/name or kind:namespace/name, found "a b"`,
				`a.yaml:4:70: CONF005 permission.rules[1].result: want allow or deny, found "alow" | did you mean allow?`,
				"a.yaml:5:7: CONF006 permission.rules[2] has no result | write result: allow or result: deny",
				`a.yaml:5:14: CONF004 permission.rules[2].who: want a list, found "user" | write [ ] around it, or each entry on its own line after a dash`,
			},
		},
		"Catalog": {
			reason: "Invalid rules and locations are reported.",
			text: "catalog:\n  rules: [ { allow: [a/b], locations: [] }, {} ]\n  locations:\n    - { type: github, target: x }\n    - { type: file, target: 'a[' }\n" +
				"    - { type: url, target: 'https://me:s3cr3t@x/y?z' }\n    - { type: url, target: ./x }\n    - { type: file }\n  locationTypes: [git]\n  providers: { xrdTemplates: {} }\n",
			want: []string{
				`a.yaml:2:22: CONF005 catalog.rules[0].allow[0]: want a kind of entity, such as Component, found "a/b"`,
				"a.yaml:2:28: CONF012 catalog.rules[0].locations is not supported | move the rule to its entry in catalog.locations",
				"a.yaml:2:45: CONF006 catalog.rules[1] has no allow | write a list of kinds, such as [Component, API]",
				`a.yaml:4:15: CONF005 catalog.locations[0].type: want file or url, found "github"`,
				`a.yaml:5:29: CONF005 catalog.locations[1].target: want a path or pattern, found "a[" | close each [ with ], or write \[ for a literal [`,
				"a.yaml:6:28: CONF011 catalog.locations[2].target contains credentials, which would be logged | remove everything before the @, and write the credentials under their own keys",
				"a.yaml:7:28: CONF005 catalog.locations[3].target: want an address that begins with https:// or http://, and a host | write it as in https://10.0.0.1:6443",
				"a.yaml:8:7: CONF006 catalog.locations[4] has no target | write the path of a file, or an address",
				`a.yaml:9:19: CONF005 catalog.locationTypes[0]: want file or url, found "git"`,
				"a.yaml:10:30: CONF006 catalog.providers.xrdTemplates has no sourceDirectory | write the path of the folder that generators write entities to",
			},
		},
		"NoEffect": {
			reason: "Unsupported keys of Backstage are remarks.",
			text:   "backend: { trustProxy: true, csp: {} }\nauth: { providers: { guest: { signIn: {} } } }\ncatalog: { orphanStrategy: delete }\n",
			want: []string{
				"a.yaml:1:12: CONF013 backend.trustProxy has no effect here | remove it, unless a portal that shares the file uses it",
				"a.yaml:2:31: CONF013 auth.providers.guest.signIn has no effect here | remove it, unless a portal that shares the file uses it",
				"a.yaml:3:12: CONF013 catalog.orphanStrategy has no effect here | remove it, unless a portal that shares the file uses it",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, fs := load(tc.text, tc.env)
			if diff := cmp.Diff(tc.want, lines(fs)); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
