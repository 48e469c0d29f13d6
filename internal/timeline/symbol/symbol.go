// Package symbol tells from the symbol of a frame (function, file, module) whose code it is and
// what to call it: the service's own (Application), a package's that it brought along (Brought),
// the runtime's, or what implements locks (KindOf says all of it at once). It looks at names
// alone; adding a library or a runtime's way to name things is a row in one of its tables.
package symbol
