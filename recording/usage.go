package recording

// Usage is what a thread used since it last came back to a CPU.
type Usage struct {
	Minor   int64 // page faults, counted when each was over
	Major   int64 // the part of them that read from storage
	Fetched int64 // bytes it read from storage, not from the page cache
	In      int64 // bytes that its reads returned, from files, sockets and pipes alike
	Out     int64 // bytes that its writes transferred
}
