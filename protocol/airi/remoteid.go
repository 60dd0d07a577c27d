package airi

import (
	"bytes"
	"strconv"
	"strings"
)

// remotePrefix starts the invokeIds of the host's calls of a session on a websocket.
func remotePrefix(session uint64) string {
	return idPrefix + strconv.FormatUint(session, 10) + "-"
}

// RemoteSession reads the session out of an invokeId that [Remote]'s driver gave to a call,
// "airi-host-SESSION-NUMBER".
func RemoteSession(invokeID string) (session uint64, ok bool) {
	rest, ours := strings.CutPrefix(invokeID, idPrefix)
	first, second, two := strings.Cut(rest, "-")
	session, err := strconv.ParseUint(first, 10, 64)
	n, err2 := strconv.ParseUint(second, 10, 64)
	if !ours || !two || err != nil || err2 != nil || n == 0 {
		return 0, false
	}
	return session, true
}

var idMark = []byte("-" + idPrefix)

// RemoteTarget says for which session's call a frame of Eventa's is an answer: its event's
// id ends in an invokeId of ours. It costs no memory for a frame in which there is none.
func RemoteTarget(record []byte) (session uint64, ok bool) {
	if !bytes.Contains(record, idMark) {
		return 0, false
	}
	id := eventIDOf(record)
	at := strings.LastIndex(id, string(idMark))
	if at < 0 {
		return 0, false
	}
	if _, kind := cutSuffix(id[:at], receiveSuffixes); kind == noStep {
		return 0, false
	}
	return RemoteSession(id[at+1:])
}

// RemoteCalled says what a frame of Eventa's calls; ok is false for one that is no part of a
// call.
func RemoteCalled(record []byte) (key string, ok bool) {
	key, kind := cutSuffix(eventIDOf(record), sendSuffixes)
	return key, kind != noStep
}

// eventIDOf is the id of the event in a frame of either outer form, "" for none.
func eventIDOf(record []byte) string {
	record = bytes.Trim(bytes.TrimPrefix(record, byteOrderMark), jsonSpace)
	if !valid(record) {
		return ""
	}
	var e envelope
	if readObject(record, e.outer) != nil {
		return ""
	}
	if e.inner == nil {
		id, _ := text(e.typ)
		return id
	}
	if readObject(e.inner, e.event) != nil {
		return ""
	}
	id, _ := text(e.innerIdent)
	return id
}
