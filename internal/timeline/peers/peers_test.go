package peers

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Each line: name or address of the peer, its address, the operation, and the rule that
// is expected to match; "-" for none. "!" before the operation: nothing was recognised on
// the connection.
const peers = `
sts.eu-west-1.amazonaws.com        10.0.0.1:443          AssumeRole                                  aws-sts
sts.eu-west-1.amazonaws.com        10.0.0.1:443          -                                           aws-sts
sts.amazonaws.com                  10.0.0.1:443          GetCallerIdentity                           -
sts.local:8000                     10.0.0.1:8000         AssumeRole                                  aws-sts-action
sts.local:8000                     10.0.0.1:8000         GET_/things                                 -
dynamodb.eu-west-1.amazonaws.com   10.0.0.1:443          -                                           -
db.local:8000                      10.0.0.1:8000         DynamoDB_20120810.GetItem                   -
169.254.169.254:80                 169.254.169.254:80    GET_/latest/meta-data/iam/security-credentials/{}  aws-instance-metadata
169.254.169.254:80                 169.254.169.254:80    PUT_/latest/api/token                       aws-instance-metadata
169.254.169.254:80                 169.254.169.254:80    GET_/latest/meta-data/placement/region      -
[fd00:ec2::254]:80                 [fd00:ec2::254]:80    PUT_/latest/api/token                       aws-instance-metadata
metadata.google.internal           169.254.169.254:80    GET_/computeMetadata/v1/instance/service-accounts/default/token  gcp-metadata
169.254.170.2:80                   169.254.170.2:80      GET_/v2/credentials/{}                      aws-container-credentials
169.254.170.23:80                  169.254.170.23:80     GET_/v1/credentials                         aws-container-credentials
169.254.170.2:80                   169.254.170.2:80      GET_/v2/metadata                            -
vault:8200                         10.0.0.2:8200         POST_/v1/auth/{}/login                      vault
vault:8200                         10.0.0.2:8200         GET_/v1/database/creds/{}                   vault
shop:8200                          10.0.0.2:8200         GET_/v1/orders                              -
secrets:4566                       10.0.0.2:4566         secretsmanager.GetSecretValue               aws-secrets
id.local:8080                      10.0.0.3:8080         grant_type:client_credentials               oauth-token
id.local:8080                      10.0.0.3:8080         POST_/realms/shop/protocol/openid-connect/token  oauth-token
id.local:8080                      10.0.0.3:8080         GET_/realms/shop/protocol/openid-connect/certs  jwks
id.local:8080                      10.0.0.3:8080         GET_/.well-known/jwks.json                  jwks
id.local:8080                      10.0.0.3:8080         GET_/users/{}                               -
login.microsoftonline.com          10.0.0.3:443          -                                           oauth-host
otel:4318                          10.0.0.4:4318         POST_/v1/metrics                            otlp-port
otel:4318                          10.0.0.4:4318         POST_/v1/traces                             otlp
otel:4317                          10.0.0.4:4317         -                                           otlp-port
shop:8080                          10.0.0.4:8080         POST_/v1/logs                               -
agent:8126                         10.0.0.5:8126         PUT_/v0.4/traces                            datadog-agent
10.0.0.5:8125                      10.0.0.5:8125         !-                                          statsd-port
10.0.0.5:514                       10.0.0.5:514          !-                                          syslog-port
shop:8125                          10.0.0.5:8125         GET_/a                                      -
logs:3100                          10.0.0.6:3100         POST_/loki/api/v1/push                      loki
logs.eu-west-1.amazonaws.com       10.0.0.7:443          Logs_20140328.PutLogEvents                  aws-logs
10.0.0.8:6379                      10.0.0.8:6379         GET                                         -
`

