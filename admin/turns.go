package admin

import (
	"time"

	"github.com/airi-host/airi-host/actors"
)

// What happens is handed to followers in turns, to a few at a time, with rests: however
// many follow, what that takes is a small part of a processor, and callers find no crowd
// before them. What comes too fast for that is lost to followers, who are told.
const (
	// turnWork is how many lines are handed to how many followers in a turn, multiplied.
	turnWork = 1 << 15
	// crowd is how many followers are woken at a time; restFollower, how long the rest is
	// for each of them, who has to write.
	crowd        = 8
	restFollower = 100 * time.Microsecond
	// restFactor is how many times longer than the work a rest is, mostRest its end;
	// shortWork is how long work may take that needs none.
	restFactor = 4
	mostRest   = 20 * time.Millisecond
	shortWork  = 50 * time.Microsecond
)

// inTurns hands on what a subscription gives, until it is closed: some events at a time,
// and how many were lost before them. hand tells how many followers there are.
func inTurns(sub *actors.Subscription, hand func(list []actors.Event, lost uint64) (followers int)) {
	var lost uint64
	most := 1
	for e := range sub.C {
		list := drain([]actors.Event{e}, sub.C, most)
		now := sub.Dropped()
		followers := hand(list, now-lost)
		lost, most = now, max(1, turnWork/max(1, followers))
	}
}

// drain adds what waits to a list, which is so long at most.
func drain(list []actors.Event, from <-chan actors.Event, most int) []actors.Event {
	for len(list) < most {
		select {
		case e, ok := <-from:
			if !ok {
				return list
			}
			list = append(list, e)
		default:
			return list
		}
	}
	return list
}

// spread gives each of many something, and rests after every few who were woken by it.
func spread(feeds []*feed, give func(*feed) (woke bool)) {
	began, woken := time.Now(), 0
	for i, f := range feeds {
		if give(f) {
			woken++
		}
		if woken < crowd && i < len(feeds)-1 {
			continue
		}
		if d := restAfter(time.Since(began), woken); d > 0 {
			time.Sleep(d)
		}
		began, woken = time.Now(), 0
	}
}

func restAfter(took time.Duration, woken int) (d time.Duration) {
	if woken > 1 { // one alone is no crowd
		d = time.Duration(woken) * restFollower
	}
	if took > shortWork {
		d = max(d, restFactor*took)
	}
	return min(d, mostRest)
}
