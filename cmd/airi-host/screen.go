package main

import (
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/airi-host/airi-host/actors"
)

// screen is the live view of a host on a terminal: a few lines at its bottom that are
// painted again when something has changed, at most every refreshEvery. What is written
// to standard output and standard error meanwhile comes above them, and stays there as
// on any terminal.
//
//	journal, logs ─▶ changed ─┐
//	every second ─────────────┼─▶ feed: look at the host ─▶ tea.Program ─▶ past ─▶ terminal
//	c.out, c.err ─▶ backlog ──┘
//
// The terminal stays as it is but for its echo: a key is read at once, and Ctrl-C and
// Ctrl-Z come as signals, so that they work even if the terminal takes nothing. A view
// that is broken, or that has lost its terminal, is no matter to the host.
type screen struct {
	host *actors.Host
	out  *output
	// tty is where the lines go, and how many fit.
	tty  *os.File
	keys *keys
	// others are further outputs that end at the same terminal.
	others []*output

	observer *observer
	log      *actors.Subscription
	doing    atomic.Pointer[string]

	backlog backlog
	changed chan struct{}
	stop    chan struct{}
	done    chan struct{}
	once    sync.Once

	// What follows is feed's own. program is nil while the view is hidden.
	program *tea.Program
	paper   *paper
	ended   chan struct{}
	// given tells that the terminal was given back for good.
	given bool
	// width and height are the terminal's.
	width, height int
}

const (
	// refreshEvery is the least time between two pictures.
	refreshEvery = 100 * time.Millisecond
	// spareLines are those of the terminal that the view leaves to what comes above it.
	spareLines = 4
	// usualWidth and usualHeight are those of a terminal that does not tell its size.
	usualWidth, usualHeight = 80, 24
	// logQueue is how many lines of logs may wait to be looked at, unless the settings
	// say otherwise.
	logQueue = 1 << 12
)

// newScreen makes a view that open shows. in is where keys come from, if that is a
// terminal. So much may wait as room says.
func newScreen(host *actors.Host, plugins []string, room queues, tty *os.File, in any, out *output, others ...*output) *screen {
	s := &screen{
		host: host, out: out, tty: tty, others: others,
		keys:     newKeys(in),
		observer: newObserver(plugins, time.Now()),
		log:      host.Subscribe(actors.KindLog, room.logLines),
		changed:  make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	s.backlog.changed, s.backlog.most = s.change, room.bytes
	s.do(doingStart)
	return s
}

// open shows the view until its close.
func (s *screen) open() {
	for _, o := range append(s.others, s.out) {
		o.divert.Store(&s.backlog)
	}
	go s.feed()
}

// change tells that there is something new to show.
func (s *screen) change() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// do tells what the host is about.
func (s *screen) do(doing string) {
	s.doing.Store(&doing)
	s.change()
}

// close takes the view away; what was written then goes to the terminal itself again.
// The terminal is as it was before, also if the view is broken.
func (s *screen) close() {
	s.once.Do(func() {
		close(s.stop)
		<-s.done
		s.log.Close()
	})
}

// give gives the terminal back to those who write, for good.
func (s *screen) give() {
	s.given = true
	s.hide()
	for _, o := range s.others {
		o.divert.Store(nil)
	}
	s.out.revert(&s.backlog)
}

// feed paints. It ends at close, and hides the view then.
func (s *screen) feed() {
	defer close(s.done)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGWINCH, syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGQUIT)
	defer signal.Stop(signals)
	second := time.NewTicker(sampleEvery)
	defer second.Stop()
	next := time.NewTimer(0)
	defer next.Stop()
	due, lines := true, s.log.C

	s.show()
	defer s.give()
	for {
		select {
		case <-s.stop:
			return
		case got := <-signals:
			s.heed(got)
		case e, ok := <-lines:
			if !ok { // the host is shut down
				lines = nil
				continue
			}
			s.observer.hear(e.(actors.Logged))
		case <-s.ended: // by itself
			s.give()
			continue
		case <-s.changed:
		case <-second.C:
		case <-next.C:
			due = false
			s.paint()
			continue
		}
		if !due {
			due = true
			next.Reset(refreshEvery)
		}
	}
}

