package target

// Check is one thing that dwell needs, or can use, and whether this machine has it.
type Check struct {
	Name     string
	OK       bool
	Required bool // without it nothing can be recorded
	Detail   string
	Remedy   string // what to do when not OK
}

// Doctor examines this machine and the rights of the calling process.
func Doctor() []Check { panic("todo") }
