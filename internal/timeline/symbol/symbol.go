// Package symbol determines from the symbol of a frame (function, file, module) whose code it is and what to call it.
// The code may be the service's own (Application), a package that it brought along (Brought), the runtime's, or an
// implementation of locks; KindOf returns all of these at once. Only names count: to add a library, or a runtime's
// naming scheme, add a row to one of the tables.
package symbol
