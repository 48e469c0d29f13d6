package hypotheses

import "github.com/getdwell/dwell/recording"

const storageHooks = allHooks + " blocks memory storage syncs"

// fault makes the thread sleep, without interruption, in a page fault of a file.
func (t *thread) fault(until recording.Time, file recording.FileID) {
	off := t.blocked(until, 10*us, "", "")
	off.State, off.WakerKind, off.File, off.Major, off.Fetched = recording.OffDisk, recording.WakerInterrupt, file, 1, 65536
}

// fsync makes the thread sync a file that it wrote to: it sleeps twice.
func (t *thread) fsync(took recording.Time, file recording.FileID) {
	for i, until := range []recording.Time{t.at + took - took/4, t.at + took - 10*us} {
		off := t.blocked(until, 10*us, "fsync", "")
		off.State, off.Arg, off.File = recording.OffDisk, 7, file
		if i == 0 {
			off.Out = 8192
		}
	}
}

// syncWhole makes the thread sync a file; it sleeps for a quarter of that time. The sync is recorded.
func (t *thread) syncWhole(took recording.Time, file recording.FileID) {
	since := t.at
	t.compute(took / 2)
	off := t.blocked(t.at+took/4, 10*us, "fsync", "")
	off.State, off.Arg, off.File = recording.OffDisk, 7, file
	t.compute(since + took - t.at)
	t.add(t.at, &recording.Sync{Thread: t.id, Since: since, Syscall: "fsync", File: file})
}

// onStorage adds what a device did each second, and the files.
func onStorage(s *scenario) *scenario {
	s.hooks = storageHooks
	s.add(us, &recording.File{ID: 1, Name: "orders.db", Size: 90 << 20})
	for at := 1_000_000 * us; at < s.end; at += 1_000_000 * us {
		s.add(at, &recording.BlockIO{Device: "vda", Operation: "write", From: at - 1_000_000*us + us, Count: 40, Bytes: 40 << 12,
			Queued: 400_000, Serviced: 12_000_000, P50: 262143, P99: 524287, Longest: 700_000})
	}
	return s
}

// storageStories are services whose files, address spaces and devices were recorded.
func storageStories() []story {
	python := func(each func(t *thread, i int)) func() *recording.Recording {
		return func() *recording.Recording {
			return done(onStorage(serve(newScenario(recording.RuntimePython), each)), 30)
		}
	}
	return []story{
		{"disk/file-supported", "Every fifth request syncs orders.db, which takes 30 ms; the others sync it in 400 us. The device is nearly idle.",
			python(func(t *thread, i int) {
				if i%5 == 4 {
					t.fsync(30_000*us, 1)
				} else {
					t.fsync(400*us, 1)
				}
			})},
		{"disk/journal-supported", "Every fifth request appends to a journal that is called orders.log and waits until that is on the disk, 30 ms: it is no log of what the service does.",
			func() *recording.Recording {
				s := serve(newScenario(recording.RuntimePython), func(t *thread, i int) {
					if t.compute(400 * us); i%5 == 4 {
						t.fsync(30_000*us, 2)
					}
				})
				s.add(us, &recording.File{ID: 2, Name: "orders.log", Size: 90 << 20})
				return done(onStorage(s), 30)
			}},
		{"disk/whole-lead", "Each request makes a call of 4 ms, and syncs orders.db, which takes 600 us: half of that and more the kernel computes.",
			python(func(t *thread, _ int) {
				keptCall(t, 4000*us)
				t.syncWhole(600*us, 1)
			})},
		{"disk/background-refuted", "Another thread of the service syncs orders.db all the time: no request waits for it.",
			func() *recording.Recording {
				s := serve(newScenario(recording.RuntimePython), func(t *thread, _ int) { keptCall(t, 2000*us) })
				w := s.worker(2, 1000*us)
				for w.at < s.end-20_000*us {
					w.compute(1000 * us)
					w.fsync(5000*us, 1)
				}
				return done(onStorage(s), 30)
			}},
		{"disk/elsewhere-undecided", "Requests wait 6 ms for others, it is not known whom; a thread that works for none, as far as is known, syncs orders.db meanwhile.",
			func() *recording.Recording {
				s := serve(newScenario(recording.RuntimePython), func(t *thread, _ int) { t.blocked(t.at+6000*us, 10*us, "futex", "") })
				w := s.worker(2, 1000*us)
				for w.at < s.end-20_000*us {
					w.compute(1000 * us)
					w.fsync(5000*us, 1)
				}
				return done(onStorage(s), 30)
			}},
		{"page-fault/file-supported", "Every request reads 64 KB of orders.db through a mapping, from storage: 4 ms.",
			python(func(t *thread, _ int) { t.fault(t.at+4000*us, 1) })},
		{"page-fault/remap-supported", "The file has grown: a thread maps it anew for 30 ms. Every fifth request wants a little memory meanwhile and waits in mmap for the address space, without interruption as for a disk.",
			func() *recording.Recording {
				s := newScenario(recording.RuntimeNative)
				grower := s.named(2, "grower")
				size := int64(64 << 20)
				serve(s, func(t *thread, i int) {
					if i%5 != 4 {
						return
					}
					since := t.at
					off := t.blocked(t.at+30_000*us, 10*us, "mmap", "")
					off.State = recording.OffDisk
					t.add(t.at, &recording.MemoryWait{Thread: t.id, Since: since, Syscall: "mmap", Write: 1, Owner: grower.id})
					size *= 2
					t.add(since-100*us, &recording.Mapping{Thread: grower.id, Syscall: "mmap", Bytes: size, File: 1})
				})
				return done(onStorage(s), 30)
			}},
		{"page-fault/mapped-refuted", "A file is mapped again and again as it grows, and 20 pages are touched in a request: nothing of it takes time.",
			python(func(t *thread, i int) {
				t.add(t.at, &recording.Mapping{Thread: t.id, Syscall: "mmap", Bytes: int64(i+1) << 24, File: 1})
				t.compute(100 * us)
				t.blocked(t.at+2000*us, 10*us, "recvfrom", "").Minor = 20
			})},
	}
}
