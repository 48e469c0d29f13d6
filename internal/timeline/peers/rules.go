package peers

import "github.com/getdwell/dwell/recording"

// peerRules is the table of peer classes: the first row that matches decides the class. Routes are as recorded:
// segments that may be identifiers are {}. A row must be certain rather than complete: an unclassified peer only lacks
// an explanation, but a wrong class causes a false finding.
func peerRules() []peerRule {
	return append(credentialRules(), telemetryRules()...)
}

func credentialRules() []peerRule {
	metadata := []string{"169.254.169.254/32", "fd00:ec2::254/128"}
	return []peerRule{
		{id: "aws-sts", class: Credential, what: "AWS STS gives out credentials of a role",
			hosts:      []string{"sts.amazonaws.com", "sts.*.amazonaws.com", "sts.*.amazonaws.com.cn", "sts-fips.*.amazonaws.com"},
			operations: []string{"AssumeRole*", "GetSessionToken", "GetFederationToken"}, unnamed: true},
		{id: "aws-sts-action", class: Credential, what: "an STS operation that gives out credentials, at any host",
			operations: []string{"AssumeRole", "AssumeRoleWithWebIdentity", "AssumeRoleWithSAML", "GetSessionToken", "GetFederationToken"}},
		{id: "aws-instance-metadata", class: Credential, what: "instance metadata: credentials of the instance, or the token to ask for them",
			nets:   metadata,
			routes: []string{"GET /latest/meta-data/iam/*", "PUT /latest/api/token"}},
		{id: "gcp-metadata", class: Credential, what: "instance metadata: tokens of a service account",
			hosts: []string{"metadata.google.internal", "metadata"}, nets: metadata,
			routes: []string{"GET /computeMetadata/v1/instance/service-accounts/*"}},
		{id: "azure-metadata", class: Credential, what: "instance metadata: tokens of a managed identity",
			nets: metadata, routes: []string{"GET /metadata/identity/oauth2/token"}},
		{id: "aws-container-credentials", class: Credential, what: "credentials of a container's task or pod",
			nets: []string{"169.254.170.2/32", "169.254.170.23/32", "fd00:ec2::23/128"}, routes: []string{"GET /v2/credentials/*", "GET /v1/credentials*"}},
		{id: "aws-secrets", class: Credential, what: "a secret, or credentials of an identity pool",
			operations: []string{"secretsmanager.GetSecretValue", "AWSCognitoIdentityService.GetCredentialsForIdentity", "AWSCognitoIdentityService.GetOpenIdToken*"}},
		{id: "oauth-token", class: Credential, what: "an OAuth token endpoint",
			operations: []string{"grant_type:*"},
			routes: []string{"POST /oauth/token", "POST /oauth2/token", "POST /oauth/v2/token", "POST */oauth2/token", "POST */oauth2/v1/token",
				"POST */oauth2/v2.0/token", "POST */protocol/openid-connect/token", "POST /connect/token"}},
		{id: "oauth-host", class: Credential, what: "a host that only gives out tokens",
			hosts: []string{"oauth2.googleapis.com", "login.microsoftonline.com", "sts.windows.net", "sts.googleapis.com", "iamcredentials.googleapis.com"}},
		{id: "jwks", class: Credential, what: "keys to check tokens with, or where they are",
			routes: []string{"GET */.well-known/jwks.json", "GET */jwks.json", "GET */.well-known/openid-configuration", "GET */.well-known/oauth-authorization-server",
				"GET */protocol/openid-connect/certs", "GET /oauth2/v1/certs", "GET /oauth2/v3/certs", "GET */oauth2/v1/keys", "GET */discovery/keys", "GET */discovery/v2.0/keys"}},
		{id: "vault", class: Credential, what: "HashiCorp Vault: a login or a secret",
			ports: []string{"8200"}, routes: []string{"* /v1/auth/*", "GET /v1/secret/*", "GET /v1/kv/*", "GET /v1/*/creds/*", "* /v1/*/issue/*"}},
	}
}

