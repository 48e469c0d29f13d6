package timeline

import (
	"sort"

	"github.com/getdwell/dwell/recording"
)

// windows are what gaps leave of a recording.
func windows(start, end Time, gaps []Window) []Window {
	list := make([]Window, 0, len(gaps)+1)
	for _, g := range gaps {
		if g.From > start {
			list = append(list, Window{start, g.From})
		}
		start = max(start, g.To)
	}
	if start < end || len(list) == 0 {
		list = append(list, Window{start, end})
	}
	return list
}

// windowAt returns the index of the window that holds a time, or else of the next one; of
// the last one if there is none.
func windowAt(list []Window, at Time) int {
	i := sort.Search(len(list), func(k int) bool { return list[k].To >= at })
	return min(i, len(list)-1)
}

// window is the one that holds what was seen at a time.
func (f *facts) window(at Time) Window { return f.windows[windowAt(f.windows, at)] }

// WindowAt is the one that holds a time, or else the next.
func (t *Timeline) WindowAt(at Time) Window { return t.Windows[windowAt(t.Windows, at)] }

// SeenUntil is when a connection that was seen at a time was closed, or else until when its
// closing would have been seen: connections that are open when a window ends are not named
// after it.
func (t *Timeline) SeenUntil(cn *Conn, seen Time) Time {
	if cn.Closed != recording.NoTime {
		return cn.Closed
	}
	return t.WindowAt(seen).To
}

// InWindows is how much of a span was recorded.
func (t *Timeline) InWindows(from, to Time) (d Duration) {
	for i := windowAt(t.Windows, from); i < len(t.Windows) && t.Windows[i].From < to; i++ {
		w := t.Windows[i]
		d += max(0, min(to, w.To).Sub(max(from, w.From)))
	}
	return d
}
