package hypotheses

import "github.com/getdwell/dwell/recording"

// reuseFix says how to keep and reuse connections, in a runtime's own words.
func reuseFix(rt recording.Runtime) string {
	switch rt {
	case recording.RuntimeNode:
		return "give the client one agent that keeps connections: new https.Agent({ keepAlive: true }) " +
			"(http.Agent for plain HTTP); AWS SDK v2: AWS_NODEJS_CONNECTION_REUSE_ENABLED=1"
	case recording.RuntimeGo:
		return "use one http.Client (one http.Transport) for all calls, read each body to its end and close it, " +
			"and raise Transport.MaxIdleConnsPerHost (default 2) to 100 or so"
	case recording.RuntimePython:
		return "make calls through one requests.Session, urllib3.PoolManager or httpx.Client that lives as long as the process"
	case recording.RuntimeRuby:
		return "keep one started Net::HTTP (or net-http-persistent, or one Faraday connection with that adapter) for all calls"
	case recording.RuntimeJVM:
		return "use one pooled client (java.net.http.HttpClient, Apache HttpClient, OkHttp) for all calls and " +
			"read bodies to their end; keep idle connections longer than the pauses between calls"
	}
	return "keep connections open between calls and reuse them: one client with a pool for the life of the process"
}

// asksToClose names what makes a runtime's client ask the peer to end each connection.
func asksToClose(rt recording.Runtime) string {
	if rt == recording.RuntimeGo {
		return "Connection: close, DisableKeepAlives, Request.Close"
	}
	return "Connection: close"
}

// peerClosesFix says what to do if the peer ends the connections.
func peerClosesFix(rt recording.Runtime) string {
	return "the peer closes idle connections first: raise its idle (keep-alive) timeout above the pauses between calls; " +
		"on our side: " + reuseFix(rt)
}

// idleFix says what to do if our side ends connections that were idle for a while.
func idleFix(rt recording.Runtime) string {
	const keep = "keep idle connections for longer than the pauses between calls: "
	switch rt {
	case recording.RuntimeNode:
		return keep + "keepAliveTimeout of undici's Agent or Pool (4 s by default), freeSocketTimeout of agentkeepalive (4 s); " +
			"http.Agent and undici also follow the time in the peer's header Keep-Alive: raise the peer's own idle timeout " +
			"(server.keepAliveTimeout, 5 s by default) if it is shorter"
	case recording.RuntimeGo:
		return keep + "Transport.IdleConnTimeout"
	case recording.RuntimeRuby:
		return keep + "Net::HTTP#keep_alive_timeout (2 s by default), idle_timeout of net-http-persistent (5 s)"
	case recording.RuntimeJVM:
		return keep + "the system property jdk.httpclient.keepalive.timeout (30 s by default), keepAliveDuration of OkHttp's ConnectionPool"
	}
	return keep + "raise the idle timeout of the client's pool"
}

// loopFix says how to move work off the event loop: computing, or calls in which the loop sleeps.
func loopFix(rt recording.Runtime, asleep bool) string {
	switch rt {
	case recording.RuntimeNode:
		if asleep {
			return "use the asynchronous form of the call that blocks it (fs.promises, streams, execFile); for log lines, use an asynchronous logger (pino.destination({ sync: false })), and see that the log's reader keeps up"
		}
		return "move long computations to worker_threads (piscina), use the asynchronous forms (crypto, zlib, fs), or split the work with setImmediate"
	case recording.RuntimePython:
		return "move blocking or long work off the loop: await asyncio.to_thread(...) or loop.run_in_executor with a process pool"
	}
	return "move long computations off the event loop's thread to a pool of workers, or split them"
}

// sessionFix says how to keep sessions of a database, in a runtime's own words.
func sessionFix(rt recording.Runtime) string {
	const keep = "keep sessions open between requests, in one pool for the life of the process"
	switch rt {
	case recording.RuntimePython:
		return keep + ": CONN_MAX_AGE or the pool option in Django, psycopg_pool.ConnectionPool, one SQLAlchemy engine with a pool"
	case recording.RuntimeNode:
		return keep + ": one new Pool() of pg, not a Client for each request"
	case recording.RuntimeJVM:
		return keep + ": one HikariDataSource instead of DriverManager.getConnection"
	case recording.RuntimeRuby:
		return keep + ": ActiveRecord's pool, connection_pool"
	case recording.RuntimeGo:
		return keep + ": one sql.DB for the process, with SetMaxIdleConns as large as the sessions in use"
	}
	return keep
}
