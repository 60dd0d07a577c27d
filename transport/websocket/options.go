package websocket

import "time"

// What Options mean when they say nothing.
const (
	DefaultMaxRecord      = 8 << 20
	DefaultMaxEarlyRecord = 64 << 10
	DefaultQueueRecords   = 4096
	DefaultQueueBytes     = 4 << 20
	DefaultPingEvery      = 30 * time.Second
	DefaultSilence        = 75 * time.Second
	DefaultMessageTime    = 30 * time.Second
	DefaultWriteTime      = 20 * time.Second
	DefaultAuthTime       = 10 * time.Second
	DefaultCloseTime      = time.Second
)

// SlowPeer says what becomes of a peer whose queue is full.
type SlowPeer int

const (
	// CloseSlow ends the connection with code 1008; Recv then returns [ErrSlow].
	CloseSlow SlowPeer = iota
	// RefuseSlow refuses the record, counts it, and goes on.
	RefuseSlow
)

// Options bounds one connection. The zero value works; for every number zero or less
// means the default.
type Options struct {
	// MaxRecord is the largest record in bytes, both ways; a larger one that comes ends
	// the connection with code 1009.
	MaxRecord int
	// MaxEarlyRecord is MaxRecord for what comes before the peer is authenticated.
	MaxEarlyRecord int
	// QueueRecords and QueueBytes bound what waits for the peer. A record is taken
	// as long as fewer bytes wait, so that the most is QueueBytes and one record.
	QueueRecords, QueueBytes int
	// SlowPeer says what happens when that is full.
	SlowPeer SlowPeer
	// PingEvery is how long a peer may say nothing, and then again, before it is pinged.
	PingEvery time.Duration
	// Silence is how long it may say nothing, not even a pong, before it is closed. It
	// does not count while nobody receives.
	Silence time.Duration
	// MessageTime is how long a message may take from its first frame to its last byte.
	MessageTime time.Duration
	// WriteTime is how long the peer may take 64 KiB to read.
	WriteTime time.Duration
	// AuthTime is the time until [Conn.Authenticated]; a connection that [Dial] made
	// needs none.
	AuthTime time.Duration
	// CloseTime bounds the writing of a close frame and the wait for the peer's end.
	CloseTime time.Duration
	// PassControl hands the texts "ping" and "pong" on as records.
	PassControl bool
}

// resolved puts the defaults in the place of unset limits.
func (o Options) resolved() Options {
	number(&o.MaxRecord, DefaultMaxRecord)
	number(&o.MaxEarlyRecord, DefaultMaxEarlyRecord)
	o.MaxEarlyRecord = min(o.MaxEarlyRecord, o.MaxRecord)
	number(&o.QueueRecords, DefaultQueueRecords)
	number(&o.QueueBytes, DefaultQueueBytes)
	number(&o.PingEvery, DefaultPingEvery)
	number(&o.Silence, DefaultSilence)
	number(&o.MessageTime, DefaultMessageTime)
	number(&o.WriteTime, DefaultWriteTime)
	number(&o.AuthTime, DefaultAuthTime)
	number(&o.CloseTime, DefaultCloseTime)
	return o
}

func number[N int | int64 | time.Duration](n *N, byDefault N) {
	if *n <= 0 {
		*n = byDefault
	}
}
