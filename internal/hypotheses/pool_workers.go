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
	noun, ends := strings.TrimSuffix(workerNoun(runtimeOf(c, c.Strands[k.waiter()].Process)), "s"), " take from"
	if len(takers) == 1 {
		ends = " takes from"
	}
	return "room in a full queue, into which " + k.room + " puts and which " + diagnosis.Plural(len(takers), noun) + ends
}

// workers names the strands that do what requests wait for.
func (s *shortage) workers() string {
	if s.k != nil && s.k.room != "" {
		return "those who take from it"
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
		return "more threads (UV_THREADPOOL_SIZE, 4 unless told) if what they do is waiting, as for names and files; " +
			"less work for them if it is computing, or give that to worker_threads or processes of its own"
	}
	return "more " + noun + " if what they do is waiting, or while processors are idle; less work in each piece if it is computing"
}

func poolFix(rt recording.Runtime, peer string) string {
	if peer == "" && rt == recording.RuntimeGo {
		return "more goroutines that take tasks from the channel if what they do is waiting, less work in each task if it is computing; or do the task on the request's own goroutine"
	}
	if peer == "" {
		return "more threads in the executor if what they do is waiting, less work in each task if it is computing; or run the task on the request's own thread"
	}
	end := "; or hold a connection for less: give it back before other work"
	switch rt {
	case recording.RuntimeNode:
		return "raise to the calls in flight what limits them: the agent's maxSockets (http.Agent, https.Agent), connections (Agent or Pool of undici, which fetch uses), or the application's own limit (such as p-limit's)" + end
	case recording.RuntimeJVM:
		return "raise the pool's maximum (HikariCP maximumPoolSize, Apache HttpClient setMaxConnPerRoute, commons-pool and Jedis setMaxTotal, AWS ClientConfiguration.setMaxConnections) to the calls in flight" + end
	case recording.RuntimeRuby:
		return "raise the pool's size (pool in database.yml, ConnectionPool.new(size: ...), Sequel's max_connections) to the calls in flight" + end
	case recording.RuntimePython:
		return "raise the pool's maximum (urllib3 maxsize, httpx.Limits max_connections, SQLAlchemy pool_size and max_overflow, psycopg_pool max_size) to the calls in flight" + end
	case recording.RuntimeGo:
		return "raise to the calls in flight what limits them: Transport.MaxConnsPerHost, sql.DB.SetMaxOpenConns, pgxpool.Config.MaxConns, or a semaphore of the application's" + end
	}
	return "raise the pool's size to the calls in flight" + end
}

// fix says how there would be enough of it, in the runtime's own words.
func (s *shortage) fix() string {
	switch {
	case s.rt == recording.RuntimeGo && strings.HasPrefix(s.name, "sql.(*DB)."):
		return "raise sql.DB.SetMaxOpenConns to the requests in flight, if the database can take as many; or hold a connection for less: end transactions, and close rows, before other work"
	case s.gate != "":
		return "raise the semaphore's count to the requests in flight, if what it guards can take as many; or hold it for less: take it around the call alone"
	case s.turns && s.rt != recording.RuntimePython:
		return "raise what lets so few calls through at once: a client's or a pool's limit of connections, or a semaphore or lock of the service's own, " +
			"which is to be held around the call alone"
	case s.turns:
		return "raise what lets so few calls through at once: aiohttp.TCPConnector limit and limit_per_host, httpx.Limits max_connections, a pool's max_size, " +
			"or an asyncio.Semaphore or Lock of the service's own, which is to be held around the call alone"
	case s.rt == recording.RuntimeNode && s.session:
		return "raise the pool's maximum (pg.Pool: max, 10 unless told) to the requests in flight, if the database can take as many; or hold a connection for less: give it back before other work"
	case s.noun != "":
		return taskPoolFix(s.rt, s.noun)
	case s.k != nil && s.k.room != "":
		return "less work for each thing that is put there, several in one call or one write; or more " + workerNoun(s.rt) +
			" that take from it, if what they do is waiting or processors are idle; a longer queue helps against short bursts only; where things may be lost, do not wait for room"
	case s.peer == "" && s.k != nil && s.k.lock != timeline.None:
		return "raise the pool's size to the requests in flight; or hold a member for less: give it back before other work"
	}
	return poolFix(s.rt, s.peer)
}
