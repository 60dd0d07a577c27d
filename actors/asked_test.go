package actors

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// bomb is a message on which every actor panics that is asked it.
type bomb struct {
	what  string
	reply chan<- error
}

func (b bomb) unanswered(err error) { reply(b.reply, err) }

// blown is an event on which the router panics.
type blown struct{ Event }

func (blown) Kind() Kind { panic("oh no") }

// fragile panics on every bomb, and leaves the rest to the actor that it is.
type fragile struct{ behavior }

func (f fragile) receive(msg any) {
	if b, is := msg.(bomb); is {
		panic(b.what)
	}
	f.behavior.receive(msg)
}

func bombed(ctx context.Context, to *ref, what string) error {
	err, gone := ask(ctx, to, func(reply chan<- error) any { return bomb{what, reply} })
	return errors.Join(err, gone)
}

func TestShell_whoeverAsksHearsOfAPanic(t *testing.T) {
	for what, want := range map[string]string{"oh no": "echo: panic: oh no", "worse": "panic: worse"} {
		synctest.Test(t, func(t *testing.T) {
			sys, e := newSystem(), &echo{}
			r := sys.spawn(func(*ref) behavior { return fragile{e} })
			require.EqualError(t, bombed(t.Context(), r, what), want)
			got, err := ask(t.Context(), r, questionTo)
			require.NoError(t, err)
			require.Equal(t, "yes", got, "it goes on")
			r.stop()
			<-r.gone
			sys.shutdown()
			settle()
		})
	}
}

// Each actor of a host is given a message that panics in its own code: what it is asked
// with holds something that cannot be.
func TestAsked_everyActorOfAHostAnswersWhatItPanicsOn(t *testing.T) {
	cases := map[string]struct {
		ask  func(ctx context.Context, h *Host, who *handle) error
		want string
	}{
		"the router": {func(_ context.Context, h *Host, _ *handle) error {
			return h.askRouter(func(reply chan<- error) any { return subscribe{nil, reply} })
		}, "the event router: panic: "},
		"the registry": {func(ctx context.Context, h *Host, _ *handle) error {
			h.registry.tell(withdrawn{})
			err, gone := ask(ctx, h.registry, func(reply chan<- error) any { return dropOffer{reply: reply} })
			return errors.Join(err, gone)
		}, ""},
		"an offer": {func(ctx context.Context, h *Host, _ *handle) error {
			err, gone := ask(ctx, h.registry, func(reply chan<- error) any { return addOffer{reply: reply} }) // of no session
			return errors.Join(err, gone)
		}, "the registry: panic: "},
		"a supervisor that is to begin": {func(ctx context.Context, _ *Host, who *handle) error {
			loaded := make(chan error, 1)
			got, gone := ask(ctx, who.sup, func(reply chan<- made) any { return begin{made: reply, loaded: loaded} }) // no manifest
			require.Equal(t, got.err, <-loaded)
			return errors.Join(got.err, gone)
		}, "the supervisor of plugin a: panic: "},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startHost(t, offering("a", "tool:a"))
				startReady(t, h, manifestFor("a"))
				err := test.ask(t.Context(), h, h.current("a"))
				if test.want == "" {
					require.NoError(t, err)
					return
				}
				require.ErrorContains(t, err, test.want)
				require.Equal(t, protocol.CodeInternal, protocol.CodeOf(err))
			})
		})
	}
}

// withdrawn is nothing that any actor knows.
type withdrawn struct{}

func TestAsked_aSessionAnswersWhatItPanicsOn(t *testing.T) {
	ways := map[string]func(chan<- error) any{
		"initialize": func(to chan<- error) any { return initialize{reply: to} },
		"configure":  func(to chan<- error) any { return configure{reply: to} },
		"need":       func(to chan<- error) any { return needConfiguration{reply: to} },
		"stop":       func(to chan<- error) any { return stop{to} },
		"load":       func(to chan<- error) any { return load{reply: to} },
		"offered":    func(to chan<- error) any { return offered{offer: protocol.Offer{Key: "tool:b"}, reply: to} },
		"retracted":  func(to chan<- error) any { return retracted{key: "tool:a", reply: to} },
	}
	for name, build := range ways {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startHost(t)
				who := h.newHandle(manifestFor("a"), nil)
				s := &session{host: h, h: who, sup: spySupervisor(h, "a").self, phase: lifecycle.Session.Initial()}
				who.self = h.sys.spawn(func(*ref) behavior { return exploding{s} })
				s.self = who.self
				to := make(chan error, 1)
				who.self.tell(build(to))
				require.EqualError(t, <-to, "the session of plugin a: panic: oh no")
				settle()
				require.Equal(t, lifecycle.Failed, who.phaseNow())
				who.self.stop()
				<-who.self.gone
			})
		})
	}
}

// exploding is an actor that panics on everything.
type exploding struct{ behavior }

func (exploding) receive(any) { panic("oh no") }

// A start that panics halfway is answered with how the session ended.
func TestAsked_aStartThatPanicsIsAnsweredOnce(t *testing.T) {
	s := &session{}
	to := make(chan error, 1)
	require.False(t, s.owes(initialize{reply: to}))
	s.settleReplies = append(s.settleReplies, to)
	require.True(t, s.owes(initialize{reply: to}))
	require.True(t, s.owes(configure{reply: to}))
	require.False(t, s.owes(stop{to}))
	s.settleReplies, s.loadReply = nil, to
	require.True(t, s.owes(load{reply: to}))
	require.False(t, s.owes(load{}))
}

func TestRouter_goesOnAfterAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		before := listen(t, h, KindDropped, nil)
		h.news.add(blown{})
		settle()
		sub := h.Subscribe(KindDropped, 0)
		require.NoError(t, sub.Err())
		h.publish(Dropped{What: "x", Count: 1})
		time.Sleep(afterPanic)
		settle()
		require.Len(t, before.all(), 1, "it hears what comes later")
		require.Len(t, sub.C, 1)

		h.news.add(blown{}) // it is met by the closing
		sub.Close()
		<-sub.C
		_, open := <-sub.C
		require.False(t, open, "it is closed all the same")
		require.NoError(t, h.Probe(t.Context()))
	})
}

func TestSubscribe_thatFailsSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		sub := h.neverSubscribed(&Subscription{queue: make(chan Event)}, errors.New("the event router: panic: oh"))
		require.EqualError(t, sub.Err(), "the event router: panic: oh")
		_, open := <-sub.C
		require.False(t, open)
		sub.Close()
		require.NoError(t, h.neverSubscribed(sub, ErrShutdown).Err())
	})
}
