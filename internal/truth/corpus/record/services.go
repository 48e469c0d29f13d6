package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"

	"github.com/getdwell/dwell/internal/truth/corpus"
)

// service is a made-up service and its load.
type service struct {
	name    string
	args    []string // {} is the folder of what was installed and built
	env     []string
	path    func(i int) string
	rate    float64 // requests/s; or
	workers int     // how many clients send one after the other
}

func services() []service {
	return append(append(nodes(), pythons()...), others()...)
}

// drawn is a service whose endpoints are drawn from a seed.
func drawn(name string, args []string, plan corpus.Plan) service {
	data, err := json.Marshal(plan)
	if err != nil {
		panic(err) // of strings and numbers
	}
	return service{name: name, args: args, env: []string{"PLAN=" + string(data)}, path: corpus.Path, rate: 80}
}

func (s service) with(rate float64, env ...string) service {
	s.rate, s.env = rate, append(s.env, env...)
	return s
}

func (s service) closed(workers int, env ...string) service {
	s.rate, s.workers, s.env = 0, workers, append(s.env, env...)
	return s
}

func nodes() []service {
	node := func(name string, seed uint64, clients ...string) service {
		kinds := corpus.Kinds{Clients: clients, Others: []string{"sleep", "sleep", "cpu", "file", "gzip", "immediate", "tick"}}
		return drawn("node-"+name, []string{"node", "internal/truth/corpus/services/random.js"}, corpus.Draw(seed, kinds))
	}
	storage := "STORAGE=1"
	mixed := []string{"http", "undici", "ioredis", "pg"}
	return []service{
		node("http", 1, "http"),
		node("http-full-pool", 2, "http").with(110, "POOL=3"),
		node("http-storage", 3, "http").with(80, storage),
		node("http-busy", 4, "http").closed(32),
		node("fetch", 5, "fetch"),
		node("fetch-busy", 6, "fetch").closed(32),
		node("fetch-storage", 7, "fetch").with(80, storage),
		node("undici-full-pool", 8, "undici").with(110, "POOL=4"),
		node("axios-new", 9, "axios", "new"),
		node("ioredis", 10, "ioredis"),
		node("ioredis-busy", 11, "ioredis").closed(24),
		node("ioredis-pipelined", 12, "ioredis").with(80, "PIPELINE=1"),
		node("ioredis-storage", 13, "ioredis", "http").with(80, storage),
		node("noderedis", 14, "noderedis", "http"),
		node("noderedis-storage", 15, "noderedis", "http").with(80, storage),
		node("pg-full-pool", 16, "pg").with(110, "POOL=4"),
		node("limit", 17, "limit", "http"),
		node("limit-storage", 17, "limit", "http").with(80, storage),
		node("flight", 18, "flight", "http").with(150),
		node("mixed", 19, mixed...),
		node("mixed-full-pool", 20, mixed...).with(100, "POOL=3"),
		node("mixed-storage", 21, mixed...).with(80, storage),
		node("mixed-busy", 22, mixed...).closed(16),
		withJobs(node("jobs", 23, "http")),
		node("background", 24, "http", "ioredis").with(50, "BACKGROUND=15"),
		node("background-storage", 25, "undici").with(50, "BACKGROUND=15", storage),
	}
}

// withJobs has a job of a worker thread before each last call.
func withJobs(s service) service {
	plan := corpus.Plan{}
	job, call := corpus.Step{Do: "job"}, corpus.Step{Do: "http", US: 3000, Vary: true}
	plan["alpha"] = []corpus.Step{call, job, call}
	plan["beta"] = []corpus.Step{job, call, job, call}
	plan["gamma"] = []corpus.Step{call, call}
	of := drawn(s.name, s.args, plan)
	return of
}

