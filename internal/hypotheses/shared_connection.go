package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// onOneConnection is the share of what holders waited for that must be on one connection.
const onOneConnection = 9 * diagnosis.Whole / 10

// guarded returns a call on the one connection that holders waited for, one after the other: their lock may be there
// because they share it. None if they waited for several connections, or if only one of them waited.
func (k *contention) guarded(c *diagnosis.Case) timeline.CallID {
	on, first := map[recording.ConnID]Duration{}, timeline.CallID(timeline.None)
	holders := map[timeline.StrandID]bool{}
	var all, most Duration
	for i, d := range k.weights {
		at := &k.did[i]
		if d == 0 || at.kind != deedIO {
			continue
		}
		all += d
		if at.call == timeline.None {
			continue
		}
		conn := c.Calls[at.call].Conn
		if on[conn] += d; on[conn] > most {
			most, first = on[conn], at.call
		}
		holders[at.strand] = true
	}
	if len(holders) < 2 || diagnosis.ShareOf(int64(most), int64(all)) < onOneConnection {
		return timeline.None
	}
	return first
}

// ofClient reports whether a lock is taken in code that the service brought along, and the own code that waits there
// also makes the call: the client lets one call through after the other. If a cache loads under its lock, the loader is
// code of its own.
func (k *contention) ofClient(c *diagnosis.Case) bool {
	if k.lock == timeline.None {
		return false
	}
	if f, found := c.LockSite(c.Locks[k.lock].Stack); !found || symbol.Application(f) {
		return false
	}
	waits := map[string]bool{}
	for i := range k.stays {
		if w := k.stays[i].wait; w != timeline.None {
			waits[ownFunction(c, c.Waits[w].Stack)] = true
		}
	}
	var same, all Duration
	for i, d := range k.weights {
		if at := &k.did[i]; at.kind == deedIO && at.call != timeline.None {
			if name := ownFunction(c, at.stack); name != "" {
				if all += d; waits[name] {
					same += d
				}
			}
		}
	}
	return same > 0 && diagnosis.ShareOf(int64(same), int64(all)) >= onOneConnection
}

// ownFunction names the innermost function of the service's own code on a stack; "" if there is none.
func ownFunction(c *diagnosis.Case, id timeline.StackID) string {
	for _, f := range c.StackFrames(id) {
		if symbol.Application(f) {
			return symbol.Name(f)
		}
	}
	return ""
}

// sharedFix says what to do about a lock over waits for a peer if the holders' calls all go on one connection; "" if
// they do not. A client's own lock around its only connection is no lock over a refresh, however rare the call is that
// is waited for.
func (k *contention) sharedFix(c *diagnosis.Case, rare bool) string {
	id := k.guarded(c)
	if id == timeline.None {
		return ""
	}
	call := &c.Calls[id]
	pool := connectionPool(runtimeOf(c, call.Process), call.Protocol)
	switch {
	case k.ofClient(c) && rare:
		return "threads share one connection to " + call.Peer + ", and its client lets one at a time use it: give them " + pool +
			"; put rare long calls on a separate connection"
	case k.ofClient(c):
		return "threads share one connection to " + call.Peer + ", and its client lets one at a time use it: give them " + pool
	case !rare:
		return "do not hold the lock while waiting for " + k.behind(c) + ": fetch first, then take the lock to store the result; if the lock is there because threads share that connection, give them " + pool
	}
	return ""
}

// connectionPool names a pool in a runtime's own words.
func connectionPool(rt recording.Runtime, of recording.Protocol) string {
	const pool = "a pool of connections"
	switch {
	case rt == recording.RuntimeJVM && of == recording.ProtocolRedis:
		return pool + ": JedisPool, or Lettuce's ConnectionPoolSupport for commands that block"
	case rt == recording.RuntimeJVM && of == recording.ProtocolHTTP1:
		return pool + ": one pooled client (java.net.http.HttpClient, Apache HttpClient, OkHttp) that all threads use concurrently"
	case rt == recording.RuntimeJVM:
		return pool + ": one HikariDataSource, from which each thread borrows a connection for as long as it needs it"
	case rt == recording.RuntimeRuby && of == recording.ProtocolRedis:
		return pool + ": ConnectionPool.new { Redis.new }"
	case rt == recording.RuntimeRuby && of == recording.ProtocolHTTP1:
		return pool + ": net-http-persistent, or ConnectionPool.new { Net::HTTP.start(...) }"
	case rt == recording.RuntimeRuby:
		return pool + ": ActiveRecord's or Sequel's, or ConnectionPool.new { PG.connect }"
	case rt == recording.RuntimePython && of == recording.ProtocolHTTP1:
		return pool + ": requests.Session, urllib3.PoolManager or httpx.Client with as many connections as there are threads"
	case rt == recording.RuntimePython:
		return pool + ": psycopg_pool.ConnectionPool, redis.ConnectionPool, one SQLAlchemy engine"
	case rt == recording.RuntimeGo:
		return pool + ": sql.DB, pgxpool, http.Transport"
	}
	return pool
}
