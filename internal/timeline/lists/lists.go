// Package lists holds what is kept of very many things in little memory, and sorts it in linear
// time: by time (ByTime, Sorted), by an id (Index), one list per thing (Sized, Grouped), equal
// values once (Interned). It knows nothing of what the things are.
package lists