func pythons() []service {
	python := func(name string, seed uint64, clients ...string) service {
		kinds := corpus.Kinds{Clients: clients, Others: []string{"sleep", "cpu"}}
		s := drawn("python-"+name, []string{"python3", "internal/truth/corpus/services/random.py"}, corpus.Draw(seed, kinds))
		return s.with(50, "PYTHONPATH={}/py")
	}
	return []service{
		python("aiohttp", 31, "aiohttp"),
		python("aiohttp-full-pool", 32, "aiohttp").with(70, "POOL=3"),
		python("httpx", 33, "httpx"),
		python("redis", 34, "redis", "aiohttp"),
		python("to-thread", 35, "thread", "aiohttp"),
		python("queue", 36, "queued", "aiohttp"),
		python("background", 37, "aiohttp").with(40, "BACKGROUND=15"),
		flows("python-threads", []string{"python3", "internal/truth/services/service.py"}, "direct").with(60),
		flows("python-executor", []string{"python3", "internal/truth/services/executor.py"}, "direct").with(40),
		flows("python-fan", []string{"python3", "internal/truth/services/executor.py"}, "fan").with(30),
		flows("python-fan-crowd", []string{"python3", "internal/truth/services/executor.py"}, "fan").each(2).closed(64),
		flows("python-loop-thread", []string{"python3", "internal/truth/corpus/services/loopthread.py"}, "direct", "chain").with(50, "PYTHONPATH={}/py"),
	}
}

func others() []service {
	jvm := []string{"java", "-Xmx256m", "internal/truth/services/Executor.java"}
	golang := []string{"{}/service"}
	loop := func(name, pool string) service {
		s := flows("loop-"+name, []string{"{}/loop"}, "direct")
		s.env, s.path = append(s.env, "POOL="+pool), answered
		return s
	}
	return []service{
		flows("go-direct", golang, "direct", "post"),
		flows("go-goroutines", golang, "all", "nested"),
		flows("go-pool", golang, "pool", "direct").with(60),
		flows("go-full-pool", golang, "all", "direct").with(120, "MAX_CONNS=4"),
		flows("jvm-fan", jvm, "fan", "direct").with(50),
		flows("jvm-fan-few-threads", jvm, "fan").with(60, "POOL=4"),
		flows("jvm-chain", jvm, "chain", "threads").with(50),
		flows("jvm-mixed", jvm, "mixed", "fan").with(40),
		flows("jvm-async", jvm, "async").closed(12),
		flows("jvm-fan-crowd", jvm, "fan").each(4).closed(64, "POOL=16"),
		flows("jvm-fan-even", jvm, "fan").each(8).with(60, "POOL=4"),
		flows("tokio", []string{"{}/tokio/target/release/tasks"}, "direct", "all", "nap", "few", "spawn", "block").with(120),
		flows("ruby-puma", []string{"ruby", "internal/truth/services/service.rb"}, "direct").with(60),
		loop("kept", "32").with(100),
		loop("full", "3").with(300),
	}
}

// each lets all requests make so many calls, as those of one endpoint mostly do.
func (s service) each(calls int) service {
	path := s.path
	s.path = func(i int) string { return anyCalls.ReplaceAllString(path(i), fmt.Sprintf("calls=%d", calls)) }
	return s
}

var anyCalls = regexp.MustCompile(`calls=\d+`)

// flows is one of the services of internal/truth, asked in several ways in turn.
func flows(name string, args []string, ways ...string) service {
	return service{name: name, args: args, rate: 80, path: func(i int) string {
		r := rand.New(rand.NewPCG(uint64(i), 4))
		return fmt.Sprintf("/work?cpu=%d&calls=%d&delay=%d&flow=%s", 50+r.IntN(150), 1+r.IntN(4), 1500+r.IntN(3000), ways[r.IntN(len(ways))])
	}}
}

// answered is what the loop passes on.
func answered(i int) string {
	return fmt.Sprintf("/answer?delay=%d", 2000+rand.New(rand.NewPCG(uint64(i), 4)).IntN(8000))
}
