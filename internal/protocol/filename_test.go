package protocol

import "testing"

// Of a file's name what says its kind is kept, and what may be an identifier is not.
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
