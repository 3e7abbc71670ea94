{{- define "muster.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- /* Services have this name, one of them with the suffix -metrics. Kubernetes refuses more than 63 characters, dots, and digits in front. */ -}}
{{- define "muster.fullname" -}}
{{- $name := include "muster.name" . -}}
{{- $ofRelease := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) -}}
{{- $full := default $ofRelease .Values.fullnameOverride | trunc 55 | trimSuffix "-" -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $full) -}}
{{- fail (printf "fullnameOverride: expected a name for Services that begins with a letter and has no dot. The name of the release gives %q" $full) -}}
{{- end -}}
{{- $full -}}
{{- end -}}

{{- /* The name of objects without a namespace: two releases in two namespaces have different ones. */ -}}
{{- define "muster.clusterName" -}}
{{- printf "%s:%s" .Release.Namespace (include "muster.fullname" .) -}}
{{- end -}}

{{- define "muster.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "muster.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "muster.selector" -}}
app.kubernetes.io/name: {{ include "muster.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "muster.labels" -}}
{{ include "muster.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{- define "muster.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "muster.subject" -}}
- kind: ServiceAccount
  name: {{ include "muster.serviceAccount" . }}
  namespace: {{ .Release.Namespace }}
{{- end -}}

{{- /* The config file: what the chart sets, and over it the value config. */ -}}
{{- define "muster.config" -}}
{{- $config := dict "apiVersion" "config.muster.dev/v1alpha1" "host" "0.0.0.0" "port" 4000 "metricsPort" 9090 "shutdownDelaySeconds" 10 -}}
{{- $_ := set $config "clusters" (list (dict "name" .Values.hub.name "hub" true)) -}}
{{- if .Values.inventories -}}
{{- $_ := set $config "inventories" .Values.inventories -}}
{{- end -}}
{{- if .Values.auth.existingSecret -}}
{{- /* Replicas accept each other's cursors: their key is derived from the secret. */ -}}
{{- $_ := set $config (ternary "keyFile" "tokenFile" (hasKey .Values.config "authentication")) "/etc/muster/auth/token" -}}
{{- else if not .Values.config.authentication -}}
{{- fail "auth.existingSecret: expected the name of a Secret with a token, or `authentication` in config" -}}
{{- end -}}
{{- $config = mergeOverwrite $config (deepCopy .Values.config) -}}
{{- if and (hasKey $config "authentication") (not $config.authentication) -}}
{{- fail "config.authentication: expected at least one of oidc, tokenReview, clientCertificates and proxy" -}}
{{- end -}}
{{- $names := list -}}
{{- range $config.clusters -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- range $at, $inventory := $config.inventories -}}
{{- if and $inventory.cluster (not (has $inventory.cluster $names)) -}}
{{- fail (printf "inventories[%d].cluster: expected one of %s, got %s" $at (join ", " $names) $inventory.cluster) -}}
{{- end -}}
{{- end -}}
{{- /* Probes, Services and the NetworkPolicy name these ports. */ -}}
{{- range list "port" "metricsPort" -}}
{{- if eq (int (get $config .)) 0 -}}
{{- fail (printf "config.%s: expected a port from 1 to 65535" .) -}}
{{- end -}}
{{- end -}}
{{- if regexMatch "^(127\\..*|localhost|::1)$" $config.host -}}
{{- fail (printf "config.host: expected an address of the Pod, such as 0.0.0.0 or ::, got %s, which probes and Services cannot reach" $config.host) -}}
{{- end -}}
{{- range .Values.extraArgs -}}
{{- if regexMatch "^--(config|host|port|metrics-port)(=|$)" . -}}
{{- fail (printf "extraArgs: expected this in config, because probes and Services need to know it, got %s" .) -}}
{{- end -}}
{{- end -}}
{{- if eq (int $config.port) (int $config.metricsPort) -}}
{{- fail "config.metricsPort: expected another port than config.port" -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}
