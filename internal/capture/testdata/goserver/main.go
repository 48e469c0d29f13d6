// Command goserver serves HTTP on the given port, and for each request sends one to itself over a new connection.
package main

import (
	"io"
	"net/http"
	"os"
	"time"
)

func main() {
	address := "127.0.0.1:" + os.Args[1]
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	http.HandleFunc("/inner", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "inner") })
	http.HandleFunc("/busy", func(http.ResponseWriter, *http.Request) {
		for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {
		}
	})
	http.HandleFunc("/outer", func(w http.ResponseWriter, _ *http.Request) {
		if resp, err := client.Get("http://" + address + "/inner"); err == nil {
			io.Copy(w, resp.Body)
			resp.Body.Close()
		}
	})
	panic(http.ListenAndServe(address, nil))
}
