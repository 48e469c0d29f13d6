package main

// poolSize is how many goroutines make calls for requests whose flow is pool.
const poolSize = 4

// task is a call to be made; done is told when it was.
type task struct {
	caller
	done chan struct{}
}

// answer does tasks until the end.
func answer(tasks <-chan task, quit <-chan struct{}) {
	for {
		select {
		case x := <-tasks:
			x.ask(nil)
			select {
			case x.done <- struct{}{}:
			case <-quit:
			}
		case <-quit:
			return
		}
	}
}

// pool has so many calls made, one after the other.
func (c caller) pool(calls int) {
	for range calls {
		x := task{c, make(chan struct{})}
		select {
		case c.tasks <- x:
		case <-c.gone:
			return
		}
		select {
		case <-x.done:
		case <-c.gone:
		}
	}
}
