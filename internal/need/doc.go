// Package need answers one question: has this machine what a test needs?
//
// What a test needs it installs by itself. What it cannot install (Node.js, the network,
// a permission) it asks for here, and is skipped where that is missing, saying so; where
// AIRI_HOST_NO_SKIP is set, as .ci/run does, it fails instead. Nothing else skips a test.
// Where it needs to be faster than a limit, Time gives it a longer one.
package need
