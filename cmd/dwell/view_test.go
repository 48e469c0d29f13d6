package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// The page is served at the printed address, answers for any request, and ends with the command.
func TestViewServesAPage(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	said, says := io.Pipe()
	status := make(chan int, 1)
	go func() {
		status <- execute(ctx, []string{"view", "bundled/bad.txt"}, world{out: says, err: says, getenv: func(string) string { return "" }})
		says.Close()
	}()
	lines := bufio.NewReader(said)
	address, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(address, err)
	}
	go io.Copy(io.Discard, lines)
	get := func(name string) (int, []byte) {
		answer, err := http.Get(strings.TrimSpace(address) + name)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, text
	}
	var page struct {
		Live    bool
		Latency struct{ Count int }
	}
	_, text := get("data.json")
	if err := json.Unmarshal(text, &page); err != nil || !page.Live || page.Latency.Count == 0 {
		t.Errorf("%+v, %v", page, err)
	}
	for name, want := range map[string]string{
		"request.json?id=3": `"id":3`, "threads.json?at=%2B500ms": `"at_ns":500000000`, "request.json?id=-1": "no request", "where.json?where=remote%3E1ms": `"count":`, "where.json?where=x%3E1": "nothing that requests have", "threads.json?at=x": "--at", "lanes.json?from=0&to=500000000": `"to_ns":500000000`, "lanes.json?from=9&to=3": "no span", "under.json?function=no.such": "no function",
	} {
		if _, text := get(name); !strings.Contains(string(text), want) {
			t.Errorf("%s: %.200s, want %s", name, text, want)
		}
	}
	cancel()
	if got := <-status; got != exitDone {
		t.Error("status", got)
	}
}
