package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// fileRights are a user's rights to files, and no more. What is done with them is done on a thread of its
// own, which has them for good: also when the process has given up all others. A nil *fileRights stands for
// those that dwell itself has.
type fileRights struct {
	tasks chan func()
}

// rightsOf returns the rights of a user and of these groups. It needs root.
func rightsOf(uid, gid int, groups []int) (*fileRights, error) {
	r, err := rightsBy(func() error { return becomeForFiles(uid, gid, groups) })
	if err != nil {
		return nil, fmt.Errorf("take the rights of user %d: %w", uid, err)
	}
	return r, nil
}

// plainRights are those of the user that dwell runs as, without the capabilities that it may have.
func plainRights() (*fileRights, error) { return rightsBy(func() error { return nil }) }

func rightsBy(take func() error) (*fileRights, error) {
	r := &fileRights{tasks: make(chan func())}
	began := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine, and its rights with it
		err := take()
		began <- err
		if err != nil {
			return
		}
		for task := range r.tasks {
			task()
		}
	}()
	return r, <-began
}

// becomeForFiles changes what the calling thread is to files.
func becomeForFiles(uid, gid int, groups []int) error {
	if err := unix.Setgroups(groups); err != nil {
		return fmt.Errorf("groups: %w", err)
	}
	// The kernel does not say whether it did: asked for a second time, it tells what it did before.
	unix.SetfsgidRetGid(gid)
	if now, err := unix.SetfsgidRetGid(-1); err != nil || now != gid {
		return fmt.Errorf("group %d: %w", gid, unix.EPERM)
	}
	unix.SetfsuidRetUid(uid)
	if now, err := unix.SetfsuidRetUid(-1); err != nil || now != uid {
		return fmt.Errorf("user %d: %w", uid, unix.EPERM)
	}
	return nil
}

// withoutCapabilities does something without the capabilities of the calling thread. Before and after it has
// them: giving some up, for good, asks each of a process's threads to, and must succeed in all.
func withoutCapabilities(task func() error) error {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var held [2]unix.CapUserData
	if err := unix.Capget(&head, &held[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	without := held
	without[0].Effective, without[1].Effective = 0, 0
	if err := unix.Capset(&head, &without[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	return errors.Join(task(), unix.Capset(&head, &held[0]))
}

// do does something with these rights. What do calls must not start a program.
func (r *fileRights) do(task func() error) (err error) {
	if r == nil {
		return task()
	}
	done := make(chan struct{})
	r.tasks <- func() {
		defer close(done)
		err = withoutCapabilities(task)
	}
	<-done
	return err
}

// end gives them back; nothing may be done with them afterwards.
func (r *fileRights) end() {
	if r != nil {
		close(r.tasks)
	}
}

// rights are those of the user who called sudo, nil if nobody did.
func (i invoker) rights() (*fileRights, error) {
	if !i.sudo {
		return nil, nil
	}
	return rightsOf(i.uid, i.gid, append(groupsOf(i.uid), i.gid))
}

// trusts reports whether a user's symbolic links may lead where a file of dwell's is made: root's own, one's
// own, and those of the user who called sudo.
func (i invoker) trusts(uid uint32) bool {
	return uid == 0 || uid == uint32(os.Geteuid()) || i.sudo && uid == uint32(i.uid)
}
