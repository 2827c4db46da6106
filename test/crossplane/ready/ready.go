// Package ready has nothing: its module pins the version of the function auto-ready, which
// tests start.
package ready
