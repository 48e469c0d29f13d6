package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func sendWindow() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "send-window",
		Title: "Messages wait in our socket for room at the other end or under way",
		Doc: "The peer or the network takes the bytes too slowly.\n\n" +
			"Support: messages (answers to clients or requests of calls) that cannot leave when they are written. The writer sleeps as the socket is full, or the end of what was written stays there. The reason is that the receive window of the " +
			"other end is full (it reads too slowly), or the congestion window of the connection is (much is under way, or packets were lost).\n\n" +
			"Not this: an end that waits for the acknowledgement of the piece before it (delayed-ack).\n\n" +
			"Saving: that time is taken out of each request.",
		Needs:    []string{recording.HookIO, recording.HookLate},
		Explains: []string{"slow-peer"},
		Test: func(c *diagnosis.Case) diagnosis.Result {
			return testKept(c, keptWords{
				part:  "of messages had their last part held back for want of room at the receiver or on the way",
				none:  "had its last part held back for want of room at the receiver or on the way",
				title: ": the receiver has no room, or too much is unacknowledged on the way",
				fix: func(k *keptEnd, _ recording.Runtime) string {
					if k.peer == "" {
						return "send smaller answers (compress, page), or put a proxy near the service that takes the answers of slow clients"
					}
					return "see why " + k.peer + " reads slowly; send it less per call, or in parallel over several connections; if the round trip is long, raise net.ipv4.tcp_wmem and the peer's tcp_rmem"
				},
				in:   func(k *keptEnd) bool { return k.kept == timeline.KeptNoRoom },
				more: true, // what then lies unread at the other end would be saved, too
			})
		},
	}
}
