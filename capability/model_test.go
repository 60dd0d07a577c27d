package capability

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
)

// A choice is compared with a model of it that keeps all offers in a list, and looks
// through the whole list each time. What fails is made short before it is shown.

// modelOffer is an offer as the model keeps it.
type modelOffer struct {
	owner     Owner
	state     lifecycle.State
	priority  int
	invocable bool
	// began and seq are when it was offered, readied since when it is ready.
	began        time.Time
	seq, readied int
}

// model is the offers of each key, and whose turn was the last of a plugin's.
type model struct {
	offers map[Key][]*modelOffer
	turns  map[Key]map[string]string
	clock  int
}

func newModel() *model {
	return &model{offers: map[Key][]*modelOffer{}, turns: map[Key]map[string]string{}}
}

func (m *model) find(key Key, o Owner) *modelOffer {
	for _, have := range m.offers[key] {
		if have.owner == o {
			return have
		}
	}
	return nil
}

// add returns an owner's offer, new if there is none.
func (m *model) add(now time.Time, key Key, o Owner) *modelOffer {
	have := m.find(key, o)
	if have == nil {
		m.clock++
		have = &modelOffer{owner: o, began: now, seq: m.clock}
		m.offers[key] = append(m.offers[key], have)
	}
	return have
}

// move puts an offer into a state. One that was withdrawn is a new one from then on.
func (m *model) move(now time.Time, o *modelOffer, to lifecycle.State) {
	m.clock++
	if o.state == withdrawn && to != withdrawn {
		o.began, o.seq = now, m.clock
	}
	if to == ready && o.state != ready {
		o.readied = m.clock
	}
	o.state = to
}

func (m *model) remove(key Key, o Owner) {
	m.offers[key] = slices.DeleteFunc(m.offers[key], func(have *modelOffer) bool { return have.owner == o })
	if !slices.ContainsFunc(m.offers[key], func(have *modelOffer) bool { return have.owner.Plugin == o.Plugin }) {
		delete(m.turns[key], o.Plugin)
	}
}

// ranked are the offers of a key in the order of choice.
func (m *model) ranked(key Key) []*modelOffer {
	list := slices.Clone(m.offers[key])
	better := []lifecycle.State{ready, degraded, announced, withdrawn}
	slices.SortFunc(list, func(a, b *modelOffer) int {
		if order := slices.Index(better, a.state) - slices.Index(better, b.state); order != 0 {
			return order
		}
		if a.invocable != b.invocable {
			return map[bool]int{true: -1, false: 1}[a.invocable]
		}
		if key.Kind() == "" {
			return cmp.Or(a.began.Compare(b.began), b.priority-a.priority, a.seq-b.seq)
		}
		if order := b.priority - a.priority; order != 0 {
			return order
		}
		if a.state == ready {
			return a.readied - b.readied
		}
		return a.seq - b.seq
	})
	return list
}

// choose says who answers, as "plugin/instance", or why nobody does.
func (m *model) choose(key Key, f Filter) string {
	list := m.ranked(key)
	admitted := slices.DeleteFunc(slices.Clone(list), func(o *modelOffer) bool {
		return f.Plugin != "" && o.owner.Plugin != f.Plugin || f.Instance != "" && o.owner.Instance != f.Instance
	})
	if len(admitted) == 0 {
		return "nobody"
	}
	if rivals := rivalsOf(list); f.Plugin == "" && len(rivals) > 1 && isAmbiguous(key.Kind()) {
		return "one of " + strings.Join(rivals, " ")
	}
	best := admitted[0]
	if best.state != ready {
		return "not ready: " + best.owner.Plugin + "/" + best.owner.Instance
	}
	if f.Instance == "" {
		best = m.next(key, best, list)
	}
	return best.owner.Plugin + "/" + best.owner.Instance
}

// rivalsOf are the plugins that have not withdrawn the key.
func rivalsOf(list []*modelOffer) (names []string) {
	for _, o := range list {
		if o.state != withdrawn && !slices.Contains(names, o.owner.Plugin) {
			names = append(names, o.owner.Plugin)
		}
	}
	return names
}

func isAmbiguous(k Kind) bool {
	return slices.Contains([]Kind{KindData, KindJob, KindWebhook, KindHTTP, KindEnvironment}, k)
}

// next is the instance behind the last one, of those that are the best's equals.
func (m *model) next(key Key, best *modelOffer, list []*modelOffer) *modelOffer {
	var equals []*modelOffer
	for _, o := range list {
		if o.owner.Plugin == best.owner.Plugin && o.state == ready && o.priority == best.priority && o.invocable == best.invocable {
			equals = append(equals, o)
		}
	}
	if several := slices.ContainsFunc(list, func(o *modelOffer) bool {
		return o.owner.Plugin == best.owner.Plugin && o != best
	}); !several {
		return best
	}
	slices.SortFunc(equals, func(a, b *modelOffer) int { return strings.Compare(a.owner.Instance, b.owner.Instance) })
	turn := equals[0]
	if last, taken := m.turns[key][best.owner.Plugin]; taken {
		for _, o := range equals {
			if o.owner.Instance > last {
				turn = o
				break
			}
		}
	}
	if m.turns[key] == nil {
		m.turns[key] = map[string]string{}
	}
	m.turns[key][best.owner.Plugin] = turn.owner.Instance
	return turn
}

