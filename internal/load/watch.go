package load

import (
	"context"
	"net"
)

// watch closes conn when ctx ends, which ends a read that waits on it. The function
// it returns stops watching.
func watch(ctx context.Context, conn net.Conn) func() bool {
	return context.AfterFunc(ctx, func() { conn.Close() })
}