func telemetryRules() []peerRule {
	return []peerRule{
		{id: "statsd", class: Telemetry, what: "StatsD metrics",
			protocols: []recording.Protocol{recording.ProtocolStatsD}},
		{id: "syslog", class: Telemetry, what: "syslog lines",
			protocols: []recording.Protocol{recording.ProtocolSyslog}},
		{id: "statsd-port", class: Telemetry, what: "the port of StatsD",
			ports: []string{"8125"}, protocols: unknownProtocols()},
		{id: "syslog-port", class: Telemetry, what: "the ports of syslog over TCP",
			ports: []string{"514", "601", "6514"}, protocols: append(unknownProtocols(), recording.ProtocolTLS)},
		{id: "syslog-socket", class: Telemetry, what: "the socket of the local syslog or journal",
			hosts: []string{"/dev/log", "/run/systemd/journal/*"}},
		{id: "statsd-socket", class: Telemetry, what: "a socket of a StatsD or Datadog agent",
			hosts: []string{"/var/run/datadog/*", "/run/datadog/*", "*/statsd.sock*", "*/dsd.socket"}},
		{id: "otlp", class: Telemetry, what: "OpenTelemetry traces over HTTP, at any port",
			routes: []string{"POST /v1/traces"}},
		{id: "otlp-port", class: Telemetry, what: "OpenTelemetry traces, metrics or logs",
			ports: []string{"4317", "4318"}, unnamed: true, routes: []string{"POST /v1/traces", "POST /v1/metrics", "POST /v1/logs"}},
		{id: "datadog-agent", class: Telemetry, what: "traces to a Datadog agent",
			ports: []string{"8126"}, routes: []string{"P* */traces", "P* */stats", "POST /telemetry/*"}},
		{id: "zipkin", class: Telemetry, what: "traces in Zipkin's form", routes: []string{"POST /api/v1/spans", "POST /api/v2/spans"}},
		{id: "jaeger", class: Telemetry, what: "traces to a Jaeger collector", ports: []string{"14268"}, routes: []string{"POST /api/traces"}},
		{id: "loki", class: Telemetry, what: "log lines to Loki", routes: []string{"POST /loki/api/v1/push"}},
		{id: "prometheus-push", class: Telemetry, what: "metrics pushed to Prometheus",
			ports: []string{"9091"}, routes: []string{"PUT /metrics/job/*", "POST /metrics/job/*"}},
		{id: "fluentd", class: Telemetry, what: "log records to Fluentd or Fluent Bit", ports: []string{"24224"}, protocols: unknownProtocols()},
		{id: "graphite", class: Telemetry, what: "metrics to Graphite", ports: []string{"2003", "2004"}, protocols: unknownProtocols()},
		{id: "elastic-apm", class: Telemetry, what: "traces to Elastic APM", routes: []string{"POST /intake/v2/events"}},
		{id: "splunk", class: Telemetry, what: "events to Splunk", routes: []string{"POST /services/collector*"}},
		{id: "sentry", class: Telemetry, what: "errors or traces to Sentry", routes: []string{"POST /api/{}/envelope/"}},
		{id: "aws-logs", class: Telemetry, what: "logs, metrics or traces to AWS",
			operations: []string{"Logs_20140328.PutLogEvents", "PutMetricData", "GraniteServiceVersion20100801.PutMetricData"}},
		{id: "telemetry-host", class: Telemetry, what: "a host that only takes telemetry",
			hosts: []string{"*.ingest.sentry.io", "*-intake.logs.datadoghq.com", "trace.agent.datadoghq.com", "api.honeycomb.io", "collector*.newrelic.com",
				"metric-api.newrelic.com", "log-api.newrelic.com", "trace-api.newrelic.com", "cloudtrace.googleapis.com"}},
	}
}

// unknownProtocols are the protocols of connections on which nothing was recognised: a connection with a known protocol
// is not judged by its port.
func unknownProtocols() []recording.Protocol {
	return []recording.Protocol{recording.ProtocolUnknown, recording.ProtocolOther}
}