// deed is one thing that happens to a registry.
type deed struct {
	what      string // offer, set, set all, remove, remove all, host, choose
	owner     Owner
	key       Key
	priority  int
	invocable bool
	to        lifecycle.State
	filter    Filter
	later     int64 // milliseconds after the one before
}

func (d deed) String() string {
	switch d.what {
	case "choose":
		return fmt.Sprintf("choose %s of %q/%q", d.key, d.filter.Plugin, d.filter.Instance)
	case "offer":
		return fmt.Sprintf("+%d offer %s by %s, priority %d, invocable %t", d.later, d.key, d.owner, d.priority, d.invocable)
	default:
		return fmt.Sprintf("+%d %s %s by %s: %s", d.later, d.what, d.key, d.owner, d.to)
	}
}

// world is who may offer what in one run.
type world struct {
	owners []Owner
	keys   []Key
}

func worldOf(plugins, instances int) world {
	w := world{keys: []Key{"tool:x", "event:x", "own:x", "data:x", "job:x"}}
	for p := range plugins {
		for i := range instances {
			w.owners = append(w.owners, Owner{fmt.Sprintf("p%02d", p), []string{"", "b", "a", "c"}[i]})
		}
	}
	return w
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func (w world) deed(r *rand.Rand) deed {
	states := []lifecycle.State{ready, ready, ready, announced, degraded, withdrawn}
	d := deed{
		what: pick(r, "offer", "offer", "set", "set", "set", "set all", "remove", "remove all", "host", "choose", "choose", "choose", "choose"),
		key:  pick(r, w.keys...), owner: pick(r, w.owners...), priority: pick(r, 0, 0, 0, 1, -1),
		invocable: r.IntN(8) > 0, to: pick(r, states...), later: r.Int64N(2),
	}
	if r.IntN(4) == 0 {
		d.filter.Plugin = d.owner.Plugin
	}
	if r.IntN(4) == 0 {
		d.filter.Instance = d.owner.Instance
	}
	return d
}

// play does the deeds in a registry and in the model, and says where they differ.
func play(deeds []deed) error {
	r, m, now := New(Options{}), newModel(), at(0)
	for i, d := range deeds {
		now = now.Add(time.Duration(d.later) * time.Millisecond)
		if err := d.do(r, m, now); err != nil {
			return fmt.Errorf("%d. %s: %w", i+1, d, err)
		}
		for _, key := range []Key{d.key, "tool:x"} {
			var have, want []string
			for _, o := range r.Snapshot().Get(key) {
				have = append(have, fmt.Sprintf("%s %s", o.Owner, o.State))
			}
			for _, o := range m.ranked(key) {
				want = append(want, fmt.Sprintf("%s %s", o.owner, o.state))
			}
			if !slices.Equal(want, have) {
				return fmt.Errorf("%d. %s: the order of %s is %q; expected %q", i+1, d, key, have, want)
			}
		}
	}
	return nil
}

func (d deed) do(r *Registry, m *model, now time.Time) (err error) {
	may := func(o *modelOffer) bool { return lifecycle.Capability.Can(o.state, events[d.to]) }
	switch d.what {
	case "offer":
		_, err = r.Offer(now, Offer{Key: d.key, Owner: d.owner, Priority: d.priority, Invocable: d.invocable})
		o := m.add(now, d.key, d.owner)
		o.priority, o.invocable = d.priority, d.invocable
		if o.state == "" || o.state == withdrawn {
			m.move(now, o, announced)
		}
	case "set":
		_, err = r.SetState(now, d.owner, d.key, d.to, "")
		o := m.find(d.key, d.owner)
		if refused := o == nil || !may(o); refused != (err != nil) {
			return fmt.Errorf("refused: %t (%w)", refused, err)
		} else if !refused && o.state != d.to {
			m.move(now, o, d.to)
		}
		err = nil
	case "set all":
		err = m.setAll(r, d, now)
	case "remove", "remove all":
		var keys []Key
		if d.what == "remove" {
			keys = []Key{d.key}
		}
		r.Remove(now, d.owner, keys...)
		for key := range m.offers {
			if len(keys) == 0 || key == d.key {
				m.remove(key, d.owner)
			}
		}
	case "host":
		_, _, err = map[lifecycle.State]func() (Descriptor, []Change, error){
			announced: func() (Descriptor, []Change, error) { return r.Announce(now, d.key, nil) },
			ready:     func() (Descriptor, []Change, error) { return r.Ready(now, d.key, nil) },
			degraded:  func() (Descriptor, []Change, error) { return r.Degrade(now, d.key, nil) },
			withdrawn: func() (Descriptor, []Change, error) { return r.Withdraw(now, d.key, nil) },
		}[d.to]()
		m.move(now, m.add(now, d.key, HostOwner), d.to)
	case "choose":
		if have, want := outcome(r.Snapshot().Choose(d.key, d.filter)), m.choose(d.key, d.filter); have != want {
			err = fmt.Errorf("chosen is %q; expected %q", have, want)
		}
	}
	return err
}

// setAll puts all that an owner has not withdrawn into a state, or nothing.
func (m *model) setAll(r *Registry, d deed, now time.Time) error {
	var own []*modelOffer
	refused := false
	for _, list := range m.offers {
		for _, o := range list {
			if o.owner == d.owner && o.state != withdrawn {
				own = append(own, o)
				refused = refused || !lifecycle.Capability.Can(o.state, events[d.to])
			}
		}
	}
	if _, err := r.SetOwner(now, d.owner, d.to, ""); refused != (err != nil) {
		return fmt.Errorf("refused: %t (%w)", refused, err)
	}
	for _, o := range own {
		if !refused && o.state != d.to {
			m.move(now, o, d.to)
		}
	}
	return nil
}

// outcome is a choice in the model's words.
func outcome(o Offer, err error) string {
	if e, ok := errors.AsType[*AmbiguousError](err); ok {
		if e.More {
			return "one of many"
		}
		return "one of " + strings.Join(e.Plugins, " ")
	}
	if e, ok := errors.AsType[*NotReadyError](err); ok {
		return "not ready: " + e.Owner.Plugin + "/" + e.Owner.Instance
	}
	if _, ok := errors.AsType[*NotFoundError](err); ok {
		return "nobody"
	}
	return o.Owner.Plugin + "/" + o.Owner.Instance
}

// shorten leaves out what is not needed for a run to fail.
func shorten[T any](deeds []T, fails func([]T) bool) []T {
	for size := len(deeds) / 2; size > 0; size /= 2 {
		for from := 0; from+size <= len(deeds); {
			if shorter := slices.Delete(slices.Clone(deeds), from, from+size); fails(shorter) {
				deeds = shorter
			} else {
				from += size
			}
		}
	}
	return deeds
}

// One seed is one run; what fails names it.
func TestChoose_isAsTheModelHasIt(t *testing.T) {
	for _, size := range []struct{ plugins, instances, runs, deeds int }{
		{2, 1, 300, 60}, {3, 3, 300, 120}, {2, 4, 200, 120}, {7, 3, 60, 400}, // the last is too many for a slice
	} {
		w := worldOf(size.plugins, size.instances)
		for seed := range uint64(size.runs) {
			r := rand.New(rand.NewPCG(seed, uint64(size.plugins)))
			deeds := make([]deed, size.deeds)
			for i := range deeds {
				deeds[i] = w.deed(r)
			}
			if play(deeds) == nil {
				continue
			}
			least := shorten(deeds, func(d []deed) bool { return play(d) != nil })
			t.Fatalf("%d plugins, seed %d: %v\n%s", size.plugins, seed, play(least), lines(least))
		}
	}
}

func lines[T fmt.Stringer](list []T) string {
	var text strings.Builder
	for i, one := range list {
		fmt.Fprintf(&text, "%d. %s\n", i+1, one)
	}
	return text.String()
}

func TestShorten_leavesWhatIsNeeded(t *testing.T) {
	all := make([]int, 100)
	for i := range all {
		all[i] = i
	}
	require.Equal(t, []int{7, 70}, shorten(all, func(list []int) bool {
		return slices.Contains(list, 7) && slices.Contains(list, 70)
	}))
}

// Whatever the others do, the instances that are equals all the while take turns: no
// two of them differ by more than one.
func TestChoose_turnsAreFairWhileOthersComeAndGo(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 0))
		r, counts := New(Options{}), map[string]int{}
		steady := []string{"a", "b", "c", "d"}[:2+random.IntN(3)]
		for _, instance := range steady {
			serve(t, r, 0, Owner{"p", instance}, "tool:x", 1)
		}
		for i := range int64(300) {
			if other := (Owner{fmt.Sprint("other", random.IntN(30)), pick(random, "", "x")}); random.IntN(2) == 0 {
				serve(t, r, i, other, "tool:x", pick(random, -1, 0, 1)) // no higher priority, and ready for less long
			} else {
				r.Remove(at(i), other)
			}
			chosen, err := r.Snapshot().Choose("tool:x", Filter{})
			require.NoError(t, err)
			require.Equal(t, "p", chosen.Owner.Plugin, "seed %d", seed)
			counts[chosen.Owner.Instance]++
			var all []int
			for _, instance := range steady {
				all = append(all, counts[instance])
			}
			require.LessOrEqual(t, slices.Max(all)-slices.Min(all), 1, "seed %d: %v", seed, counts)
		}
	}
}
