package protocol

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

var update = flag.Bool("update", false, "write what comes out into testdata")

// The files in testdata/http are conversations:
//
//	-> text      the client sends one chunk; text as in a Go string
//	<- text      the server sends one chunk
//	-> +900 text as above, and 900 further bytes of the chunk are not captured
//	-> -900      900 bytes of the client are missed altogether
//	.            the connection is closed
//	= fact       what came out, in the text form
type step struct {
	fromClient     bool
	close          bool
	data           string
	hidden, missed int64
	want           []string
	line           int
}

func parseScript(t *testing.T, text string) []step {
	t.Helper()
	var steps []step
	for i, line := range strings.Split(text, "\n") {
		mark, rest, _ := strings.Cut(line, " ")
		switch mark {
		case "->", "<-":
			s := step{fromClient: mark == "->", line: i + 1}
			if n, after, _ := strings.Cut(rest, " "); strings.HasPrefix(n, "+") || strings.HasPrefix(n, "-") {
				count, err := strconv.ParseInt(n, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				s.hidden, s.missed, rest = max(count, 0), max(-count, 0), after
			}
			data, err := strconv.Unquote(`"` + rest + `"`)
			if err != nil {
				t.Fatalf("line %d: %v", i+1, err)
			}
			s.data = data
			steps = append(steps, s)
		case ".":
			steps = append(steps, step{close: true, line: i + 1})
		case "=":
			last := &steps[len(steps)-1]
			last.want = append(last.want, rest)
		case "", "#":
		default:
			t.Fatalf("line %d: %q", i+1, line)
		}
	}
	return steps
}

// factLines writes facts in the text form, without time and without the connection.
func factLines(t *testing.T, facts []recording.Fact) []string {
	t.Helper()
	rec := &recording.Recording{}
	for _, f := range facts {
		rec.Events = append(rec.Events, recording.Event{Fact: f})
	}
	var b bytes.Buffer
	if err := recording.FormatText(&b, rec); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, line := range strings.Split(b.String(), "\n") {
		if rest, ok := strings.CutPrefix(line, "0 "); ok {
			lines = append(lines, strings.Replace(rest, " conn=7", "", 1))
		}
	}
	return lines
}

// player sends steps to a Conn.
type player struct {
	conn   *Conn
	client recording.Direction
	pos    [2]int64
}

func newPlayer(side recording.Side) *player {
	return &player{conn: NewConn(7, side), client: recording.Direction(side)}
}

func (p *player) send(fromClient bool, data string, hidden int64) []recording.Fact {
	dir := p.client
	if !fromClient {
		dir = 1 - dir
	}
	size := int64(len(data)) + hidden
	facts := p.conn.Chunk(dir, p.pos[dir], size, []byte(data))
	p.pos[dir] += size
	return facts
}

func (p *player) step(s step) []recording.Fact {
	switch {
	case s.close:
		return p.conn.Close()
	case s.missed > 0:
		dir := p.client
		if !s.fromClient {
			dir = 1 - dir
		}
		p.pos[dir] += s.missed
		return nil
	}
	return p.send(s.fromClient, s.data, s.hidden)
}

// rewrite returns the script with the resulting facts after each step.
func rewrite(t *testing.T, text string, side recording.Side) string {
	p, lines := newPlayer(side), strings.Split(text, "\n")
	steps := parseScript(t, text)
	var out []string
	for i, line := range lines {
		if !strings.HasPrefix(line, "= ") {
			out = append(out, line)
		}
		if len(steps) > 0 && steps[0].line == i+1 {
			for _, f := range factLines(t, p.step(steps[0])) {
				out = append(out, "= "+f)
			}
			steps = steps[1:]
		}
	}
	return strings.Join(out, "\n")
}

func TestHTTPScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/http/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts: ", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(file, []byte(rewrite(t, string(text), recording.Inbound)), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		for _, side := range []recording.Side{recording.Inbound, recording.Outbound} {
			t.Run(fmt.Sprint(strings.TrimSuffix(filepath.Base(file), ".txt"), "/", side), func(t *testing.T) {
				p := newPlayer(side)
				for _, s := range parseScript(t, string(text)) {
					got := factLines(t, p.step(s))
					if fmt.Sprint(got) != fmt.Sprint(s.want) {
						t.Errorf("line %d:\n got %s\nwant %s", s.line, strings.Join(got, "\n     "), strings.Join(s.want, "\n     "))
					}
				}
			})
		}
	}
}

// The facts do not depend on how the bytes are cut into chunks.
func TestHTTPFactsDoNotDependOnChunks(t *testing.T) {
	files, _ := filepath.Glob("testdata/http/*.txt")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		if strings.Contains(string(text), " +") || strings.Contains(string(text), " -") {
			continue // not all bytes are known
		}
		steps := parseScript(t, string(text))
		var want []string
		for _, s := range steps {
			want = append(want, s.want...)
		}
		for size := 1; size < 9; size++ {
			p := newPlayer(recording.Inbound)
			var got []string
			var sent [2]string // what each side sent, the client first
			for _, s := range steps {
				if s.close {
					got = append(got, factLines(t, p.step(s))...)
				}
				if s.fromClient {
					sent[0] += s.data
				} else {
					sent[1] += s.data
				}
				for data := s.data; data != ""; {
					n := min(size, len(data))
					facts := p.send(s.fromClient, data[:n], 0)
					got = append(got, factLines(t, facts)...)
					for _, f := range facts {
						checkPlace(t, sent, f)
					}
					data = data[n:]
				}
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s in chunks of %d:\n got %s\nwant %s", file, size, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
			}
		}
	}
}

// checkPlace checks that a head is where the fact says.
func checkPlace(t *testing.T, sent [2]string, f recording.Fact) {
	t.Helper()
	place := func(s string, offset, head int64, begin string) {
		if got := s[offset : offset+head]; !strings.HasPrefix(got, begin) || strings.Index(got, "\r\n\r\n") != len(got)-4 {
			t.Errorf("%v: no head there, but %q", f, got)
		}
	}
	switch f := f.(type) {
	case *recording.HTTPRequest:
		place(sent[0], f.Offset, f.Head, f.Method+" ")
	case *recording.HTTPResponse:
		place(sent[1], f.Offset, f.Head, "HTTP/1.")
	}
}
