package protocol

import (
	"bytes"

	"golang.org/x/crypto/cryptobyte"

	"github.com/getdwell/dwell/recording"
)

// Handshake messages and extensions of TLS, by their numbers in RFC 5246, RFC 6066 and RFC 8446.
const (
	clientHello = 1
	serverHello = 2

	extServerName        = 0
	extPreSharedKey      = 41
	extSupportedVersions = 43
	extKeyShare          = 51

	tls13 = 0x0304

	// Sizes of extensions of a ServerHello, including type and length.
	sizePreSharedKey      = 6
	sizeSupportedVersions = 6
)

// helloRetry is the beginning of the random value of a ServerHello that only asks for another ClientHello.
const helloRetry = "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"

func isHello(messageType byte) bool {
	return messageType == clientHello || messageType == serverHello
}

// hello is the part that both hellos begin with.
type hello struct {
	version uint16
	random  []byte
	session []byte
	rest    cryptobyte.String
}

func parseHello(b []byte) (h hello, ok bool) {
	h.rest = cryptobyte.String(b)
	var session cryptobyte.String
	ok = h.rest.Skip(4) && h.rest.ReadUint16(&h.version) && h.rest.ReadBytes(&h.random, 32) &&
		h.rest.ReadUint8LengthPrefixed(&session)
	h.session = session
	return h, ok
}

// clientHello takes the server name from a ClientHello; b is its captured beginning.
func (t *tlsConn) clientHello(f *recording.TLS, b []byte) {
	f.Record = recording.TLSClientHello
	h, ok := parseHello(b)
	if !ok {
		return
	}
	t.session = append([]byte{}, h.session...)
	var skip cryptobyte.String
	if !h.rest.ReadUint16LengthPrefixed(&skip) || !h.rest.ReadUint8LengthPrefixed(&skip) {
		return
	}
	extensions(h.rest, func(kind uint16, body cryptobyte.String) {
		var names, name cryptobyte.String
		var form uint8
		if kind == extServerName && body.ReadUint16LengthPrefixed(&names) && names.ReadUint8(&form) &&
			form == 0 && names.ReadUint16LengthPrefixed(&name) {
			f.SNI = hostName(string(name) + ":")
		}
	})
}

// serverHello takes version and resumption from a ServerHello; b is its captured beginning.
func (t *tlsConn) serverHello(f *recording.TLS, b []byte) {
	h, ok := parseHello(b)
	if !ok {
		f.Record = recording.TLSServerHello
		return
	}
	if bytes.HasPrefix(h.random, []byte(helloRetry)) {
		return // a handshake record like others
	}
	f.Record = recording.TLSServerHello
	if !h.rest.Skip(3) { // cipher suite, compression
		return
	}
	if length := int(b[1])<<16 | int(b[2])<<8 | int(b[3]); h.rest.Empty() && len(b) < 4+length {
		return
	}
	var version uint16
	var keyShare, preShared bool
	cut := extensions(h.rest, func(kind uint16, body cryptobyte.String) {
		switch kind {
		case extSupportedVersions:
			body.ReadUint16(&version)
		case extKeyShare:
			keyShare = true
		case extPreSharedKey:
			preShared = true
		}
	})
	switch {
	case version == tls13 || keyShare:
		// A ServerHello of TLS 1.3 contains only these three extensions, so the size of the part that was cut off
		// identifies the missing ones.
		if version == 0 {
			cut -= sizeSupportedVersions
		}
		f.Version, f.Resumed = tls13, recording.Unknown
		if preShared || cut == sizePreSharedKey {
			f.Resumed = recording.Yes
		} else if cut == 0 {
			f.Resumed = recording.No
		}
	case cut == 0:
		f.Version = int64(h.version)
		f.Resumed = t.echoed(h.session)
	}
}

// echoed reports whether the server accepted the session that the client offered, which is how TLS up to 1.2 resumes.
func (t *tlsConn) echoed(session []byte) recording.Tristate {
	switch {
	case t.session == nil:
		return recording.Unknown
	case len(session) > 0 && bytes.Equal(session, t.session):
		return recording.Yes
	}
	return recording.No
}

// extensions passes the extensions of a hello to show; a body that was not captured is empty. It returns the length
// of those of which nothing was captured, or -1 if even that is not known.
func extensions(b cryptobyte.String, show func(kind uint16, body cryptobyte.String)) (cut int) {
	var total uint16
	if b.Empty() {
		return 0 // extensions are optional in a hello
	}
	if !b.ReadUint16(&total) {
		return -1
	}
	left := int(total)
	b = b[:min(len(b), left)]
	for !b.Empty() {
		var kind, length uint16
		if !b.ReadUint16(&kind) || !b.ReadUint16(&length) {
			return -1
		}
		left -= 4 + int(length)
		body := b[:min(len(b), int(length))]
		b = b[len(body):]
		if len(body) < int(length) {
			body = nil
		}
		show(kind, body)
	}
	return left
}