func TestPeerClasses(t *testing.T) {
	x := New()
	for line := range strings.Lines(strings.TrimSpace(peers)) {
		var peer, address, operation, want string
		if _, err := fmt.Sscan(line, &peer, &address, &operation, &want); err != nil {
			t.Fatal(line, err)
		}
		c := timeline.Call{Peer: peer, Address: address, Protocol: recording.ProtocolHTTP1}
		operation, strange := strings.CutPrefix(operation, "!")
		if c.Operation = strings.ReplaceAll(operation, "_/", " /"); operation == "-" {
			c.Operation, c.Protocol = "", recording.ProtocolTLS
		}
		if strange {
			c.Protocol = recording.ProtocolOther
		}
		class, rule := x.OfCall(&c)
		if got := rule; got != want && !(got == "" && want == "-") {
			t.Errorf("%s %q: %q, want %q", peer, c.Operation, got, want)
		}
		if (rule == "") != (class == Plain) {
			t.Errorf("%s %q: class %v by rule %q", peer, c.Operation, class, rule)
		}
	}
}

func TestPeerClassesOfDatagrams(t *testing.T) {
	x := New()
	for _, c := range []struct {
		d    timeline.Datagram
		want string
	}{
		{timeline.Datagram{Peer: "127.0.0.1:8125", Protocol: recording.ProtocolStatsD}, "statsd"},
		{timeline.Datagram{Peer: "/var/run/metrics.sock", Protocol: recording.ProtocolStatsD}, "statsd"},
		{timeline.Datagram{Peer: "/var/run/datadog/dsd.socket"}, "statsd-socket"},
		{timeline.Datagram{Peer: "/dev/log", Protocol: recording.ProtocolSyslog}, "syslog"},
		{timeline.Datagram{Peer: "/run/systemd/journal/socket"}, "syslog-socket"},
		{timeline.Datagram{Peer: "10.0.0.1:8125"}, "statsd-port"},
		{timeline.Datagram{Peer: "10.0.0.1:9999"}, ""},
		{timeline.Datagram{Peer: "/tmp/other.sock"}, ""},
	} {
		if _, rule := x.OfDatagram(&c.d); rule != c.want {
			t.Errorf("%+v: %q, want %q", c.d, rule, c.want)
		}
	}
}

// A pattern's * stands for any characters.
func TestLike(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"a*", "ab", true}, {"*a", "ba", true}, {"*a", "ab", false},
		{"a*b*c", "axxbxxc", true}, {"a*b*c", "axxc", false}, {"a*a", "a", false}, {"*", "", true}, {"a*b*b", "ab", false},
	} {
		if got := like(c.pattern, c.s); got != c.want {
			t.Errorf("like(%q, %q) = %v", c.pattern, c.s, got)
		}
	}
}

var updateDocs = flag.Bool("update-docs", false, "rewrite the generated part of docs/peers.md")

// The rules are documented.
func TestPeerRulesAreDocumented(t *testing.T) {
	const path, begin, end = "../../../docs/peers.md", "<!-- rules: generated -->\n", "<!-- end -->"
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(old), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal(path + " has no place for the rules")
	}
	seen := map[string]bool{}
	var b strings.Builder
	b.WriteString("| rule | class | what it is | matches |\n|---|---|---|---|\n")
	for _, r := range peerRules() {
		if seen[r.id] || r.class == Plain {
			t.Errorf("rule %q exists twice, or has no class", r.id)
		}
		seen[r.id] = true
		fmt.Fprintf(&b, "| %s | %v | %s | %s |\n", r.id, r.class, r.what, r.conditions())
	}
	doc := before + begin + b.String() + end + after
	if *updateDocs {
		if err := os.WriteFile(path, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if doc != string(old) {
		t.Errorf("%s is out of date (go test ./internal/timeline/peers -run Documented -update-docs)", path)
	}
}

// conditions describes what a rule requires.
func (r *peerRule) conditions() string {
	var all []string
	add := func(what string, list []string) {
		if len(list) > 0 {
			all = append(all, what+" `"+strings.Join(list, "`, `")+"`")
		}
	}
	var protocols []string
	for _, p := range r.protocols {
		protocols = append(protocols, p.String())
	}
	add("protocol", protocols)
	add("host or socket", r.hosts)
	add("address", r.nets)
	add("port", r.ports)
	add("operation", append(append([]string(nil), r.routes...), r.operations...))
	s := strings.Join(all, "; ")
	if r.unnamed {
		s += ", or not known"
	}
	return s
}
