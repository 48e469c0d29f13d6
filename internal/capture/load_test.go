package capture

import (
	"errors"
	"testing"

	"github.com/cilium/ebpf"
)

func TestLoad(t *testing.T) {
	spec, err := loadProbes()
	if err != nil {
		t.Fatal(err)
	}
	c, err := ebpf.NewCollection(spec)
	if err != nil {
		var ve *ebpf.VerifierError
		if errors.As(err, &ve) {
			l := ve.Log
			if len(l) > 40 {
				l = l[len(l)-40:]
			}
			for _, x := range l {
				t.Log(x)
			}
		}
		t.Fatal(err)
	}
	c.Close()
}
