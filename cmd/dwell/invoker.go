package main

import (
	"cmp"
	"os"
	"os/user"
	"strconv"
)

// invoker is the user on whose behalf dwell runs as root.
type invoker struct {
	sudo     bool
	uid, gid int
	name     string
}

// whoInvoked reads what sudo says of its caller.
func whoInvoked(getenv func(string) string) invoker {
	uid, err := strconv.Atoi(getenv("SUDO_UID"))
	gid, err2 := strconv.Atoi(getenv("SUDO_GID"))
	if err != nil || err2 != nil || uid == 0 || os.Geteuid() != 0 {
		return invoker{}
	}
	return invoker{sudo: true, uid: uid, gid: gid, name: cmp.Or(getenv("SUDO_USER"), "user "+strconv.Itoa(uid))}
}

// groupsOf are the groups of a user; none of one without an account.
func groupsOf(uid int) (groups []int) {
	account, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return nil
	}
	ids, err := account.GroupIds()
	if err != nil {
		return nil // fewer rights
	}
	for _, id := range ids {
		if n, err := strconv.Atoi(id); err == nil {
			groups = append(groups, n)
		}
	}
	return groups
}
