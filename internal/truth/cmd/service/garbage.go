package main

import (
	"encoding/json"
	"log"
	"sync"
	"time"
)

// document is what garbage parses: 200 objects.
var document = func() []byte {
	list := make([]map[string]int, 200)
	for i := range list {
		list[i] = map[string]int{"id": i, "price": 7 * i, "stock": i % 3}
	}
	text, err := json.Marshal(list)
	if err != nil {
		log.Fatal(err)
	}
	return text
}()

// counter is the state that all requests write to.
type counter struct {
	sync.Mutex
	until time.Time
}

// garbage makes garbage for the collector, and holds for a moment a lock that all requests want.
func (c *counter) garbage() {
	var list []map[string]int
	if err := json.Unmarshal(document, &list); err != nil {
		log.Fatal(err)
	}
	c.Lock()
	defer c.Unlock()
	c.until = time.Now().Add(50 * time.Microsecond)
	for time.Now().Before(c.until) {
	}
}
