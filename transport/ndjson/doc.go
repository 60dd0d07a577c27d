// Package ndjson answers one question: where does one record end and the next
// begin, when records travel as lines?
//
// It frames bytes and never looks inside a record. [Reader] cuts an [io.Reader]
// into lines; [Writer] puts records, a line each, on an [io.Writer] that may be
// slow, and never makes its caller wait:
//
//	r := ndjson.NewReader(os.Stdin, ndjson.ReaderOptions{})
//	w := ndjson.NewWriter(os.Stdout, ndjson.WriterOptions{})
//	for {
//		line, err := r.Read()
//		if err != nil {
//			break // io.EOF: the last line was whole
//		}
//		if err := w.Send(line); err != nil {
//			break
//		}
//	}
//	w.Close()
//	err := w.Flush(ctx) // before the program exits
//
// # What a line is
//
// A line ends with the byte 0x0A and nothing else. One 0x0D right before it is
// taken off, so that a peer on Windows is understood. U+2028, U+2029, U+0085,
// vertical tab and form feed are ordinary bytes, although some runtimes (the
// readline of Node, the str.splitlines of Python) take them for line ends. Blank
// lines are returned, and a byte order mark is left where it is: whether they
// are welcome is for the dialect to say.
//
// So a record may hold any byte but 0x0A, which [Writer.Send] refuses, and a 0x0D
// at its very end does not survive the way.
//
// # The short way
//
// A record that finds nothing queued is written by its sender at once, if the
// destination can be asked to take only what fits ([TryWriter]). What does not
// fit, and all that comes behind it, is queued within limits, and a goroutine
// that lives only as long as there is something queued writes it in large pieces.
// A lone record thus costs no change of goroutine, and a burst costs few system
// calls.
//
// # Limits
//
// A record longer than MaxRecord is refused while it still arrives: the reader
// ends with a [*transport.TooLongError] at the first byte above the limit. The
// writer's queue is bounded in records and in bytes; a record that finds it full
// is refused with [transport.ErrFull], and the writer goes on.
package ndjson
