package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
)

// concurrent is how many duties are worked on at once after a start.
const concurrent = 2000

// backlog works off so many duties that were due at the start, many at once: each is
// checked, then saved.
func backlog(h *history, duties int) {
	if duties == 0 {
		return
	}
	began := time.Now()
	var workers sync.WaitGroup
	for w := range concurrent {
		workers.Go(func() {
			for n := w; n < duties; n += concurrent {
				d := h.duty(n)
				ok, err := h.allowed(d)
				if err == nil && ok {
					err = h.save(d)
				}
				if err != nil {
					log.Print(err)
				}
			}
		})
	}
	workers.Wait()
	fmt.Printf("worked off %d duties in %v\n", duties, time.Since(began).Round(time.Millisecond))
}

// keepWriting is the rest of the client: it writes all the time, and every transaction
// is synced to the disk.
func keepWriting(h *history) {
	block := make([]byte, 16<<10)
	for n := uint64(0); ; n++ {
		err := h.db.Update(func(tx *bolt.Tx) error {
			binary.BigEndian.PutUint64(block, n)
			return tx.Bucket(journal).Put(epoch(n%64), block)
		})
		if err != nil {
			log.Print(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// errEnough ends an export.
var errEnough = errors.New("exported enough")

// keepExporting reads signatures again and again for someone who takes them slowly: the
// transaction is open for 600 ms.
func keepExporting(h *history) {
	for {
		end := time.Now().Add(600 * time.Millisecond)
		err := h.db.View(func(tx *bolt.Tx) error {
			err := tx.Bucket(signatures).ForEach(func(_, _ []byte) error {
				time.Sleep(time.Millisecond)
				if time.Now().After(end) {
					return errEnough
				}
				return nil
			})
			time.Sleep(time.Until(end))
			return err
		})
		if err != nil && !errors.Is(err, errEnough) {
			log.Print(err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}
