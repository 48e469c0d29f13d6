package main

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"
)

// history is what validators have signed. Each has a bucket, source epoch -> target
// epoch, and a mirrored one, target -> source, if the history is kept in both orders.
type history struct {
	db     *bolt.DB
	mirror bool
	last   []uint64      // by validator: the latest target that was seeded
	extra  []byte        // saved beside each vote
	saved  atomic.Uint64 // votes since the start
}

// vote is what a validator is asked to sign.
type vote struct {
	validator      int
	source, target uint64
}

// duty is the nth vote that is due: of each validator in turn, later than all of its own.
func (h *history) duty(n int) vote {
	v := n % len(h.last)
	target := h.last[v] + 1 + uint64(n/len(h.last))
	return vote{v, target - 1, target}
}

// allowed reports whether nothing that the validator signed surrounds the vote, and the
// vote surrounds nothing of that.
func (h *history) allowed(v vote) (ok bool, err error) {
	err = h.db.View(func(tx *bolt.Tx) error {
		if h.mirror {
			ok = !h.surroundsNearEnd(tx, v)
		} else {
			ok = !h.surroundsAnywhere(tx, v)
		}
		return nil
	})
	return ok, err
}

// surroundsAnywhere looks at every vote of the validator.
func (h *history) surroundsAnywhere(tx *bolt.Tx, v vote) bool {
	c := tx.Bucket(bySource(v.validator)).Cursor()
	for k, val := c.First(); k != nil; k, val = c.Next() {
		source, target := binary.BigEndian.Uint64(k), binary.BigEndian.Uint64(val)
		if source < v.source && target > v.target || source > v.source && target < v.target {
			return true
		}
	}
	return false
}

// surroundsNearEnd looks at the votes from the latest on, in both orders, and stops
// where no earlier one can match.
func (h *history) surroundsNearEnd(tx *bolt.Tx, v vote) bool {
	c := tx.Bucket(bySource(v.validator)).Cursor()
	for k, val := c.Last(); k != nil && binary.BigEndian.Uint64(k) > v.source; k, val = c.Prev() {
		if binary.BigEndian.Uint64(val) < v.target {
			return true
		}
	}
	c = tx.Bucket(byTarget(v.validator)).Cursor()
	for k, val := c.Last(); k != nil && binary.BigEndian.Uint64(k) > v.target; k, val = c.Prev() {
		if binary.BigEndian.Uint64(val) < v.source {
			return true
		}
	}
	return false
}

// save adds a vote, in one transaction with those that are saved at the same time.
func (h *history) save(v vote) error {
	return h.db.Batch(func(tx *bolt.Tx) error {
		if err := h.put(tx, v); err != nil || h.extra == nil {
			return err
		}
		return tx.Bucket(signatures).Put(epoch(h.saved.Add(1)), h.extra)
	})
}

func (h *history) put(tx *bolt.Tx, v vote) error {
	if h.mirror {
		if err := tx.Bucket(byTarget(v.validator)).Put(epoch(v.target), epoch(v.source)); err != nil {
			return err
		}
	}
	return tx.Bucket(bySource(v.validator)).Put(epoch(v.source), epoch(v.target))
}

var (
	journal    = []byte("journal")
	signatures = []byte("signatures")
)

func bySource(validator int) []byte { return fmt.Appendf(nil, "source-%d", validator) }
func byTarget(validator int) []byte { return fmt.Appendf(nil, "target-%d", validator) }

func epoch(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
