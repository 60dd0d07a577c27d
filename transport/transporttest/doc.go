// Package transporttest answers one question: does a connection keep the contract
// of [transport.Conn]?
//
// Every implementation runs the one suite:
//
//	func TestConn(t *testing.T) {
//		transporttest.Run(t, func(t *testing.T) (a, b transport.Conn) {
//			return memory.Pipe(memory.Options{MaxRecord: transporttest.MaxRecord})
//		})
//	}
//
// The suite states what a contract in words leaves open: which errors are equal
// to what, what survives a Close, and what a slow peer costs. What is peculiar to
// one way (an exit code, a close frame) is tested beside it.
package transporttest
