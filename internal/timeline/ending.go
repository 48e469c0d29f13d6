package timeline

import "github.com/getdwell/dwell/recording"

// Ending is how a connection ended.
type Ending struct {
	Closed Time // NoTime: still open at the end
	By     recording.Closer
	Asked  EndAsked // for an outbound connection
}

// EndAsked is which side asked for a connection's end in the heads of its messages ("Connection: close").
type EndAsked int8

// For a connection, the largest value that any of its heads gives applies.
const (
	EndNotSeen   EndAsked = iota // no head was read, or an answer's head was not
	EndNotAsked                  // neither side asked
	EndByAnswer                  // the side that answers asked
	EndByRequest                 // the side that asks did
)
