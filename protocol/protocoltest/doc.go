// Package protocoltest is what the tests of several dialects need: recorded conversations,
// the payloads that every codec has to leave alone, and a wire that joins both ends of a
// dialect by the lines that they write.
//
//	for _, lines := range protocoltest.Conversations(t, "testdata/01-hello.ndjson") {
//		for _, l := range lines {
//			m := protocoltest.Decode(t, codec{}, l.Record())
//			…
//		}
//	}
//
// What a dialect's frames mean is tested in the dialect.
package protocoltest
