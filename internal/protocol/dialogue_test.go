package protocol

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// The files in testdata/dialogue are conversations of clients with Redis and PostgreSQL servers, in the format of the
// files in testdata/http.
func TestDialogues(t *testing.T) {
	files, err := filepath.Glob("testdata/dialogue/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts: ", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(file, []byte(rewrite(t, string(text), recording.Outbound)), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			p := newPlayer(recording.Outbound)
			for _, s := range parseScript(t, string(text)) {
				got := factLines(t, p.step(s))
				if fmt.Sprint(got) != fmt.Sprint(s.want) {
					t.Errorf("line %d:\n got %s\nwant %s", s.line, strings.Join(got, "\n     "), strings.Join(s.want, "\n     "))
				}
			}
			if strings.Contains(string(text), " +") || strings.Contains(string(text), " -") {
				return // not all bytes are known
			}
			for size := 1; size < 9; size++ {
				inPieces(t, parseScript(t, string(text)), size)
			}
		})
	}
}

// inPieces checks that the facts do not depend on how the bytes are cut into chunks.
func inPieces(t *testing.T, steps []step, size int) {
	t.Helper()
	var got, want []string
	p := newPlayer(recording.Outbound)
	for _, s := range steps {
		want = append(want, s.want...)
		if s.close {
			got = append(got, factLines(t, p.step(s))...)
		}
		for data := s.data; data != ""; {
			n := min(size, len(data))
			got = append(got, factLines(t, p.send(s.fromClient, data[:n], 0))...)
			data = data[n:]
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("in chunks of %d:\n got %s\nwant %s", size, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

// On a connection that was joined while in use, replies are believed once the client was seen to wait for each. A
// reply that answers no command shows that other commands were outstanding.
func TestRepliesOfJoinedConnections(t *testing.T) {
	const ping, pong, long = "*1\r\n$4\r\nPING\r\n", "+PONG\r\n", "*900\r\n$3\r\nabc\r\n"
	for what, c := range map[string]struct {
		talk []string // the client speaks first
		want int      // replies that are reported
	}{
		"waits for each":            {[]string{ping, pong, ping, pong, ping, pong, ping, pong, ping, pong}, 5},
		"closed too early to tell":  {[]string{ping, pong, ping, pong}, 2},
		"a long one among them":     {[]string{ping, pong, ping, long, ping, pong}, 3},
		"another one was under way": {[]string{ping, pong + pong, ping, pong}, 0},
	} {
		p := newPlayer(recording.Outbound)
		p.conn.Joined()
		var facts []recording.Fact
		for i, data := range c.talk {
			hidden := int64(0)
			if data == long {
				hidden = 9000
			}
			facts = append(facts, p.send(i%2 == 0, data, hidden)...)
		}
		replies := 0
		for _, f := range append(facts, p.conn.Close()...) {
			if _, ok := f.(*recording.Reply); ok {
				replies++
			}
		}
		if replies != c.want {
			t.Errorf("%s: %d replies, want %d", what, replies, c.want)
		}
	}
}
