package timeline

var (
	phaseNames = [...]string{"queue", "dns", "connect", "tls", "send", "remote", "pick-up", "receive", "unread-request", "handler"}
	causeNames = [...]string{"unknown", "on-cpu", "runnable", "lock", "interpreter-lock", "pool", "condition", "remote", "client", "event-loop", "gc", "disk", "page-fault", "ipc", "sleep"}
	causeWords = [...]string{
		"of unknown cause", "computing", "waiting for a processor", "waiting for a lock", "waiting for the interpreter's lock", "waiting for a worker or a connection",
		"waiting for another thread", "waiting for a peer", "waiting for the client", "waiting for the event loop", "stopped by the garbage collector", "waiting for a disk",
		"in page faults", "waiting for a pipe, file or program", "sleeping",
	}
	qualityNames = [...]string{"exact", "sampled", "inferred"}
	stateNames   = [...]string{"unknown", "running", "runnable", "sleeping", "disk"}
)

// String returns the name in the JSON contract.
func (p Phase) String() string { return phaseNames[p] }

// String returns the name in the JSON contract.
func (c Cause) String() string { return causeNames[c] }

// Words says what a request does or waits for, as a sentence does: "waiting for a lock".
func (c Cause) Words() string { return causeWords[c] }

// String returns the name in the JSON contract.
func (q Quality) String() string { return qualityNames[q] }

// String returns the state's name.
func (s State) String() string { return stateNames[s] }
