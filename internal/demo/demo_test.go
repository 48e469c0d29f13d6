package demo

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"
)

// TestMain lets the test binary play the demo's two processes.
func TestMain(m *testing.M) {
	if len(os.Args) == 5 && os.Args[1] == "serve" {
		err := Serve(context.Background(), ServeOptions{
			Dir: os.Args[2], Store: os.Args[3], Mode: Mode(os.Args[4]), In: os.Stdin, Out: os.Stdout,
		})
		if err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func self(dir, store string, mode Mode) *exec.Cmd {
	return exec.Command(os.Args[0], "serve", dir, store, string(mode))
}

func start(t *testing.T, mode Mode) *Service {
	t.Helper()
	service, err := Start(t.Context(), self, mode)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(service.Stop)
	return service
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %s", url, resp.Status, body)
	}
	return string(body)
}

func TestBothModesAnswerTheSame(t *testing.T) {
	const want = `{"left":3,"name":"product 20","price":120}` + "\n"
	for _, mode := range []Mode{Bad, Fixed} {
		service := start(t, mode)
		if got := get(t, service.URL+ProductPath(20)); got != want {
			t.Errorf("%s: got %s, want %s", mode, got, want)
		}
		stats, err := service.StoreStats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if stats.Queries != 2 || stats.P50 <= 0 || stats.P99 < stats.P50 {
			t.Errorf("%s: the store says %+v of itself, want 2 queries with their times", mode, stats)
		}
	}
}

func TestStopEndsBothProcessesAndRemovesTheirFiles(t *testing.T) {
	service := start(t, Bad)
	dir := service.dir
	service.Stop()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", dir, err)
	}
	client := http.Client{Timeout: time.Second}
	if _, err := client.Get(service.URL + ProductPath(1)); err == nil {
		t.Error("the shop still answers")
	}
}

// BenchmarkRequest is the effect that the demo shows: what a request costs with a
// connection for every call, and without.
func BenchmarkRequest(b *testing.B) {
	for _, mode := range []Mode{Bad, Fixed} {
		b.Run(string(mode), func(b *testing.B) {
			service, err := Start(b.Context(), self, mode)
			if err != nil {
				b.Fatal(err)
			}
			defer service.Stop()
			for i := 0; b.Loop(); i++ {
				resp, err := http.Get(service.URL + ProductPath(i))
				if err != nil {
					b.Fatal(err)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
}
