package protocol

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// Every secret holds the letters of this mark.
const mark = "S3cr3t"

// No part of a message that could hold a secret reaches a fact, however the message
// is cut and wherever its capture ends.
func TestSecretsStayIn(t *testing.T) {
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
				// A secret may be cut by the end of what was captured.
				if strings.Contains(strings.ToLower(line), strings.ToLower(mark[:2])) || strings.Contains(line, "user") {
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
		"exa\x00mple": "", "user@host": "", strings.Repeat("a", 254): "",
	} {
		if got := hostName(in); got != want {
			t.Errorf("hostName(%q) = %q, want %q", in, got, want)
		}
	}
}
