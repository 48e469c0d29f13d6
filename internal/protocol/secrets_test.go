package protocol

import (
	"cmp"
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// marks are the secrets that the tests plant: one that looks like a secret, and one that is a word.
func marks() []string { return []string{"S3cr3t", "QZWXYQ"} }

// leaks reports whether a line contains a part of a mark: the end of the captured bytes may cut a secret.
func leaks(line, mark string) bool {
	return strings.Contains(strings.ToLower(line), strings.ToLower(mark[:2])) || strings.Contains(line, "user")
}

// No part of a message that could hold a secret reaches a fact, however the message
// is cut and wherever its capture ends.
func TestSecretsStayIn(t *testing.T) {
	for _, mark := range marks() {
		secretsStayIn(t, mark)
	}
}

func secretsStayIn(t *testing.T, mark string) {
	request := strings.ReplaceAll("POST http://user:@@pw@api.example/reset/@@/x?token=@@&Action=@@-x#@@ HTTP/1.1\r\n"+
		"Host: api.example\r\nAuthorization: Bearer @@\r\nCookie: session=@@; a=@@\r\nX-Api-Key: @@\r\n"+
		"X-Amz-Target: not/a target @@\r\nUpgrade: @@\r\nConnection: @@\r\nAccept: @@\r\nReferer: http://x/@@\r\n"+
		"Content-Type: application/x-www-form-urlencoded; @@\r\nContent-Length: 60\r\n\r\n"+
		"password=@@&Action=@@%20&grant_type=@@&X-Amz-Target=@@&x=@@", "@@", mark)
	response := strings.ReplaceAll("HTTP/1.1 200 @@\r\nSet-Cookie: @@\r\nLocation: /@@\r\nContent-Type: text/@@\r\n"+
		"Content-Length: 20\r\n\r\n{\"password\":\"@@\"}", "@@", mark)
	for _, size := range []int{1, 2, 7, 64, 100, 512, 10_000} {
		for captured := 1; captured <= min(size, 700); captured += 1 + captured/9 {
			p := newPlayer(recording.Inbound)
			var facts []recording.Fact
			for _, m := range []struct {
				fromClient bool
				bytes      string
			}{{true, request}, {false, response}, {true, request}, {false, response}} {
				for rest := m.bytes; rest != ""; {
					n := min(size, len(rest))
					c := min(n, captured)
					facts = append(facts, p.send(m.fromClient, rest[:c], int64(n-c))...)
					rest = rest[n:]
				}
			}
			facts = append(facts, p.conn.Close()...)
			for _, line := range factLines(t, facts) {
				if leaks(line, mark) {
					t.Fatalf("chunks of %d, %d captured: %s", size, captured, line)
				}
			}
			if size >= 512 && captured >= 512 && !strings.Contains(strings.Join(factLines(t, facts), "\n"), "route=/reset/{}/{} host=api.example") {
				t.Fatalf("the request was not seen: %v", factLines(t, facts))
			}
		}
	}
}

func TestHostNames(t *testing.T) {
	for in, want := range map[string]string{
		"API.example.com": "api.example.com", "api.example.com:8443": "api.example.com", "my_db-1": "my_db-1",
		"10.0.0.1": "", "10.0.0.1:80": "", "[::1]:80": "", "[::1]": "", "::1": "", "": "", "a b": "", "a/b": "",
		"exa\x00mple": "", "user@host": "", "user:pass@host": "", "user:pass@host:80": "", strings.Repeat("a", 254): "",
	} {
		if got := hostName(in); got != want {
			t.Errorf("hostName(%q) = %q, want %q", in, got, want)
		}
	}
}

// captures lists how much of each chunk may be captured; the last entry is all of it.
func captures(size int) (list []int) {
	for n := 1; n < size; n += 1 + n/9 {
		list = append(list, n)
	}
	return append(list, size)
}

// No key, value, parameter, password or text of a database reaches a fact either, however the bytes are cut and
// wherever their capture ends.
func TestSecretsOfDatabasesStayIn(t *testing.T) {
	for _, mark := range marks() {
		secretsOfDatabasesStayIn(t, mark)
	}
}

func secretsOfDatabasesStayIn(t *testing.T, mark string) {
	postgres := func(kind byte, body string) string {
		n := len(body) + 4
		return string([]byte{kind, 0, 0, byte(n >> 8), byte(n)}) + body
	}
	fcgi := func(kind byte, body string) string {
		body = strings.ReplaceAll(body, "@@", mark)
		return string([]byte{1, kind, 0, 1, 0, byte(len(body)), 0, 0}) + body
	}
	answer := map[string]string{"fastcgi": "http-response"} // otherwise "reply"
	talks := map[string][]string{
		"fastcgi": {
			fcgi(1, "\x00\x01\x00\x00\x00\x00\x00\x00") + fcgi(4, "\x0c\x06QUERY_STRING@@\x0e\x03REQUEST_METHODGET\x0b\x12REQUEST_URI/a/@@?b=@@\x0b\x07SCRIPT_NAME/@@\x09\x0dHTTP_HOSTuser:@@@h\x0b\x06HTTP_COOKIE@@") +
				fcgi(4, "") + fcgi(5, "x=@@") + fcgi(5, ""),
			fcgi(7, "PHP: @@") + fcgi(6, "X: @@\r\nStatus: 500 @@\r\n\r\n@@") + fcgi(3, ""),
		},
		"redis": {
			"*3\r\n$4\r\nAUTH\r\n$4\r\nuser\r\n$6\r\n@@\r\n", "+OK\r\n",
			"*3\r\n$3\r\nSET\r\n$9\r\nk:@@:\r\n$200\r\n" + strings.Repeat("*1\r\n$6\r\n@@\r\n", 10) + strings.Repeat("x", 20) + "\r\n", "+OK\r\n",
			"*2\r\n$3\r\nGET\r\n$6\r\n@@\r\n", "$6\r\n@@\r\n", "*1\r\n$6\r\n@@\r\n", "-@@ unknown command '@@'\r\n",
		},
		"proxy": {
			"\x05\x02\x00\x02", "\x05\x02", "\x01\x04user\x06@@", "\x01\x00", "\x05\x01\x00\x03\x04name\x18\xeb", "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00",
			"CONNECT user:@@@name:6379 HTTP/1.1\r\nProxy-Authorization: Basic @@\r\n\r\n", "HTTP/1.1 200 @@\r\n\r\n", "*2\r\n$3\r\nGET\r\n$6\r\n@@\r\n", "$6\r\n@@\r\n",
		},
		"postgres": {
			"\x00\x00\x00\x25\x00\x03\x00\x00user\x00@@\x00database\x00@@\x00\x00", postgres('R', "\x00\x00\x00\x03"),
			postgres('p', "@@\x00"), postgres('R', "\x00\x00\x00\x00") + postgres('Z', "I"),
			postgres('Q', "SELECT '@@', \"@@\" FROM t WHERE a = '@@' -- @@\x00"), postgres('D', "\x00\x00") + postgres('Z', "I"), postgres('Q', "SELECT 1 IS DISTINCT FROM @@\x00"), postgres('D', "\x00\x01\x00\x00\x00\x06@@") + postgres('E', "SERROR\x00C@@\x00M@@\x00\x00") + postgres('Z', "I"),
			postgres('P', "@@\x00/* @@ */ INSERT INTO t VALUES ($$@@$$)\x00\x00\x00") + postgres('B', "@@\x00@@\x00\x00\x00\x00\x01\x00\x00\x00\x06@@\x00\x00") + postgres('S', ""), postgres('C', "@@\x00") + postgres('Z', "T"),
		},
	}
	for name, talk := range talks {
		for _, size := range []int{1, 2, 7, 64, 600} {
			for _, captured := range captures(size) {
				p := newPlayer(recording.Outbound)
				var facts []recording.Fact
				for i, m := range talk {
					for rest := strings.ReplaceAll(m, "@@", mark); rest != ""; {
						n := min(size, len(rest))
						facts = append(facts, p.send(i%2 == 0, rest[:min(n, captured)], int64(n-min(n, captured)))...)
						rest = rest[n:]
					}
				}
				facts = append(facts, p.conn.Close()...)
				lines := strings.Join(factLines(t, facts), "\n")
				if leaks(lines, mark) {
					t.Fatalf("%s in chunks of %d, %d captured:\n%s", name, size, captured, lines)
				}
				if size == captured && !strings.Contains(lines, cmp.Or(answer[name], "reply")) {
					t.Fatalf("%s in chunks of %d was not followed:\n%s", name, size, lines)
				}
			}
		}
	}
}
