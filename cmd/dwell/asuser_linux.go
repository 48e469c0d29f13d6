package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// fileRights are a user's rights to files, and nothing else. Tasks run on a thread of their own that keeps these
// rights, even when the process has given up all others. A nil *fileRights stands for dwell's own rights.
type fileRights struct {
	tasks chan func()
}

// rightsOf returns the rights of a user with these groups. It needs root.
func rightsOf(uid, gid int, groups []int) (*fileRights, error) {
	r, err := rightsBy(func() error { return becomeForFiles(uid, gid, groups) })
	if err != nil {
		return nil, fmt.Errorf("take the rights of user %d: %w", uid, err)
	}
	return r, nil
}

// plainRights are the rights of the user that dwell runs as, without any capabilities.
func plainRights() (*fileRights, error) { return rightsBy(func() error { return nil }) }

func rightsBy(take func() error) (*fileRights, error) {
	r := &fileRights{tasks: make(chan func())}
	began := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine, and its rights with it
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

// becomeForFiles changes the user and groups that the calling thread has for files.
func becomeForFiles(uid, gid int, groups []int) error {
	if err := unix.Setgroups(groups); err != nil {
		return fmt.Errorf("groups: %w", err)
	}
	// The kernel does not report success; a second call returns the current value.
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

// withoutCapabilities runs a task without the capabilities of the calling thread and then restores them. It does not
// drop them for good, because that has to be done on each thread of the process and must succeed on all.
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

// do runs a task with these rights. The task must not start a program.
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

// end gives the rights back; do must not be called afterwards.
func (r *fileRights) end() {
	if r != nil {
		close(r.tasks)
	}
}

// rights are those of the user who called sudo, or nil without sudo.
func (i invoker) rights() (*fileRights, error) {
	if !i.sudo {
		return nil, nil
	}
	return rightsOf(i.uid, i.gid, append(groupsOf(i.uid), i.gid))
}

// trusts reports whether dwell may follow a user's symbolic links to create a file: those of root, of the current
// user, and of the user who called sudo.
func (i invoker) trusts(uid uint32) bool {
	return uid == 0 || uid == uint32(os.Geteuid()) || i.sudo && uid == uint32(i.uid)
}