// heed does what a signal asks for.
func (s *screen) heed(got os.Signal) {
	switch got {
	case syscall.SIGWINCH:
		s.resize()
	case syscall.SIGTSTP:
		s.hide()
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case syscall.SIGCONT:
		if !s.given && inForeground(s.tty) {
			s.hide() // after SIGSTOP it is there still
			s.show()
		}
	case syscall.SIGQUIT: // ends the host as it stands, and tells how that is
		s.give()
		signal.Reset(syscall.SIGQUIT)
		_ = syscall.Kill(os.Getpid(), syscall.SIGQUIT)
	}
}

// show begins a view at the place of the cursor, unless there is one.
func (s *screen) show() {
	if s.program != nil {
		return
	}
	s.keys.listen()
	s.width, s.height = sizeOf(s.tty)
	s.paper = &paper{to: past{s.out}, begun: s.change}
	s.program = tea.NewProgram(
		&picture{s.text()},
		tea.WithInput(nil), tea.WithOutput(s.paper), tea.WithoutSignalHandler(),
		tea.WithWindowSize(s.width, s.height), tea.WithColorProfile(colorprofile.ANSI),
		tea.WithFPS(int(time.Second/refreshEvery)),
	)
	s.ended = make(chan struct{})
	go func(p *tea.Program, ended chan<- struct{}) {
		defer close(ended)
		_, _ = p.Run() // a view that is broken is gone; nothing depends on it
	}(s.program, s.ended)
}

// hide takes the view from the terminal, with its lines, and restores the terminal.
func (s *screen) hide() {
	s.keys.restore() // at once, however long the rest takes
	if s.program != nil {
		s.program.Send(pictured{})
		s.program.Quit()
		<-s.ended
		s.program, s.ended = nil, nil
	}
}

func (s *screen) resize() {
	s.width, s.height = sizeOf(s.tty)
	if s.program != nil {
		s.program.Send(tea.WindowSizeMsg{Width: s.width, Height: s.height})
	}
}

// paint puts what was written above the view, and the view anew. While the view is
// hidden what was written waits.
func (s *screen) paint() {
	if s.program == nil {
		return
	}
	select {
	case <-s.ended: // what is written would be lost
		s.give()
		return
	default:
	}
	if s.paper.painted.Load() { // else the library does not know where the view begins
		s.printAbove(s.backlog.take())
	}
	s.program.Send(pictured{s.text()})
}

// text is the view as of now.
func (s *screen) text() string {
	b := s.observer.look(time.Now(), *s.doing.Load(), s.host.Sessions())
	b.unseen = s.log.Dropped()
	sheet := sheet{width: s.width - 1, height: s.most(), color: s.out.color}
	return strings.Join(sheet.lines(b), "\n")
}

// most is how many lines the view may have.
func (s *screen) most() int { return max(0, s.height-spareLines, min(s.height-1, 1)) }

// printAbove writes lines above the view, as many at once as scroll without touching it.
func (s *screen) printAbove(lines []string) {
	var rows []string
	for _, line := range lines {
		rows = append(rows, strings.Split(ansi.HardwrapWc(line, max(1, s.width-1), true), "\n")...)
	}
	step := max(1, s.height-s.most())
	for len(rows) > 0 {
		n := min(step, len(rows))
		s.program.Send(tea.Println(strings.Join(rows[:n], "\n"))())
		rows = rows[n:]
	}
}

// sizeOf asks a terminal for its size.
func sizeOf(tty *os.File) (width, height int) {
	width, height, err := term.GetSize(tty.Fd())
	if err != nil || width <= 0 || height <= 0 {
		return usualWidth, usualHeight
	}
	return width, height
}

// paper is what the library writes to.
type paper struct {
	to past
	// painted tells that the view is on the terminal; begun is called when it comes there.
	painted atomic.Bool
	begun   func()
}

func (p *paper) Write(text []byte) (int, error) {
	n, err := p.to.Write(text)
	if !p.painted.Swap(true) {
		p.begun()
	}
	return n, err
}

// picture is the view as the library wants it.
type picture struct{ text string }

// pictured is a new text of the view.
type pictured struct{ text string }

func (p *picture) Init() tea.Cmd { return nil }

func (p *picture) Update(m tea.Msg) (tea.Model, tea.Cmd) {
	if m, ok := m.(pictured); ok {
		p.text = m.text
	}
	return p, nil
}

func (p *picture) View() tea.View {
	v := tea.NewView(p.text)
	v.DisableBracketedPasteMode = true
	return v
}
