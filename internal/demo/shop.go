package demo

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// storeName is the store's name in its certificate; clients reach it by address.
const storeName = "store.demo"

// Shop is the service under observation.
type Shop struct {
	store  string // base URL of the store
	client *http.Client
}

// NewShop returns a shop that reads from the store at the base URL store, whose
// certificate is one of roots.
func NewShop(store string, roots *x509.CertPool, mode Mode) *Shop {
	return &Shop{store: store, client: newClient(roots, mode)}
}

// newClient is the whole difference between the two modes. Switching keep-alive off
// is what a "connection leak" is often cured with; each call then pays a TCP connect
// and a TLS handshake.
func newClient(roots *x509.CertPool, mode Mode) *http.Client {
	return &http.Client{
		Timeout: 30 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig:     &tls.Config{RootCAs: roots, ServerName: storeName},
			DisableKeepAlives:   mode == Bad,
			MaxIdleConnsPerHost: 64,
		},
	}
}

// Handler serves GET /products/{id}: two reads from the store, one after the other,
// because what is in stock is asked of the product that was found.
func (s *Shop) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /products/{id}", s.product)
	return mux
}

func (s *Shop) product(w http.ResponseWriter, r *http.Request) {
	var product struct {
		ID    int    `json:"id"`
		Name  string `json:"name"`
		Price int    `json:"price"`
	}
	var stock struct {
		Left int `json:"left"`
	}
	if err := s.get(r, "/products/"+r.PathValue("id"), &product); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	if err := s.get(r, fmt.Sprintf("/stock/%d", product.ID), &stock); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"name": product.Name, "price": product.Price, "left": stock.Left})
}

func (s *Shop) get(r *http.Request, path string, into any) error {
	req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, s.store+path, nil)
	if err != nil {
		return err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return fmt.Errorf("ask the store: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("read the store's answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the store answered %s", resp.Status)
	}
	return json.Unmarshal(body, into)
}
