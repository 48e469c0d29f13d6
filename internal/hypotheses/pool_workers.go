package hypotheses

import (
	"cmp"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// namedWorkers names the workers that do tasks of requests, given one of them, and says what a request waits for if
// none has begun its task.
func namedWorkers(c *diagnosis.Case, one timeline.StrandID) (name, what string) {
	if one == timeline.None {
		return "an executor", "a thread of an executor"
	}
	if c.Strands[one].Goroutine == recording.NoGoroutine {
		return "executor of threads " + family(c.Strands[one].Name), "a thread of an executor"
	}
	if name = taskLoop(c, one); name == "" {
		name = "goroutines that take tasks"
	}
	return name, "a goroutine that takes its task"
}

// taskLoop names the outermost function of the service's own code that a goroutine runs, with the line in which it
// waits for others. "" if no stack shows it.
func taskLoop(c *diagnosis.Case, goroutine timeline.StrandID) (name string) {
	for _, id := range c.Strands[goroutine].Waits {
		for _, f := range c.StackFrames(c.Waits[id].Stack) {
			if symbol.Application(f) {
				name = symbol.Place(f)
			}
		}
		if name != "" {
			break
		}
	}
	return name
}

// workersDid lays over waits for an executor how long the worker that finally did the task waited for peers, disks and
// timers meanwhile: others could have waited beside it.
func (k *contention) workersDid(c *diagnosis.Case) {
	of := map[timeline.StrandID][]int{}
	for i := range k.stays {
		if s := k.stays[i].strand; s != timeline.None {
			of[s] = append(of[s], i)
		}
	}
	k.by = [deedKinds]Duration{}
	for s, places := range of {
		from, to := k.stays[places[0]].From, k.stays[places[0]].To
		for _, i := range places {
			from, to = min(from, k.stays[i].From), max(to, k.stays[i].To)
		}
		over := newOverlay(k.deeds.waited(s, from, to))
		for _, i := range places {
			k.parts[i] = over.lay(k.stays[i].From, k.stays[i].To)
		}
	}
	for i := range k.parts {
		for kind, d := range k.parts[i] {
			k.by[kind] += d
		}
	}
}

// waited returns when a strand waited for peers, disks and timers, or for more on a connection
// that it had answered, in a span.
func (d *deeds) waited(s timeline.StrandID, from, to diagnosis.Time) (out []deed) {
	for _, a := range d.c.Doing(s, from, to) {
		if d.kind(&a) == deedIO || a.Lingers {
			out = append(out, deed{from: a.From, to: a.To, kind: deedIO, strand: s, call: a.Call})
		}
	}
	return out
}

// waitedIn is where in the service's own code requests spend most of their wait for a pool or an executor, with the
// line; "" if that is not known. A loop does not count: it waits for its sockets meanwhile.
func (s *shortage) waitedIn(c *diagnosis.Case) string {
	if s.k == nil || s.k.room != "" {
		return ""
	}
	if s.k.lock != timeline.None {
		if f, found := asked(c, s.stays).most(); found && !strings.Contains(s.what, symbol.Place(f)) {
			return symbol.Place(f)
		}
		return ""
	}
	lines := tally{}
	step := max(1, len(s.stays)/lookedAt)
	for i := 0; i < len(s.stays); i += step {
		w := &s.stays[i]
		strand := c.Requests[w.Request].Strand
		if strand == timeline.None || strand == w.strand || c.Strands[strand].Loop {
			continue
		}
		name := ""
		if id := c.WaitAt(strand, w.From); id != timeline.None && c.Waits[id].Cause == timeline.CauseCondition {
			if f, ok := c.SiteOf(c.Waits[id].Stack); ok && symbol.Application(f) {
				name = symbol.Place(f)
			}
		}
		lines[name] += w.To.Sub(w.From)
	}
	if line, share := lines.most(); share >= diagnosis.Whole/2 {
		return line
	}
	return ""
}

// fullQueues separates waits for room in full queues, by the code that puts into them, from waits for the workers that
// do the tasks.
func fullQueues(c *diagnosis.Case, k *contention) (rest *contention, rooms []*contention) {
	if k.lock != timeline.None {
		return k, nil
	}
	index := map[string]*contention{}
	own := *k
	own.stays = nil
	for _, s := range k.stays {
		place := putAt(c, &s)
		if place == "" {
			own.stays = append(own.stays, s)
			continue
		}
		room := index[place]
		if room == nil {
			room = &contention{deeds: k.deeds, lock: timeline.None, name: k.name, room: place}
			index[place] = room
			rooms = append(rooms, room)
		}
		room.stays = append(room.stays, s)
	}
	if len(rooms) == 0 {
		return k, nil
	}
	for _, x := range append(rooms, &own) {
		x.fill(c)
	}
	return &own, rooms
}

// putAt is the code, with its line, in which a request waits for room in a queue; "" if it waits for something else, or that is not known.
func putAt(c *diagnosis.Case, s *stay) string {
	if id := putWait(c, s); id != timeline.None {
		if f, ok := c.SiteOf(c.Waits[id].Stack); ok {
			return symbol.Place(f)
		}
	}
	return ""
}

// putWait returns the wait for room in a queue of the strand that works for a request, while the request waits for
// another strand; None if it waits for something else.
func putWait(c *diagnosis.Case, s *stay) timeline.WaitID {
	r := &c.Requests[s.Request]
	if s.strand == timeline.None || s.strand == r.Strand {
		return timeline.None
	}
	strands := []timeline.StrandID{r.Strand}
	for _, p := range r.Parts {
		if p.From <= s.From && s.From < p.To {
			strands = append(strands, p.Strand)
		}
	}
	for _, strand := range strands {
		if strand == timeline.None {
			continue
		}
		if id := c.WaitAt(strand, s.From); id != timeline.None && timeline.ForRoom(c.Waits[id].Rule) {
			return id
		}
	}
	return timeline.None
}

// fullQueue says what requests wait for if they put something into a full queue.
func fullQueue(c *diagnosis.Case, k *contention) string {
	takers := map[timeline.StrandID]bool{}
	for i := range k.stays {
		takers[k.stays[i].strand] = true
	}
	noun, ends := strings.TrimSuffix(workerNoun(runtimeOf(c, c.Strands[k.waiter()].Process)), "s"), " take from it)"
	if len(takers) == 1 {
		ends = " takes from it)"
	}
	return "room in a full queue (" + k.room + " puts into it, " + diagnosis.Plural(len(takers), noun) + ends
}

// workers names the strands that do what requests wait for.
func (s *shortage) workers() string {
	if s.k != nil && s.k.room != "" {
		return "the " + workerNoun(s.rt) + " that take from it"
	}
	return "its " + cmp.Or(s.noun, workerNoun(s.rt))
}

// workerNoun is what the workers of an executor are.
func workerNoun(rt recording.Runtime) string {
	if rt == recording.RuntimeGo {
		return "goroutines"
	}
	return "threads"
}

// taskPoolFix says what helps if all threads or processes that work for requests are busy.
func taskPoolFix(rt recording.Runtime, noun string) string {
	if rt == recording.RuntimeNode && noun != "processes" {
		return "if the threads mostly wait, as for names and files, run more of them (UV_THREADPOOL_SIZE, 4 by default); " +
			"if they compute, give them less work, or move it to worker_threads or to separate processes"
	}
	return "if the " + noun + " mostly wait, or processors are idle, run more of them; if they compute, give them less work per task"
}

func poolFix(rt recording.Runtime, peer, limit string) string {
	if peer == "" && rt == recording.RuntimeGo {
		return "if the goroutines that take tasks from the channel mostly wait, run more of them; if they compute, put less work into each task; or do the task on the request's own goroutine"
	}
	if peer == "" {
		return "if the executor's threads mostly wait, run more of them; if they compute, put less work into each task; or run the task on the request's own thread"
	}
	end := "; or hold each connection for less time: give it back before other work"
	switch rt {
	case recording.RuntimeNode:
		return "raise the limit" + limit + ": maxSockets of http.Agent or https.Agent, connections of undici's Agent or Pool (which fetch uses), or the application's own limit (such as p-limit)" + end
	case recording.RuntimeJVM:
		return "raise the pool's maximum" + limit + ": HikariCP maximumPoolSize, Apache HttpClient setMaxConnPerRoute, commons-pool and Jedis setMaxTotal, AWS ClientConfiguration.setMaxConnections" + end
	case recording.RuntimeRuby:
		return "raise the pool's size" + limit + ": pool in database.yml, ConnectionPool.new(size: ...), Sequel's max_connections" + end
	case recording.RuntimePython:
		return "raise the pool's maximum" + limit + ": urllib3 maxsize, httpx.Limits max_connections, SQLAlchemy pool_size and max_overflow, psycopg_pool max_size" + end
	case recording.RuntimeGo:
		return "raise the limit" + limit + ": Transport.MaxConnsPerHost, sql.DB.SetMaxOpenConns, pgxpool.Config.MaxConns, or the application's own semaphore" + end
	}
	return "raise the pool's size" + limit + end
}

// sizes says how many of its connections are in use, and how many calls want one; nil if that is not known.
func (s *shortage) sizes(c *diagnosis.Case) (ev []diagnosis.Evidence) {
	if s.size > 0 {
		ev = append(ev, diagnosis.Count("connections in use at the same time at most", s.size))
		if n := s.inFlight(c); n > s.size {
			ev = append(ev, diagnosis.Count("calls in flight at the same time at most", n))
		}
	}
	return ev
}

// inFlight returns how many calls to the pool's peer are under way, or wait for a connection, at the same time at most.
func (s *shortage) inFlight(c *diagnosis.Case) int {
	var open []window
	for i := range c.Calls {
		if k := &c.Calls[i]; k.Peer == s.peer && k.Process == c.Requests[s.stays[0].Request].Process {
			open = append(open, window{k.Start, k.End})
		}
	}
	return mostAtOnce(open)
}

// limits says how many of its connections are in use, and how many calls want one, at most.
func (s *shortage) limits(c *diagnosis.Case) string {
	if n := s.inFlight(c); s.size > 0 && n > s.size {
		return " (" + diagnosis.Thousands(int64(s.size)) + " in use at most, " + diagnosis.Plural(n, "call") + " in flight at most)"
	}
	return " to the most calls that are ever in flight"
}

// fix says how there would be enough of it, in the runtime's own words.
func (s *shortage) fix(c *diagnosis.Case) string {
	switch {
	case s.rt == recording.RuntimeGo && strings.HasPrefix(s.name, "sql.(*DB)."):
		return "raise sql.DB.SetMaxOpenConns to the number of requests in flight, if the database can serve as many; or hold each connection for less time: end transactions and close rows before other work"
	case s.gate != "":
		return "raise the semaphore's count to the number of requests in flight, if what it guards can serve as many; or hold it only during the call"
	case s.turns && s.rt != recording.RuntimePython:
		return "raise the limit that lets so few calls run concurrently: a client's or pool's limit of connections, or the service's own semaphore or lock, " +
			"which should be held only during the call"
	case s.turns:
		return "raise the limit that lets so few calls run concurrently: aiohttp.TCPConnector limit and limit_per_host, httpx.Limits max_connections, a pool's max_size, " +
			"or the service's own asyncio.Semaphore or Lock, which should be held only during the call"
	case s.rt == recording.RuntimeNode && s.session:
		return "raise the pool's maximum (pg.Pool: max, 10 by default) to the number of requests in flight, if the database can serve as many; or hold each connection for less time: give it back before other work"
	case s.noun != "":
		return taskPoolFix(s.rt, s.noun)
	case s.k != nil && s.k.room != "":
		return "do less work per item, or several items in one call or write; if the " + workerNoun(s.rt) + " that take from the queue mostly wait, or processors are idle, run more of them; " +
			"a longer queue helps only against short bursts; if items may be lost, do not wait for room"
	case s.peer == "" && s.k != nil && s.k.lock != timeline.None:
		return "raise the pool's size to the number of requests in flight; or hold each member for less time: give it back before other work"
	}
	return poolFix(s.rt, s.peer, s.limits(c))
}
