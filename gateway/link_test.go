package gateway

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/transport"
)

// Who receives is told once of what there is, and again when there was nothing.
func TestLink_tellsThatThereIsSomething(t *testing.T) {
	l := newLink(New(Options{}), nil, "")
	l.push([]byte("early"))
	told := 0
	l.Notify(func() { told++ })
	require.Equal(t, 1, told, "there was something")
	l.push([]byte("second"))
	require.Equal(t, 1, told, "it knows")
	for _, want := range []string{"early", "second"} {
		record, err := l.TryRecv()
		require.NoError(t, err)
		require.Equal(t, want, string(record))
	}
	_, err := l.TryRecv()
	require.ErrorIs(t, err, transport.ErrNotYet)
	l.push([]byte("third"))
	l.end(leaving("it has left"))
	require.Equal(t, 2, told)
	record, err := l.TryRecv()
	require.NoError(t, err)
	require.Equal(t, "third", string(record), "what waits is received before the end")
	for range 2 {
		_, err = l.TryRecv()
		require.EqualError(t, err, "it has left")
	}
	l.push([]byte("late"))
	require.Equal(t, 2, told)

	ended := newLink(New(Options{}), nil, "")
	ended.Notify(func() { told++ })
	ended.end(leaving("at once"))
	require.Equal(t, 3, told)
}

// Recv waits.
func TestLink_receives(t *testing.T) {
	l := newLink(New(Options{}), nil, "")
	got := make(chan string)
	go func() {
		for {
			record, err := l.Recv()
			if err != nil {
				got <- err.Error()
				return
			}
			got <- string(record)
		}
	}()
	for _, record := range []string{"a", "b"} {
		l.push([]byte(record))
		require.Equal(t, record, <-got)
	}
	l.end(leaving("it has left"))
	require.Equal(t, "it has left", <-got)
}

// A link that is full tells who pushed, and whoever waits for room.
func TestLink_isBehind(t *testing.T) {
	l := newLink(New(Options{LinkRecords: 2}), nil, "")
	l.push([]byte("a"))
	require.Nil(t, l.behind())
	l.push([]byte("b"))
	room := l.behind()
	require.NotNil(t, room)
	_, err := l.TryRecv()
	require.NoError(t, err)
	<-room
	require.Nil(t, l.behind())
}

// Of the announcements that wait only the newest is kept, whoever makes them.
func TestLink_keepsTheNewestAnnouncement(t *testing.T) {
	l := newLink(New(Options{LinkRecords: 4}), nil, "")
	for _, record := range []string{"announced\n1", "swapped\n", "announced\n2", "life x\n{}", "announced\n3"} {
		l.push([]byte(record))
	}
	require.Nil(t, l.behind())
	var all []string
	for range 3 {
		record, err := l.TryRecv()
		require.NoError(t, err)
		all = append(all, string(record))
	}
	require.Equal(t, []string{"swapped\n", "life x\n{}", "announced\n3"}, all)
	require.Zero(t, l.bytes)
}
