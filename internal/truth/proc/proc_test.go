package proc

import (
	"context"
	"strings"
	"testing"
	"time"
)

func TestTalk(t *testing.T) {
	p, err := Start(context.Background(), Options{
		Args: []string{"sh", "-c", `echo ready to "$WHO"; while read word; do echo "heard $word"; done; echo bye >&2; exit 3`},
		Env:  []string{"WHO=serve"}, Ready: "ready to serve", CPUs: "0",
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Say("one"); err != nil {
		t.Fatal(err)
	}
	if line, err := p.Line("heard", time.Minute); err != nil || line != "heard one" {
		t.Errorf("line %q, %v", line, err)
	}
	p.stdin.Close()
	if err := p.Wait(time.Minute); err == nil || !strings.Contains(err.Error(), "exit status 3\nready to serve\nheard one\nbye") || Status(err) != 3 {
		t.Errorf("error %v", err)
	}
}

func TestNeverReady(t *testing.T) {
	_, err := Start(context.Background(), Options{Args: []string{"sh", "-c", "echo cannot bind"}, Ready: "ready"})
	if err == nil || !strings.Contains(err.Error(), "cannot bind") {
		t.Errorf("error %v, want what it printed", err)
	}
}

func TestStop(t *testing.T) {
	p, err := Start(context.Background(), Options{Args: []string{"sh", "-c", "echo up; exec sleep 600"}, Ready: "up"})
	if err != nil {
		t.Fatal(err)
	}
	p.Stop()
	if err := p.Wait(time.Minute); err == nil || !strings.Contains(err.Error(), "terminated") {
		t.Errorf("error %v, want the signal", err)
	}
}
