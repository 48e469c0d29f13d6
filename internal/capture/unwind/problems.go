//go:build linux && (amd64 || arm64)

package unwind

import "fmt"

// problem is why a stack is not in the recording; "": none.
type problem string

const (
	problemNone   problem = ""
	problemEarly  problem = "early"
	problemCode   problem = "code"
	problemEmpty  problem = "empty"
	problemTooBig problem = "many"
	problemRoom   problem = "room"
	problemCost   problem = "cost"

	problemStalled problem = "stalled"
)

func (p problem) why() string {
	switch p {
	case problemEarly:
		return "a stack was asked for before the profiler had examined the process"
	case problemCode:
		return "a stack led through code that the profiler had not examined yet"
	case problemEmpty:
		return "a stack had no frames"
	case problemTooBig:
		return "there are more different stacks than are kept"
	case problemRoom:
		return "there was no room to ask for a stack"
	case problemStalled:
		return "stacks do not lead through a file of code: its file system does not answer"
	case problemCost:
		return fmt.Sprintf("a wait has no stack of its own: walking them may take %d %% of a CPU at most", allowancePercent)
	}
	return string(p)
}

// Why the profiler ended a walk: two of its error codes, see its errors.json.
const (
	noMapping          = 4012
	unsupportedMapping = 4018 // of compiled code, before the runtime is recognised
)

// aborted says in words why the profiler gave up a stack. The code, as in its errors.json, follows for further
// investigation.
func aborted(code uint64) problem {
	if code == noMapping || code == unsupportedMapping {
		return problemCode
	}
	return problem(fmt.Sprintf("a stack could not be walked to its end: %s (the profiler's error %d)", abortedWhy(code), code))
}

func abortedWhy(code uint64) string {
	switch code {
	case 2:
		return "it is deeper than the profiler keeps"
	case 5:
		return "it changes between languages too often"
	case 4001, 4002, 4003, 4004, 4005, 4015:
		return "machine code came without the tables to unwind it"
	case 4007:
		return "a return address could not be read"
	case 4013, 4014:
		return "a return address is not one"
	case 4011:
		return "it leads into the kernel"
	case 4019, 4020:
		return "it leads to memory that holds no code"
	}
	families := []string{"", "the JVM", "Python", "Ruby", "machine code", "V8", ".NET", "Erlang", "LuaJIT"}
	if family := code / 1000; family > 0 && family < uint64(len(families)) {
		return "what " + families[family] + " keeps of it could not be read"
	}
	return "for a reason of its own"
}
