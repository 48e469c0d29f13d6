package hypotheses

import (
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/recording"
)

// randomSources returns, by type of frame, parts of the names of functions that draw random numbers for secrets. JVM
// names have dots between packages.
func randomSources(of recording.FrameType) []string {
	switch of {
	case recording.FrameJVM:
		return []string{
			"java.security.SecureRandom.next", "java.security.SecureRandom.generateSeed", "java.security.SecureRandom.getSeed", "java.security.SecureRandom.setSeed",
			"sun.security.provider.NativePRNG", "sun.security.provider.SeedGenerator", "sun.security.provider.SecureRandom.engine",
			"sun.security.provider.AbstractDrbg", "java.util.UUID.randomUUID",
		}
	case recording.FrameGo:
		return []string{"crypto/rand.", "internal/sysrand.", "internal/syscall/unix.GetRandom", "crypto/internal/sysrand."}
	case recording.FrameRuby:
		return []string{"SecureRandom", "Random.urandom", "Random::Formatter"}
	case recording.FramePython:
		return []string{"SystemRandom.", "uuid4", "token_bytes", "token_hex", "token_urlsafe"}
	case recording.FrameNative:
		return []string{"getrandom", "getentropy", "arc4random", "RAND_bytes", "RAND_priv_bytes", "os_urandom", "_PyOS_URandom"}
	}
	return nil
}

// entropyStacks reports for each stack whether it draws random numbers.
func entropyStacks(c *diagnosis.Case) []bool {
	frames := make([]bool, len(c.Frames))
	for i := range c.Frames {
		frames[i] = randomSource(&c.Frames[i])
	}
	out := make([]bool, len(c.Stacks))
	for i := range c.Stacks { // a caller comes before what it calls
		s := &c.Stacks[i]
		out[i] = frames[s.Frame] || s.Caller >= 0 && out[s.Caller]
	}
	return out
}

func randomSource(f *recording.Frame) bool {
	name := f.Function
	if f.Type == recording.FrameJVM {
		name = strings.ReplaceAll(name, "/", ".")
	}
	for _, part := range randomSources(f.Type) {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
