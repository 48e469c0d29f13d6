package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	bolt "go.etcd.io/bbolt"
)

// seeded makes the database. Validators began at different times: the first has the
// longest history, the last a tenth of it.
func seeded(s settings) (*history, error) {
	if err := os.Remove(s.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	db, err := bolt.Open(s.file, 0o600, &bolt.Options{InitialMmapSize: s.mapBytes})
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", s.file, err)
	}
	h := &history{db: db, mirror: s.mirror, last: make([]uint64, s.validators)}
	if s.save {
		h.extra = make([]byte, 48<<10)
	}
	for v := range s.validators {
		n := s.epochs - s.epochs*9/10*v/max(1, s.validators-1)
		if err := h.seed(v, n); err != nil {
			return nil, fmt.Errorf("seeding: %w", err)
		}
	}
	return h, db.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(journal)
		_, err2 := tx.CreateBucketIfNotExists(signatures)
		return errors.Join(err, err2)
	})
}

// seed gives a validator one vote for each of its first epochs.
func (h *history) seed(validator, epochs int) error {
	h.last[validator] = uint64(epochs)
	return h.db.Update(func(tx *bolt.Tx) error {
		for _, name := range [][]byte{bySource(validator), byTarget(validator)} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		for e := range uint64(epochs) {
			if err := h.put(tx, vote{validator, e, e + 1}); err != nil {
				return err
			}
		}
		return nil
	})
}
