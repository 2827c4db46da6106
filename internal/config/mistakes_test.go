package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMistakes checks every kind of finding: position, message and hint.
func TestMistakes(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		env    vars
		want   []string
	}{
		"UnknownKey": {
			reason: "A misspelled key has a suggestion and the known keys.",
			text:   "composerIngestor:\n  caching:\n    enabled: true\n    tll: 5\n",
			want: []string{
				`a.yaml:4:5: CONF003 composerIngestor.caching has no key "tll" | did you mean ttl? known keys: enabled, ttl and maxSize`,
			},
		},
		"UnknownKeyFar": {
			reason: "An unknown key without a suggestion has the known keys.",
			text:   "composerIngestor:\n  schedule: { colour: red }\n",
			want: []string{
				`a.yaml:2:15: CONF003 composerIngestor.schedule has no key "colour" | known keys: frequency and timeout`,
			},
		},
		"UnknownInSection": {
			reason: "Unknown keys of a section are reported.",
			text:   "crossplaneIngestor:\n  enable: true\n",
			want: []string{
				`a.yaml:2:3: CONF003 crossplaneIngestor has no key "enable" | did you mean enabled? known keys: enabled, defaultOwner, defaultSystem, schedule, watch, clusters, sources, ingestAll, compositions, composites, xrdFilters, templateGeneration, generateDayTwoTemplates, caching, processing, changeDetection, massRemoval and logging`,
			},
		},
		"NearlySection": {
			reason: "A misspelled section is reported, as it would be disabled silently.",
			text:   "composerIngester:\n  enabled: true\nKubernetes: {}\nkuberntes-ingestor: {}\n",
			want: []string{
				`a.yaml:1:1: CONF003 "composerIngester" is not a known section | did you mean composerIngestor?`,
				`a.yaml:3:1: CONF003 "Kubernetes" is not a known section | did you mean kubernetes?`,
			},
		},
		"ShortSlips": {
			reason: "A short section that is misspelled in case or one letter is reported.",
			text:   "Auth: {}\nauht: {}\nbacked: {}\ncatalogs: {}\nApp: {}\naps: {}\nauthors: {}\n",
			want: []string{
				`a.yaml:1:1: CONF003 "Auth" is not a known section | did you mean auth?`,
				`a.yaml:2:1: CONF003 "auht" is not a known section | did you mean auth?`,
				`a.yaml:3:1: CONF003 "backed" is not a known section | did you mean backend?`,
				`a.yaml:4:1: CONF003 "catalogs" is not a known section | did you mean catalog?`,
				`a.yaml:5:1: CONF003 "App" is not a known section | did you mean app?`,
			},
		},
		"ForeignSections": {
			reason: "Other sections of a portal are ignored.",
			text:   "organization: { title: x }\nproxy: { secret: '${NOT_SET}' }\ncostInsights: { $include: x.yaml }\ntechdocs: 1\nworks: 2\n",
		},
		"BothVocabularies": {
			reason: "One section in two spellings is a conflict.",
			text:   "crossplaneIngestor: {}\ncomposerIngestor: {}\nkubernetes: {}\norchestrator: {}\nclusterIngestor:\n  composer: {}\n  crossplane: {}\n",
			want: []string{
				"a.yaml:2:1: CONF007 composerIngestor cannot be used with crossplaneIngestor at a.yaml:1:1 | keep one of the two",
				"a.yaml:4:1: CONF007 orchestrator cannot be used with kubernetes at a.yaml:3:1 | keep one of the two",
				"a.yaml:7:3: CONF007 clusterIngestor.crossplane cannot be used with composer at a.yaml:6:3 | keep one of the two",
			},
		},
		"BothButOneEmpty": {
			reason: "A null section is missing.",
			text:   "crossplaneIngestor: {}\ncomposerIngestor:\n",
		},
		"SectionNotMap": {
			reason: "A section must be a map.",
			text:   "composerIngestor: true\nclusterIngestor: [a]\norchestrator: text\n",
			want: []string{
				"a.yaml:1:19: CONF004 composerIngestor: want a map, found true | write its keys below it, indented",
				"a.yaml:2:18: CONF004 clusterIngestor: want a map, found a list | write its keys below it, indented",
				`a.yaml:3:15: CONF004 orchestrator: want a map, found "text" | write its keys below it, indented`,
			},
		},
		"Boolean": {
			reason: "A boolean is true or false, without quotes.",
			text:   "composerIngestor:\n  enabled: \"true\"\n  caching: { enabled: yes }\n  changeDetection: { enabled: 1 }\n  logging: { logRequests: [true] }\n",
			want: []string{
				`a.yaml:2:12: CONF004 composerIngestor.enabled: want true or false, found "true" | remove the quotes`,
				`a.yaml:3:23: CONF004 composerIngestor.caching.enabled: want true or false, found "yes"`,
				"a.yaml:4:31: CONF004 composerIngestor.changeDetection.enabled: want true or false, found 1",
				"a.yaml:5:27: CONF004 composerIngestor.logging.logRequests: want true or false, found a list",
			},
		},
		"Number": {
			reason: "A number is an integer within its limits.",
			text: "composerIngestor:\n  caching: { ttl: 5m, maxSize: 0 }\n" +
				"  processing: { batchSize: \"10\", parallelism: 1.5, retryAttempts: -1, retryDelay: 99999999999999999999999 }\n" +
				"clusterIngestor:\n  components: { taskRunner: { frequency: { seconds: 5 } } }\n",
			want: []string{
				`a.yaml:2:19: CONF004 composerIngestor.caching.ttl: want a number of seconds from 1 to 31622400, found "5m" | write the number alone`,
				"a.yaml:2:32: CONF005 composerIngestor.caching.maxSize: want a number from 1 to 1000000, found 0",
				`a.yaml:3:28: CONF004 composerIngestor.processing.batchSize: want a number from 1 to 10000, found "10" | remove the quotes`,
				"a.yaml:3:47: CONF004 composerIngestor.processing.parallelism: want a whole number, found 1.5",
				"a.yaml:3:67: CONF005 composerIngestor.processing.retryAttempts: want a number from 0 to 100, found -1",
				"a.yaml:3:83: CONF005 composerIngestor.processing.retryDelay: want a number of milliseconds from 0 to 3600000, found 99999999999999999999999",
				"a.yaml:5:42: CONF004 clusterIngestor.components.taskRunner.frequency: want a number of seconds from 1 to 31622400, found a map",
			},
		},
		"Text": {
			reason: "A text must be text and not empty.",
			text:   "composerIngestor:\n  defaultOwner: 12\n  defaultSystem: ''\n  templateGeneration: { defaultNamespace: My Namespace }\n",
			want: []string{
				"a.yaml:2:17: CONF004 composerIngestor.defaultOwner: want text, found 12 | put it in quotes",
				"a.yaml:3:18: CONF005 composerIngestor.defaultSystem is empty | write a value, or remove it",
				`a.yaml:4:43: CONF005 composerIngestor.templateGeneration.defaultNamespace: want the name of a namespace (lower-case letters, digits and dashes, at most 63), found "My Namespace"`,
			},
		},
		"Reference": {
			reason: "An owner must be a valid entity reference.",
			text:   "composerIngestor:\n  defaultOwner: a/b/c\n  defaultSystem: two words\n",
			want: []string{
				`a.yaml:2:17: CONF005 composerIngestor.defaultOwner: want name, namespace/name or kind:namespace/name, found "a/b/c"`,
				`a.yaml:3:18: CONF005 composerIngestor.defaultSystem: want name, namespace/name or kind:namespace/name, found "two words"`,
			},
		},
		"Choice": {
			reason: "A misspelled value has a suggestion.",
			text: "words: Upstraem\ncomposerIngestor:\n  changeDetection: { method: Hash, storage: sqlite }\n" +
				"  logging: { level: verbose }\n",
			want: []string{
				`a.yaml:1:8: CONF005 words: want auto, portal or upstream, found "Upstraem" | did you mean upstream?`,
				`a.yaml:3:30: CONF005 composerIngestor.changeDetection.method: want resourceVersion, hash or timestamp, found "Hash" | did you mean hash?`,
				`a.yaml:3:45: CONF005 composerIngestor.changeDetection.storage: want memory, database or redis, found "sqlite"`,
				`a.yaml:4:21: CONF005 composerIngestor.logging.level: want debug, info, warn or error, found "verbose"`,
			},
		},
		"Strings": {
			reason: "A list of texts must have valid items.",
			text:   "composerIngestor:\n  xrdFilters:\n    groups: platform.io\n    exclude: [a, 1, '', ~, [b]]\n    namespaces: [ok, Not_ok]\n",
			want: []string{
				`a.yaml:3:13: CONF004 composerIngestor.xrdFilters.groups: want a list, found "platform.io" | write [ ] around it, or each entry on its own line after a dash`,
				"a.yaml:4:18: CONF004 composerIngestor.xrdFilters.exclude[1]: want text, found 1 | put it in quotes",
				"a.yaml:4:21: CONF005 composerIngestor.xrdFilters.exclude[2] is empty | write a value, or remove it",
				"a.yaml:4:25: CONF004 composerIngestor.xrdFilters.exclude[3]: want text, found nothing",
				"a.yaml:4:28: CONF004 composerIngestor.xrdFilters.exclude[4]: want text, found a list",
				`a.yaml:5:22: CONF005 composerIngestor.xrdFilters.namespaces[1]: want the name of a namespace (lower-case letters, digits and dashes, at most 63), found "Not_ok"`,
			},
		},
		"Selector": {
			reason: "An invalid selector has its position.",
			text: "composerIngestor:\n  xrdFilters:\n    labelSelector: a=b c=d\n    annotationSelector: '!'\n" +
				"kubernetesIngestor: {}\n",
			want: []string{
				`a.yaml:3:20: CONF005 composerIngestor.xrdFilters.labelSelector: cannot read selector "a=b c=d": column 5: expected a comma or the end, found "c" | write it as in team=payments,env in (dev, test),!legacy`,
				`a.yaml:4:25: CONF005 composerIngestor.xrdFilters.annotationSelector: cannot read selector "!": column 2: expected a key, found the end | write it as in team=payments,env in (dev, test),!legacy`,
			},
		},
		"SelectorType": {
			reason: "A selector must be text, not a map.",
			text:   "composerIngestor:\n  xrdFilters:\n    labelSelector: { a: b }\n",
			want: []string{
				"a.yaml:3:20: CONF004 composerIngestor.xrdFilters.labelSelector: want a selector, found a map | write it as text, such as team=payments,env in (dev, test),!legacy",
			},
		},
		"Duration": {
			reason: "A duration needs a unit and has a maximum.",
			text: "composerIngestor:\n  schedule:\n    frequency: 5\n    timeout: soon\n" +
				"clusterIngestor: {}\n",
			want: []string{
				`a.yaml:3:16: CONF004 composerIngestor.schedule.frequency: want a duration, such as { minutes: 5 } or "5m", found 5 | add a unit`,
				`a.yaml:4:14: CONF004 composerIngestor.schedule.timeout: want a duration, such as { minutes: 5 } or "5m", found "soon"`,
			},
		},
		"DurationParts": {
			reason: "Each unit of a duration is a number.",
			text:   "composerIngestor:\n  schedule:\n    frequency: { minutes: many, second: 5 }\n    timeout: { minutes: -1 }\n",
			want: []string{
				`a.yaml:3:27: CONF004 composerIngestor.schedule.frequency.minutes: want a number of minutes, found "many"`,
				`a.yaml:3:33: CONF003 composerIngestor.schedule.frequency has no key "second" | did you mean seconds? known keys: weeks, days, hours, minutes, seconds and milliseconds`,
				"a.yaml:4:25: CONF005 composerIngestor.schedule.timeout.minutes: want a number of minutes that is not negative, found -1",
			},
		},
		"DurationBounds": {
			reason: "A duration has a minimum and a maximum.",
			text:   "composerIngestor:\n  schedule:\n    frequency: 10ms\n    timeout: { days: 1e300 }\n",
			want: []string{
				"a.yaml:3:16: CONF005 composerIngestor.schedule.frequency: want at least 1s, found less",
				"a.yaml:4:14: CONF005 composerIngestor.schedule.timeout: want at most 366d, found more",
			},
		},
		"DurationEmpty": {
			reason: "A duration needs a unit.",
			text:   "composerIngestor:\n  schedule:\n    frequency: {}\n    timeout: true\n",
			want: []string{
				`a.yaml:3:16: CONF004 composerIngestor.schedule.frequency: want a duration, such as { minutes: 5 } or "5m", found a map | add a unit`,
				`a.yaml:4:14: CONF004 composerIngestor.schedule.timeout: want a duration, such as { minutes: 5 } or "5m", found true`,
			},
		},
		"Syntax": {
			reason: "Invalid YAML has a position.",
			text:   "composerIngestor:\n  enabled: [true\n",
			want: []string{
				"a.yaml:2:3: CONF002 did not find expected ',' or ']' | check the indentation and the quotes on this line and the one before it",
			},
		},
		"SyntaxHidesWords": {
			reason: "A token that begins with an asterisk is not shown.",
			text:   "composerIngestor:\n  clusters: [ { token: *s3cr3tt0k3n } ]\n",
			want: []string{
				"a.yaml:2:24: CONF002 unknown anchor '…' referenced | quote the value if the asterisk is part of it",
			},
		},
		"DuplicateKey": {
			reason: "A duplicate key is reported.",
			text:   "composerIngestor:\n  enabled: true\n  enabled: false\n",
			want: []string{
				`a.yaml:3:3: CONF002 key "enabled" is given twice, first on line 2 | keep one of the two`,
			},
		},
		"TwoDocuments": {
			reason: "A second document is reported.",
			text:   "app: {}\n---\ncomposerIngestor: {}\n",
			want: []string{
				"a.yaml:3:1: CONF002 a configuration file must hold one document, and a second begins here | remove the ---, or move the second document to another file and pass both",
			},
		},
		"NotMap": {
			reason: "A file that is not a map is reported.",
			text:   "- a\n- b\n",
			want: []string{
				"a.yaml:1:1: CONF002 a configuration file must hold a map, found a list | write keys with values, such as composerIngestor:",
			},
		},
		"IncludeTop": {
			reason: "A $ key at the top level is reported.",
			text:   "$include: other.yaml\n",
			want: []string{
				"a.yaml:1:1: CONF012 a $ key is not supported at the top level | pass another configuration file",
			},
		},
		"Unset": {
			reason: "Each missing variable is reported.",
			text:   "composerIngestor:\n  defaultOwner: ${A}-${B}\n  defaultSystem: { $env: C }\n",
			want: []string{
				"a.yaml:2:17: CONF008 composerIngestor.defaultOwner needs the environment variable A, which is not set | set it, or write ${A:-default}",
				"a.yaml:2:17: CONF008 composerIngestor.defaultOwner needs the environment variable B, which is not set | set it, or write ${B:-default}",
				"a.yaml:3:18: CONF008 composerIngestor.defaultSystem needs the environment variable C, which is not set | set it, or write ${C:-default}",
			},
		},
		"Variable": {
			reason: "Invalid variable names and missing braces are reported.",
			text:   "composerIngestor:\n  defaultOwner: ${a b}\n  defaultSystem: \"${A\"\n  templateGeneration: { defaultNamespace: '${}' }\n",
			want: []string{
				`a.yaml:2:17: CONF008 composerIngestor.defaultOwner: "a b" is not the name of an environment variable | write ${NAME}, ${NAME:-default}, or $${…} for literal text`,
				"a.yaml:3:18: CONF008 composerIngestor.defaultSystem has a ${ that is not closed | close it with }",
				`a.yaml:4:43: CONF008 composerIngestor.templateGeneration.defaultNamespace: "" is not the name of an environment variable | write ${NAME}, ${NAME:-default}, or $${…} for literal text`,
			},
		},
		"VariableHidden": {
			reason: "The value of a variable is not shown.",
			text:   "composerIngestor:\n  enabled: ${A}\n  caching: { ttl: '${A}' }\n  changeDetection: { method: '${A}' }\n  schedule: { timeout: '${A}' }\n  xrdFilters: { labelSelector: '${A} ${A}' }\n  defaultOwner: ${A}\n  defaultSystem: ${EMPTY}\n",
			env:    vars{"A": "s3cr3t/value/x", "EMPTY": ""},
			want: []string{
				"a.yaml:2:12: CONF004 composerIngestor.enabled: want true or false, found the value of the environment variable A",
				"a.yaml:3:19: CONF004 composerIngestor.caching.ttl: want a number of seconds from 1 to 31622400, found the value of the environment variable A",
				"a.yaml:4:30: CONF005 composerIngestor.changeDetection.method: want resourceVersion, hash or timestamp, found the value of the environment variable A",
				`a.yaml:5:24: CONF004 composerIngestor.schedule.timeout: want a duration, such as { minutes: 5 } or "5m", found the value of the environment variable A`,
				"a.yaml:6:32: CONF005 composerIngestor.xrdFilters.labelSelector: want a selector, found the value of the environment variable A | write it as in team=payments,env in (dev, test),!legacy",
				"a.yaml:7:17: CONF005 composerIngestor.defaultOwner: want name, namespace/name or kind:namespace/name, found the value of the environment variable A",
				"a.yaml:8:18: CONF005 composerIngestor.defaultSystem is empty, because the environment variable EMPTY is empty | write a value, or remove it",
			},
		},
		"Include": {
			reason: "Only two includes are supported, and each must be the only key.",
			text: "composerIngestor:\n  defaultOwner: { $include: x.yaml }\n  defaultSystem: { $file: nowhere.txt }\n" +
				"  templateGeneration: { defaultNamespace: { $env: A, $file: b } }\n  logging: { level: { $env: [a] } }\n  clusters: [ { $env: LIST } ]\n  schedule: { $env: LIST }\n",
			env: vars{"LIST": "[]"},
			want: []string{
				"a.yaml:2:19: CONF012 composerIngestor.defaultOwner uses $include, which is not supported | use $env or $file, or pass another configuration file",
				`a.yaml:3:18: CONF009 composerIngestor.defaultSystem: cannot read the file "nowhere.txt": file not found | check the spelling`,
				"a.yaml:4:43: CONF004 composerIngestor.templateGeneration.defaultNamespace has other keys next to a $ key | write $env or $file alone",
				"a.yaml:5:29: CONF004 composerIngestor.logging.level: want text after $env, found a list",
				"a.yaml:6:15: CONF004 composerIngestor.clusters[0]: want a map, found the value of the environment variable LIST | write its keys after the dash",
				"a.yaml:7:13: CONF004 composerIngestor.schedule: want a map, found the value of the environment variable LIST | write its keys below it, indented",
			},
		},
		"Sources": {
			reason: "A source is a file or a git repository.",
			text: "composerIngestor:\n  sources:\n    - { name: a, type: file }\n    - { name: a, type: git, path: /x }\n" +
				"    - { type: svn, repo: 'https://x/y' }\n    - { name: c, type: file, path: x, repo: 'https://x/y', branch: main }\n" +
				"    - { name: d, type: git, repo: 'https://me:s3cr3t@x/y', branch: '-x', path: ../up }\n    - { name: e, type: git, repo: here }\n    - text\n    -\n",
			want: []string{
				"a.yaml:3:7: CONF006 composerIngestor.sources[0] has no path | write the path of a file or folder",
				"a.yaml:4:7: CONF006 composerIngestor.sources[1] has no repo | write the address of the repository",
				`a.yaml:4:15: CONF010 composerIngestor.sources[1].name: "a" is already used at a.yaml:3:15 | rename or remove one of the two`,
				`a.yaml:4:35: CONF005 composerIngestor.sources[1].path: want a path inside the repository, found "/x" | write it from the top of the repository, without a slash before it`,
				"a.yaml:5:7: CONF006 composerIngestor.sources[2] has no name | write a name",
				`a.yaml:5:15: CONF005 composerIngestor.sources[2].type: want file or git, found "svn"`,
				"a.yaml:6:39: CONF007 composerIngestor.sources[3].repo cannot be used with type file | write type: git, or remove it",
				"a.yaml:6:60: CONF007 composerIngestor.sources[3].branch cannot be used with type file | write type: git, or remove it",
				"a.yaml:7:35: CONF011 composerIngestor.sources[4].repo contains credentials, which would be logged | remove everything before the @",
				`a.yaml:7:68: CONF005 composerIngestor.sources[4].branch: want the name of a branch, found "-x"`,
				`a.yaml:7:80: CONF005 composerIngestor.sources[4].path: want a path inside the repository, found "../up" | write it from the top of the repository, without a slash before it`,
				"a.yaml:8:35: CONF005 composerIngestor.sources[5].repo: want the address of a repository | write it as in https://git.example.org/team/repo.git or git@git.example.org:team/repo.git",
				`a.yaml:9:7: CONF004 composerIngestor.sources[6]: want a map, found "text" | write its keys after the dash`,
				"a.yaml:10:6: CONF004 composerIngestor.sources[7]: want a map, found nothing | write its keys after the dash",
			},
		},
		"SourceAuth": {
			reason: "Credentials must match the protocol of the repository.",
			text: "composerIngestor:\n  sources:\n    - { name: a, type: file, path: x, token: s3cr3t, sshKeyFile: k }\n" +
				"    - { name: b, type: git, repo: 'git@x:y', token: s3cr3t, caFile: c }\n" +
				"    - { name: c, type: git, repo: 'https://x/y', token: s3cr3t, tokenFile: t, knownHostsFile: h, recursive: false }\n" +
				"    - { name: d, type: git, repo: 'http://x/y', tokenFile: t }\n    - { name: e, type: git, repo: 'file:///x', username: u }\n" +
				"    - { name: f, type: git, repo: 'https://x/y', token: 's3cr3t s3cr3t', username: '' }\n",
			want: []string{
				"a.yaml:3:39: CONF007 composerIngestor.sources[0].token cannot be used with type file | write type: git, or remove it",
				"a.yaml:3:54: CONF007 composerIngestor.sources[0].sshKeyFile cannot be used with type file | write type: git, or remove it",
				"a.yaml:4:46: CONF007 composerIngestor.sources[1].token cannot be used with a repository accessed over SSH | remove it, or write an address that begins with https://",
				"a.yaml:4:61: CONF007 composerIngestor.sources[1].caFile cannot be used with a repository accessed over SSH | remove it, or write an address that begins with https://",
				"a.yaml:5:65: CONF007 composerIngestor.sources[2].tokenFile cannot be used with token at a.yaml:5:50 | keep one of the two",
				"a.yaml:5:79: CONF007 composerIngestor.sources[2].knownHostsFile cannot be used with a repository accessed over HTTPS | remove it, or write an address that begins with ssh://",
				"a.yaml:5:98: CONF007 composerIngestor.sources[2].recursive cannot be used with type git, which reads all folders below | remove it",
				"a.yaml:6:35: CONF011 composerIngestor.sources[3].repo would send the token over plain HTTP | use https",
				"a.yaml:7:48: CONF007 composerIngestor.sources[4].username cannot be used with a repository on this machine | remove it",
				"a.yaml:8:57: CONF005 composerIngestor.sources[5].token contains an invalid character at position 7 | remove spaces and line breaks; a file must contain only the secret",
				"a.yaml:8:84: CONF005 composerIngestor.sources[5].username is empty | write a value, or remove it",
			},
		},
		"Redis": {
			reason: "Change detection in Redis needs a Redis.",
			text:   "composerIngestor:\n  changeDetection: { storage: redis }\n",
			want: []string{
				"a.yaml:2:22: CONF006 composerIngestor.changeDetection.storage is redis, but backend.cache.store is not, so its address is unknown | write backend: { cache: { store: redis, connection: ${NAME} } }, or choose memory or database",
			},
		},
		"RedisUpstream": {
			reason: "Position and path are those of the file.",
			text:   "crossplaneIngestor: { changeDetection: { storage: '${S}' } }\nbackend: { cache: { store: memory } }\n",
			env:    vars{"S": "redis"},
			want: []string{
				"a.yaml:1:42: CONF006 crossplaneIngestor.changeDetection.storage is redis, but backend.cache.store is not, so its address is unknown | write backend: { cache: { store: redis, connection: ${NAME} } }, or choose memory or database",
			},
		},
		"RedisUnused": {
			reason: "Disabled change detection needs no Redis.",
			text:   "composerIngestor: { changeDetection: { enabled: false, storage: redis } }\n",
		},
		"RedisOff": {
			reason: "A disabled section needs no Redis.",
			text:   "composerIngestor: { enabled: false, changeDetection: { storage: redis } }\n",
		},
		"RedisThere": {
			reason: "With a Redis there are no findings, and the timeout may exceed the frequency.",
			text:   "composerIngestor: { changeDetection: { storage: redis }, schedule: { frequency: 1m, timeout: { minutes: 2 } } }\nbackend: { cache: { store: redis, connection: 'redis://r' } }\n",
		},
		"DeliveryBackstage": {
			reason: "Settings that Templates of Backstage's own actions cannot have are reported.",
			text:   "crossplaneIngestor:\n  generateDayTwoTemplates: true\n  templateGeneration: { delivery: backstage, addGitOpsActions: true, gitProvider: gitea }\n",
			want: []string{
				"a.yaml:2:3: CONF013 crossplaneIngestor.generateDayTwoTemplates has no effect with templateGeneration.delivery: backstage: actions of Backstage cannot read a resource | remove it, or use the package for Backstage with delivery: portal",
				"a.yaml:3:46: CONF013 crossplaneIngestor.templateGeneration.addGitOpsActions has no effect with delivery: backstage, which always opens a change request | remove it",
				`a.yaml:3:83: CONF005 crossplaneIngestor.templateGeneration.gitProvider: want github, gitlab, bitbucketServer or bitbucketCloud, found "gitea"`,
			},
		},
		"NoEffect": {
			reason: "Unsupported keys of Backstage's plugin are reported.",
			text:   "kubernetesIngestor:\n  mappings: {}\n  crossplane:\n    xrds:\n      publishPhase: { target: github }\n      taskRunner: { frequency: 60, timeout: 60 }\n",
			want: []string{
				"a.yaml:2:3: CONF013 kubernetesIngestor.mappings has no effect here | remove it, unless a portal that shares the file uses it",
				"a.yaml:5:7: CONF013 kubernetesIngestor.crossplane.xrds.publishPhase has no effect here | remove it, unless a portal that shares the file uses it",
				"a.yaml:6:36: CONF013 kubernetesIngestor.crossplane.xrds.taskRunner.timeout has no effect here | remove it, unless a portal that shares the file uses it",
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
