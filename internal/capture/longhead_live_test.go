//go:build linux && (amd64 || arm64)

package capture

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// A signature and a session token precede the name of the operation.
func TestLongHead(t *testing.T) {
	const port = 21042
	server := start(t, port, python(t), "testdata/server.py", "threaded", fmt.Sprint(port))
	l := record(t, server.Process.Pid, Options{})
	c, err := net.Dial("tcp", localhost(port))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: db.example.com\r\nX-Amz-Security-Token: %s\r\nX-Amz-Target: DynamoDB_20120810.GetItem\r\n\r\n",
		strings.Repeat("s", 1500))
	if _, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
		t.Fatal(err)
	}
	heads := all[*recording.HTTPRequest](l.stop())
	if len(heads) != 1 || heads[0].Operation != "DynamoDB_20120810.GetItem" || heads[0].Head < 1500 {
		t.Errorf("heads: %+v", heads)
	}
}
