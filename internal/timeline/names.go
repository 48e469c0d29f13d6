package timeline

var (
	phaseNames   = [...]string{"queue", "dns", "connect", "tls", "send", "remote", "pick-up", "receive", "unread-request", "handler"}
	causeNames   = [...]string{"unknown", "on-cpu", "runnable", "lock", "interpreter-lock", "pool", "condition", "remote", "client", "event-loop", "gc", "disk", "page-fault", "ipc", "sleep"}
	qualityNames = [...]string{"exact", "sampled", "inferred"}
	stateNames   = [...]string{"unknown", "running", "runnable", "sleeping", "disk"}
)

// String returns the name in the JSON contract.
func (p Phase) String() string { return phaseNames[p] }

// String returns the name in the JSON contract.
func (c Cause) String() string { return causeNames[c] }

// String returns the name in the JSON contract.
func (q Quality) String() string { return qualityNames[q] }

// String returns the state's name.
func (s State) String() string { return stateNames[s] }
