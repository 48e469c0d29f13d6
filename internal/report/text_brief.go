package report

// screen is how many lines a report has at most, unless all is asked for.
const screen = 40

// whole is the limit of lines of a text that is not cut.
const whole = 1000

// brevity is how much of a report is told at length; the rest is named, or counted, and
// --all tells it.
type brevity struct {
	findings, leads, rows, calls int
	names                        bool // of all that is ruled out or minor
	legend                       bool // of the table what its words mean
	places                       bool // of findings not told at length only where they are, not what
}

var everything = brevity{whole, whole, 12, whole, true, true, false}

// briefer are the ways to tell a report, the shorter the later: the first that fits the
// screen is taken. What is wrong, where the time is and what was not seen is in each.
var briefer = []brevity{
	{3, 3, 5, 4, true, true, false},
	{3, 3, 5, 4, false, true, false},
	{3, 2, 5, 4, false, true, false},
	{3, 2, 5, 2, false, true, false},
	{3, 2, 3, 1, false, true, false},
	{3, 1, 5, 4, false, true, false},
	{3, 1, 5, 2, false, true, false},
	{3, 1, 4, 1, false, true, false},
	{3, 0, 5, 4, false, true, false},
	{3, 0, 5, 1, false, true, false},
	{3, 0, 3, 1, false, true, false},
	{3, 0, 3, 1, false, false, false},
	{2, 0, 3, 1, false, false, false},
	{1, 0, 3, 1, false, false, false},
	{1, 0, 3, 1, false, false, true},
}
