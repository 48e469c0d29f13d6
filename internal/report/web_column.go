package report

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
)

// Column is a list of non-negative whole numbers, encoded with encoding/binary's Uvarint: a million of them take a
// few megabytes and no objects. In JSON it is base64 of the number of bytes per number, then the lowest byte of each
// number, then the next byte of each, and so on. Similar bytes are thus adjacent, so that the column compresses well.
type Column []byte

func (c *Column) add(v int64) { *c = binary.AppendUvarint(*c, uint64(max(0, v))) }

func (c Column) each(do func(uint64)) {
	for at := 0; at < len(c); {
		v, n := binary.Uvarint(c[at:])
		do(v)
		at += n
	}
}

// MarshalJSON implements json.Marshaler.
func (c Column) MarshalJSON() ([]byte, error) {
	count, wide := 0, 1
	c.each(func(v uint64) { count, wide = count+1, max(wide, (bits.Len64(v)+7)/8) })
	if count == 0 {
		return []byte(`""`), nil
	}
	out := make([]byte, 1+count*wide)
	out[0] = byte(wide)
	at := 1
	c.each(func(v uint64) {
		for b := range wide {
			out[at+b*count] = byte(v >> (8 * b))
		}
		at++
	})
	return json.Marshal(out)
}

// packed returns a model as JSON, compressed with gzip.
func packed(v any) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := json.NewEncoder(z).Encode(v); err != nil {
		return nil, fmt.Errorf("write the page's data: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("pack the page's data: %w", err)
	}
	return b.Bytes(), nil
}
