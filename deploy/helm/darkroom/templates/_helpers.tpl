{{/* The name of every resource: the release's, with "-darkroom" unless it contains that. */}}
{{- define "darkroom.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 56 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 56 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "darkroom.selector" -}}
app.kubernetes.io/name: darkroom
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "darkroom.labels" -}}
{{ include "darkroom.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "darkroom.image" -}}
{{- $repository := required "Set image.repository: where is the image?" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}
