package protocol

import "testing"

// The part of a file's name that shows its kind is kept; parts that may be identifiers are not.
func TestFileName(t *testing.T) {
	for name, want := range map[string]string{
		"slasher.db":          "slasher.db",
		"access.log":          "access.log",
		"access.log.1":        "access.log.{}",
		"000123.sst":          "{}.sst",
		"MANIFEST-000004":     "{}",
		"wal":                 "wal",
		"jane.doe@mail.test":  "jane.{}.test",
		"4f2a9c.json":         "{}.json",
		"state.db-wal":        "state.db-wal",
		"backup.tar.gz":       "backup.tar.gz",
		"users.sqlite3":       "users.sqlite3",
		"report.a1b2c3d4e5f6": "report.{}",
		"":                    "",
		".bashrc":             ".bashrc",
	} {
		if got := FileName(name); got != want {
			t.Errorf("FileName(%q) is %q, want %q", name, got, want)
		}
	}
}

// A Unix socket is recognised by the words of its path.
func TestSocketName(t *testing.T) {
	for name, want := range map[string]string{
		"/var/run/datadog/dsd.socket":       "/var/run/datadog/dsd.socket",
		"/dev/log":                          "/dev/log",
		"/run/systemd/journal/socket":       "/run/systemd/journal/socket",
		"/var/run/postgresql/.s.PGSQL.5432": "/var/run/postgresql/.s.PGSQL.5432",
		"/tmp/.s.PGSQL.token":               "/tmp/.{}.{}.token",
		"/home/Jane.Doe/8f3a1c/app.sock":    "/home/{}.{}/{}/app.sock",
		"@":                                 "@",
		"@prices":                           "@prices",
		"@session-9F2C41":                   "@{}",
	} {
		if got := SocketName(name); got != want {
			t.Errorf("SocketName(%q) is %q, want %q", name, got, want)
		}
	}
}
