{{- define "parley.name" -}}
{{- printf "%s-parley" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "parley.selector" -}}
app.kubernetes.io/name: parley
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "parley.labels" -}}
{{ include "parley.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "parley.secret" -}}
{{- required "existingSecret is missing: name a Secret with the addresses and keys (mode scale, podMonitor)." .Values.existingSecret -}}
{{- end -}}

{{/* The pod of a process. Takes root (the chart), component, args. */}}
{{- define "parley.pod" -}}
{{- $root := .root -}}
metadata:
  labels:
    {{- include "parley.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  annotations:
    checksum/config: {{ toYaml $root.Values.config | sha256sum }}
    {{- with $root.Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: 40
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: RuntimeDefault}
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: parley
      image: {{ printf "%s:%s" $root.Values.image.repository $root.Values.image.tag | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args:
        {{- toYaml .args | nindent 8 }}
      {{- if $root.Values.existingSecret }}
      envFrom:
        - secretRef: {name: {{ $root.Values.existingSecret | quote }}}
      {{- end }}
      env:
        {{- if eq $root.Values.mode "single" }}
        - {name: PARLEY_DATABASE__URL, value: "sqlite:////data/parley.db"}
        {{- else }}
        {{- range list "PARLEY_STORAGE__URL" "PARLEY_DATABASE__URL" "PARLEY_SERVER__TOKEN" "PARLEY_SERVER__TOKEN_KEY" "PARLEY_MEMORY__AUDIT_KEY" }}
        - name: {{ . }}
          valueFrom:
            secretKeyRef: {name: {{ include "parley.secret" $root | quote }}, key: {{ . }}}
        {{- end }}
        {{- end }}
        # The kubelet connects from outside the container; every path but the probes needs the token.
        - {name: PARLEY_SERVER__HOST, value: 0.0.0.0}
        - {name: PARLEY_WEBHOOKS__HOST, value: 0.0.0.0}
      ports:
        - {name: webhooks, containerPort: 8080}
        - {name: local, containerPort: 8081}
      startupProbe:
        httpGet: {path: /healthz, port: local}
        periodSeconds: 2
        failureThreshold: 30
      livenessProbe:
        httpGet: {path: /healthz, port: local}
        periodSeconds: 15
        timeoutSeconds: 5
      readinessProbe:
        httpGet: {path: /readyz, port: local}
        periodSeconds: 5
        timeoutSeconds: 5
      resources:
        {{- toYaml $root.Values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      volumeMounts:
        - {name: config, mountPath: /config, readOnly: true}
        - {name: data, mountPath: /data}
        - {name: tmp, mountPath: /tmp}
  volumes:
    - name: config
      configMap: {name: {{ include "parley.name" $root }}}
    - name: data
      {{- if eq $root.Values.mode "single" }}
      persistentVolumeClaim: {claimName: {{ $root.Values.persistence.existingClaim | default (include "parley.name" $root) }}}
      {{- else }}
      emptyDir: {}
      {{- end }}
    - name: tmp
      emptyDir: {medium: Memory, sizeLimit: 64Mi}
  {{- with $root.Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $root.Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $root.Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* A deployment of a process. Takes root, component, args, replicas, strategy. */}}
{{- define "parley.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ printf "%s-%s" (include "parley.name" .root) .component }}
  labels:
    {{- include "parley.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  replicas: {{ .replicas }}
  strategy: {type: {{ .strategy }}}
  selector:
    matchLabels:
      {{- include "parley.selector" .root | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
  template:
    {{- include "parley.pod" . | nindent 4 }}
{{- end -}}
