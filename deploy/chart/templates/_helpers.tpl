{{- define "ingestor.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "ingestor.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "ingestor.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "ingestor.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "ingestor.serviceAccount" -}}
{{- default (include "ingestor.fullname" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "ingestor.secret" -}}
{{- if .Values.secret.existing -}}
{{- .Values.secret.existing -}}
{{- else if .Values.secret.values -}}
{{- include "ingestor.fullname" . -}}
{{- end -}}
{{- end -}}

{{- define "ingestor.image" -}}
{{- $product := .Files.Get "product.yaml" | fromYaml -}}
{{- $repository := default (default (printf "%s/portal-backend" $product.repository) $product.image) .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{/* What the values need beside what their schema says. */}}
{{- define "ingestor.check" -}}
{{- $v := .Values -}}
{{- if and (gt (int $v.replicas) 1) (ne $v.database.client "pg") -}}
{{- fail "replicas: more than one needs database.client: pg, because SQLite is one file of one process" -}}
{{- end -}}
{{- if eq $v.database.client "pg" -}}
{{- if not $v.database.postgres.host -}}
{{- fail "database.postgres.host: required with database.client: pg" -}}
{{- end -}}
{{- if not (include "ingestor.secret" .) -}}
{{- fail "secret.existing: required with database.client: pg; it is the name of a Secret with POSTGRES_PASSWORD, TASK_KEY and SESSION_SECRET" -}}
{{- end -}}
{{- end -}}
{{- if and $v.auth.oidc.issuer (not (include "ingestor.secret" .)) -}}
{{- fail "secret.existing: required with auth.oidc.issuer; it is the name of a Secret with OIDC_CLIENT_SECRET" -}}
{{- end -}}
{{- if and $v.redis.enabled (not (include "ingestor.secret" .)) -}}
{{- fail "secret.existing: required with redis.enabled; it is the name of a Secret with REDIS_URL" -}}
{{- end -}}
{{- if and $v.metrics.serviceMonitor.enabled (not (include "ingestor.secret" .)) -}}
{{- fail "secret.existing: required with metrics.serviceMonitor.enabled; it is the name of a Secret with METRICS_TOKEN" -}}
{{- end -}}
{{- if and $v.gateway.enabled (not $v.gateway.parentRefs) -}}
{{- fail "gateway.parentRefs: required with gateway.enabled" -}}
{{- end -}}
{{- if and (eq $v.cluster.impersonate "user") $v.rbac.create (not $v.rbac.impersonate.enabled) -}}
{{- fail "rbac.impersonate.enabled: required with cluster.impersonate: user" -}}
{{- end -}}
{{- end -}}

{{/* app-config.yaml: what follows from the values, with values.config merged over it. */}}
{{- define "ingestor.config" -}}
{{- $v := .Values -}}
{{- $name := include "ingestor.fullname" . -}}
{{- $secret := include "ingestor.secret" . -}}
{{- $pg := eq $v.database.client "pg" -}}
{{- $hosts := list $name (printf "%s.%s" $name .Release.Namespace) (printf "%s.%s.svc" $name .Release.Namespace) (printf "%s.%s.svc.cluster.local" $name .Release.Namespace) -}}
{{- $backend := dict "baseUrl" $v.baseUrl "listen" ":7007" "allowedHosts" $hosts "lifecycle" (dict "serverShutdownDelay" "5s") -}}
{{- if $pg -}}
{{- $p := $v.database.postgres -}}
{{- $connection := dict "host" $p.host "port" $p.port "user" $p.user "database" $p.database "password" "${POSTGRES_PASSWORD}" "ssl" $p.ssl -}}
{{- $_ := set $backend "database" (dict "client" "pg" "connection" $connection) -}}
{{- else -}}
{{- $_ := set $backend "database" (dict "client" "sqlite" "connection" (dict "filename" "/data/portal.sqlite")) -}}
{{- end -}}
{{- if $v.redis.enabled -}}
{{- $_ := set $backend "cache" (dict "store" "redis" "connection" "${REDIS_URL}") -}}
{{- end -}}
{{- if $v.metrics.serviceMonitor.enabled -}}
{{- $_ := set $backend "auth" (dict "externalAccess" (list (dict "type" "static" "options" (dict "token" "${METRICS_TOKEN}" "subject" "prometheus")))) -}}
{{- end -}}
{{- $providers := dict -}}
{{- if $v.auth.guest -}}
{{- $_ := set $providers "guest" (dict "dangerouslyAllowOutsideDevelopment" true) -}}
{{- end -}}
{{- if $v.auth.oidc.issuer -}}
{{- $_ := set $providers "oidc" (dict "issuer" $v.auth.oidc.issuer "clientId" $v.auth.oidc.clientId "clientSecret" "${OIDC_CLIENT_SECRET}" "groupsClaim" $v.auth.oidc.groupsClaim) -}}
{{- end -}}
{{- $auth := dict "environment" "production" "providers" $providers -}}
{{- $scaffolder := dict "workingDirectory" "/data/workspaces" -}}
{{- if $pg -}}
{{- $_ := set $auth "session" (dict "secret" "${SESSION_SECRET}") -}}
{{- $_ := set $scaffolder "secretKey" "${TASK_KEY}" -}}
{{- end -}}
{{- $config := dict "backend" $backend "auth" $auth "scaffolder" $scaffolder "audit" (dict "to" "stdout") -}}
{{- if $v.cluster.enabled -}}
{{- $account := "/var/run/secrets/kubernetes.io/serviceaccount" -}}
{{- $cluster := dict "name" $v.cluster.name "url" "https://kubernetes.default.svc" "authProvider" "serviceAccount" "serviceAccountTokenFile" (printf "%s/token" $account) "caFile" (printf "%s/ca.crt" $account) "impersonate" $v.cluster.impersonate -}}
{{- $_ := set $config "crossplaneIngestor" (dict "ingestAll" $v.cluster.ingestAll "clusters" (list $cluster)) -}}
{{- end -}}
{{- toYaml (mergeOverwrite $config (deepCopy $v.config)) -}}
{{- end -}}
