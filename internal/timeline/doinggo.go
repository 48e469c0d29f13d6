package timeline

import (
	"cmp"
	"slices"
	"sort"
)

// splitAsleep appends a span in which nothing is known of a goroutine, cut in two kinds of parts: those in which it was
// certainly asleep, because its whole process was, and the others.
func (t *Timeline) splitAsleep(s StrandID, a Activity, list []Activity) []Activity {
	awake, ok := t.Goroutines.awake[t.Strands[s].Process]
	if !ok {
		return append(list, a)
	}
	part := func(from, to Time, asleep bool) {
		if from < to {
			p := a
			p.From, p.To, p.Asleep = from, to, asleep
			list = append(list, p)
		}
	}
	at := a.From
	for i := sort.Search(len(awake), func(k int) bool { return awake[k].To > at }); i < len(awake) && awake[i].From < a.To; i++ {
		part(at, awake[i].From, true)
		at = min(awake[i].To, a.To)
		part(max(a.From, awake[i].From), at, false)
	}
	part(at, a.To, true)
	return list
}

// doingGo is Doing for a goroutine: it lists its waits, what its threads did while it was on them, and its calls. The
// rest is unknown.
func (t *Timeline) doingGo(s StrandID, from, to Time) []Activity {
	var list []Activity
	at := from
	waits := t.Strands[s].Waits
	i, _ := slices.BinarySearchFunc(waits, from+1, func(w WaitID, at Time) int { return cmp.Compare(t.Waits[w].Back, at) })
	for ; i < len(waits) && t.Waits[waits[i]].From < to; i++ {
		w := &t.Waits[waits[i]]
		list = t.awakeGo(s, at, min(w.From, to), list)
		a := Activity{From: max(w.From, at), To: min(w.To, to), Cause: w.Cause, Phase: PhaseHandler, Call: None, Wait: waits[i], Stack: w.Stack}
		if a.From < a.To {
			list = append(list, a)
		}
		ready := Activity{From: max(w.To, at), To: min(w.Back, to), Cause: CauseRunnable, Phase: PhaseHandler, Call: None, Wait: None, Stack: None}
		if ready.From < ready.To {
			list = append(list, ready)
		}
		at = max(at, min(w.Back, to))
	}
	return t.awakeGo(s, at, to, list)
}

// awakeGo appends what a goroutine did between two waits.
func (t *Timeline) awakeGo(s StrandID, from, to Time, list []Activity) []Activity {
	at, all := from, t.Goroutines.stintsOf(t, s)
	later := StintsAfter(all, from)
	n := len(all) - len(later)
	ready := n > 0 && all[n-1].Yields
	for _, u := range later {
		if u.From >= to {
			break
		}
		list = betweenGo(t, s, gapGo(at, u.From, ready), list)
		a, b := max(u.From, at), min(u.To, to)
		for _, x := range t.Doing(u.Thread, a, b) {
			if x.Cause == CauseUnknown || x.Wait != None && t.Waits[x.Wait].Rule == RuleIdle {
				list = t.absentGo(s, x.From, x.To, list) // the thread was idle: the goroutine had left it
				continue
			}
			list = append(list, x)
		}
		at, ready = max(at, b), u.Yields
	}
	return betweenGo(t, s, gapGo(at, to, ready), list)
}

// betweenGo tells what a goroutine did in such a span: who had to let others run waits for its turn.
func betweenGo(t *Timeline, s StrandID, gap Activity, list []Activity) []Activity {
	switch {
	case gap.From >= gap.To:
		return list
	case gap.Cause == CauseRunnable:
		return append(list, gap)
	}
	return t.absentGo(s, gap.From, gap.To, list)
}

// gapGo is a span in which a goroutine was on no thread; it may have been ready to run.
func gapGo(from, to Time, ready bool) Activity {
	a := Activity{From: from, To: to, Phase: PhaseHandler, Call: None, Wait: None, Stack: None}
	if ready {
		a.Cause = CauseRunnable
	}
	return a
}

// absentGo appends what a goroutine did while it was on no thread and in no known wait: it waited for its call, if one
// was open.
func (t *Timeline) absentGo(s StrandID, from, to Time, list []Activity) []Activity {
	calls := t.Goroutines.Calls[s]
	stack := StackID(None) // it releases something next from this stack: what it does until then is called from there
	if x, ok := t.LetsGo(s, to); ok {
		stack = x.Stack
	}
	i := sort.Search(len(calls), func(k int) bool { return t.Calls[calls[k]].Start > from })
	for i > 0 && t.Calls[calls[i-1]].End > from {
		i--
	}
	for ; from < to; i++ {
		a := Activity{From: from, To: to, Phase: PhaseHandler, Call: None, Wait: None, Stack: stack, Later: stack != None}
		if i < len(calls) && t.Calls[calls[i]].Start < to {
			if a.To = max(from, t.Calls[calls[i]].Start); a.From < a.To {
				list = t.splitAsleep(s, a, list)
			}
			c := &t.Calls[calls[i]]
			for at, end := a.To, min(c.End, to); at < end; {
				b := Activity{From: at, Call: calls[i], Cause: CauseRemote, Wait: None, Stack: stack, Later: stack != None}
				b.Phase, b.To = c.phaseAt(at)
				b.To = min(max(b.To, at+1), end)
				list = append(list, b)
				at = b.To
			}
			from = max(a.To, min(c.End, to))
			continue
		}
		return t.splitAsleep(s, a, list)
	}
	return list
}

// LetsGo returns when a goroutine next releases a lock or hands something over, and the stack from which it does so;
// false if it never does.
func (t *Timeline) LetsGo(s StrandID, from Time) (StackAt, bool) {
	list := t.Goroutines.LetGo[s]
	i, _ := slices.BinarySearchFunc(list, from, func(x StackAt, at Time) int { return cmp.Compare(x.Time, at) })
	if i == len(list) {
		return StackAt{}, false
	}
	return list[i], true
}
