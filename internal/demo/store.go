package demo

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"go.etcd.io/bbolt"
)

const (
	productBucket = "products"
	stockBucket   = "stock"
)

// Store is the shop's database: two tables in an embedded store, served over HTTP.
// It measures its own handlers, as databases do.
type Store struct {
	db *bbolt.DB

	mu    sync.Mutex
	times []time.Duration // of every query served
}

// StoreStats is what the store says of itself: the time inside its own handlers.
type StoreStats struct {
	Queries int   `json:"queries"`
	P50     int64 `json:"p50_ns"` // nanoseconds
	P99     int64 `json:"p99_ns"` // nanoseconds
}

// OpenStore opens the store in the file at path, creating and filling it if needed.
func OpenStore(path string) (*Store, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Second, NoSync: true})
	if err != nil {
		return nil, fmt.Errorf("open the demo's store %s: %w", path, err)
	}
	if err := db.Update(fill); err != nil {
		return nil, fmt.Errorf("fill the demo's store %s: %w", path, err)
	}
	return &Store{db: db}, nil
}

func fill(tx *bbolt.Tx) error {
	products, err := tx.CreateBucketIfNotExists([]byte(productBucket))
	if err != nil {
		return err
	}
	stock, err := tx.CreateBucketIfNotExists([]byte(stockBucket))
	if err != nil {
		return err
	}
	for i := range Products {
		key := []byte(strconv.Itoa(i))
		if err := products.Put(key, fmt.Appendf(nil, `{"id":%d,"name":"product %d","price":%d}`, i, i, 100+i)); err != nil {
			return err
		}
		if err := stock.Put(key, fmt.Appendf(nil, `{"id":%d,"left":%d}`, i, i%17)); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the store's file.
func (s *Store) Close() error { return s.db.Close() }

// Handler serves GET /products/{id}, GET /stock/{id} and GET /stats.
func (s *Store) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /products/{id}", s.table(productBucket))
	mux.HandleFunc("GET /stock/{id}", s.table(stockBucket))
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(s.stats()) // a reader who left is no failure of the store
	})
	return mux
}

func (s *Store) table(bucket string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		var row []byte
		err := s.db.View(func(tx *bbolt.Tx) error {
			row = slices.Clone(tx.Bucket([]byte(bucket)).Get([]byte(r.PathValue("id"))))
			return nil
		})
		switch {
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		case row == nil:
			http.NotFound(w, r)
		default:
			w.Header().Set("Content-Type", "application/json")
			w.Write(row)
		}
		s.note(time.Since(began))
	}
}

func (s *Store) note(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times = append(s.times, d)
}

func (s *Store) stats() StoreStats {
	s.mu.Lock()
	times := slices.Clone(s.times)
	s.mu.Unlock()
	if len(times) == 0 {
		return StoreStats{}
	}
	slices.Sort(times)
	rank := func(percent int) int64 { return int64(times[(len(times)-1)*percent/100]) }
	return StoreStats{Queries: len(times), P50: rank(50), P99: rank(99)}
}
