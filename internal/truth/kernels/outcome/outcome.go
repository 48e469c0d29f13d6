// Package outcome is what a virtual machine says of the kernel that it was booted with.
package outcome

// Mark begins the line of the console that holds an Outcome as JSON.
const Mark = "DWELL-OUTCOME "

// Outcome is what was seen on one kernel.
type Outcome struct {
	Kernel string `json:"kernel"` // its release
	Arch   string `json:"arch"`
	Doctor Doctor `json:"doctor"`
	Demo   Demo   `json:"demo"`
	Truth  Truth  `json:"truth"`
	Kmsg   string `json:"kmsg,omitempty"` // the first line with which the kernel complained
}

// Doctor is what dwell doctor says.
type Doctor struct {
	CanRecord bool     `json:"can_record"`
	Without   []string `json:"without"` // names of the checks that were not met
	Error     string   `json:"error,omitempty"`
}

// Demo is what dwell demo says.
type Demo struct {
	Error      string   `json:"error,omitempty"`
	Live       bool     `json:"live"`
	Findings   []string `json:"findings"` // of the variant with the fault
	Repaired   []string `json:"repaired"` // findings of the variant without it
	Requests   int      `json:"requests"`
	Associated float64  `json:"associated"` // share of the calls
	Events     int64    `json:"events"`     // of both variants
	Lost       int64    `json:"lost"`       // of them
	Before     int64    `json:"before_ns"`  // p50 of all requests, with the fault
	Saving     int64    `json:"saving_ns"`  // at p50, as predicted
	After      int64    `json:"after_ns"`   // p50 of all requests, repaired
}

// Truth is how a recording compares with what the programs themselves logged.
type Truth struct {
	Error     string `json:"error,omitempty"`
	Requests  int    `json:"requests"` // as the client logged
	Matched   int    `json:"matched"`  // of them found in the recording
	Cut       int    `json:"cut"`
	Extra     int    `json:"extra"`     // found, and not logged
	Exchanges int    `json:"exchanges"` // as the upstream logged
	Right     int    `json:"right"`     // of them given to the request that made them
	Wrong     int    `json:"wrong"`     // given to another
	Events    int64  `json:"events"`
	Lost      int64  `json:"lost"` // of them
	Stacks    int    `json:"stacks"`
}
