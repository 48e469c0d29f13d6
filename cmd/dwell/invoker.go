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

// whoInvoked reads the user who called sudo from the environment.
func whoInvoked(getenv func(string) string) invoker {
	uid, err := strconv.Atoi(getenv("SUDO_UID"))
	gid, err2 := strconv.Atoi(getenv("SUDO_GID"))
	if err != nil || err2 != nil || uid == 0 || os.Geteuid() != 0 {
		return invoker{}
	}
	return invoker{sudo: true, uid: uid, gid: gid, name: cmp.Or(getenv("SUDO_USER"), "user "+strconv.Itoa(uid))}
}

// groupsOf returns the groups of a user; none for a user without an account.
func groupsOf(uid int) (groups []int) {
	account, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return nil
	}
	ids, err := account.GroupIds()
	if err != nil {
		return nil // then with fewer rights
	}
	for _, id := range ids {
		if n, err := strconv.Atoi(id); err == nil {
			groups = append(groups, n)
		}
	}
	return groups
}
