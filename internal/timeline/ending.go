package timeline

import "github.com/getdwell/dwell/recording"

// Ending is how a connection ended.
type Ending struct {
	Closed Time // NoTime: still open at the end
	By     recording.Closer
	Asked  EndAsked // of an outbound one
}

// EndAsked is who asked for a connection's end in the heads of its messages ("Connection: close").
type EndAsked int8

// The later of them is what the heads of a connection say together.
const (
	EndNotSeen   EndAsked = iota // none was read, or that of an answer was not
	EndNotAsked                  // nobody
	EndByAnswer                  // who answers
	EndByRequest                 // who asks
)
