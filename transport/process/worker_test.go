//go:build linux

package process

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// modes are the workers, most of which misbehave. Each returns its exit code.
var modes map[string]func() int

func init() {
	modes = map[string]func() int{
		"echo":         echo,
		"exit":         func() int { return number() },
		"sleep":        sleep,
		"deaf":         func() int { signal.Ignore(syscall.SIGTERM); return sleep() },
		"close-stdout": func() int { fmt.Println("bye"); _ = os.Stdout.Close(); return sleep() },
		"close-stdin":  closeStdin,
		"close-stderr": func() int { _ = os.Stderr.Close(); return echo() },
		"endless":      endless,
		"tidy-up":      tidyUp,
		"stderr-first": func() int { return stderrFirst(strings.Repeat(strings.Repeat("e", 127)+"\n", 8<<10)) },
		"stderr-line":  func() int { return stderrFirst(strings.Repeat("e", 3<<20) + "\n") },
		"stderr-flood": stderrFlood,
		"stderr-odd":   func() int { return stderrFirst("\x1b[31mred\x1b[0m\nbad \xff\xfe\nlast") },
		"print":        func() int { fmt.Println("printed"); return echo() },
		"leave":        func() int { return leave(exec.Command("sleep", "600")) },
		"leave-echo":   func() int { return leave(self("echo")) },
		"leave-deaf":   func() int { return leave(self("deaf")) },
		"leave-away":   leaveAway,
		"leave-talk":   func() int { return leave(self("talk")) },
		"talk":         talk,
		"kill-group":   func() int { _ = syscall.Kill(0, syscall.SIGTERM); return sleep() },
		"desert":       desert,
		"kill-itself":  func() int { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); return sleep() },
		"partial":      func() int { fmt.Fprintln(os.Stderr, "oh no"); fmt.Print("a\nb"); return number() },
		"burst":        burst,
		"count":        count,
		"environment":  environment,
		"descriptors":  openDescriptors,
		"separators":   separators,
		"frames":       frames,
		"relay":        relay,
		"host":         host,
		"adopting":     adopting,
		"init":         initLike,
		"burn":         burn,
		"limiting":     limiting,
	}
}

func runWorker(mode string) int {
	run, ok := modes[mode]
	if !ok {
		fmt.Fprintln(os.Stderr, "unknown mode", mode)
		return 99
	}
	return run()
}

// number is the mode's argument.
func number() int {
	n, _ := strconv.Atoi(os.Getenv(argVar))
	return n
}

// wireFiles are the descriptors that carry records.
func wireFiles() (in, out *os.File) {
	if os.Getenv("AIRI_HOST_TEST_WIRE") == strconv.Itoa(int(Own)) {
		return os.NewFile(3, "in"), os.NewFile(4, "out")
	}
	return os.Stdin, os.Stdout
}

// echo sends back every byte.
func echo() int {
	in, out := wireFiles()
	buf := make([]byte, 256<<10)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			if _, err := out.Write(buf[:n]); err != nil {
				return 1
			}
		}
		if err != nil {
			return 0
		}
	}
}

func sleep() int {
	time.Sleep(10 * time.Minute)
	return 98
}

// desert leaves its own group for that of its host.
func desert() int {
	group, err := syscall.Getpgid(os.Getppid())
	if err == nil {
		err = syscall.Setpgid(0, group)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	signal.Ignore(syscall.SIGTERM)
	fmt.Println("deserted")
	return sleep()
}

func closeStdin() int {
	_ = os.Stdin.Close()
	fmt.Println("closed")
	return sleep()
}

// tidyUp takes its time to exit when its input ends.
func tidyUp() int {
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = os.Stdout.Close()
	time.Sleep(200 * time.Millisecond)
	return 0
}

func endless() int {
	piece := bytes.Repeat([]byte{'x'}, 64<<10)
	for {
		if _, err := os.Stdout.Write(piece); err != nil {
			return 1
		}
	}
}

func stderrFirst(text string) int {
	if _, err := io.WriteString(os.Stderr, text); err != nil {
		return 1
	}
	return echo()
}

// stderrFlood writes 10,000 lines a second while it echoes.
func stderrFlood() int {
	go func() {
		for i := 0; ; i += 100 {
			fmt.Fprint(os.Stderr, strings.Repeat("flood\n", 100))
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return echo()
}

// self is the test binary in another mode, with the same environment.
func self(mode string) *exec.Cmd {
	path, _ := os.Executable()
	cmd := exec.Command(path)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(e string) bool {
		return strings.HasPrefix(e, modeVar+"=")
	}), modeVar+"="+mode)
	return cmd
}

// leave starts a descendant that holds all pipes and exits before it.
func leave(cmd *exec.Cmd) int {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 97
	}
	return number()
}

// leaveAway leaves a descendant that has left the group too. It says who.
func leaveAway() int {
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	code := leave(cmd)
	fmt.Println(cmd.Process.Pid)
	return code
}

// talk never stops to write.
func talk() int {
	for {
		if _, err := fmt.Println("talk"); err != nil {
			return 0
		}
		time.Sleep(time.Millisecond)
	}
}

// burst writes many lines at once and exits.
func burst() int {
	w := bufio.NewWriterSize(os.Stdout, 64<<10)
	for i := range number() {
		fmt.Fprintf(w, "line %d\n", i)
	}
	_ = w.Flush()
	return 0
}

// count reads to the end and says how many bytes that was.
func count() int {
	n, _ := io.Copy(io.Discard, os.Stdin)
	fmt.Println(n)
	return 0
}

func environment() int {
	for _, e := range os.Environ() {
		fmt.Println(e)
	}
	dir, _ := os.Getwd()
	fmt.Println(dir)
	fmt.Println(os.Args[1:])
	return 0
}

// openDescriptors tells what the worker was given.
func openDescriptors() int {
	fmt.Fprintln(os.Stderr, inheritable())
	return 0
}

// inheritable lists the descriptors that an exec does not close.
func inheritable() []int {
	var open []int
	for fd := range 1024 {
		flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0)
		if errno == 0 && flags&syscall.FD_CLOEXEC == 0 {
			open = append(open, fd)
		}
	}
	return open
}

// separatorText holds what some take for the end of a line.
const separatorText = "a\u2028b\u2029c\u0085d\ve\ff é € 𝄞"

// separators answers a call in one write, and the next one a byte at a time.
func separators() int {
	in := bufio.NewReader(os.Stdin)
	_, _ = in.ReadString('\n')
	fmt.Print(separatorText + "\n")
	_, _ = in.ReadString('\n')
	for _, c := range []byte(separatorText + "\n") {
		_, _ = os.Stdout.Write([]byte{c})
		time.Sleep(2 * time.Millisecond)
	}
	return 0
}

// frames writes frames around the limit that it is given.
func frames() int {
	limit := number()
	for _, n := range []int{64<<10 - 1, 64 << 10, 64<<10 + 1, limit} {
		fmt.Println(strings.Repeat("a", n))
	}
	both := strings.Repeat("b", limit) + "\n" + strings.Repeat("c", 40) + "\n"
	_, _ = os.Stdout.WriteString(both)
	fmt.Println(strings.Repeat("d", limit+1))
	return sleep()
}

// relay carries bytes between its wire and a socket of the test.
func relay() int {
	in, out := wireFiles()
	conn, err := net.Dial("unix", os.Getenv(argVar))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	done := make(chan error, 2)
	go func() { _, err := io.Copy(conn, in); done <- err }()
	go func() { _, err := io.Copy(out, conn); done <- err }()
	if err := <-done; err != nil && !errors.Is(err, io.EOF) {
		return 1
	}
	return 0
}

// host is a host with one deaf worker, which has a deaf descendant in a session of
// its own. It names the worker and then hangs.
func host() int {
	path, _ := os.Executable()
	p, err := Start(Spec{
		Plugin: "deaf", Path: "sh", Args: []string{"-c", `setsid "$0" & exec "$0"`, path}, Env: self("deaf").Env,
		Owner: os.Getenv(argVar), Reach: Reach(os.Getenv(reachVar)),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(p.Pid())
	return sleep()
}

// adopting is a host that adopts orphans and has a child of its own. Its worker makes
// orphans that end, and such that do not. It tells how many it has got of them, dead
// or alive, while the worker lives and after its end.
func adopting() int {
	child := exec.Command("sh", "-c", "exit 7")
	if err := child.Start(); err != nil {
		return 1
	}
	p, err := Start(Spec{
		Plugin: "orphans", Path: "sh", Env: self("").Env, Adopt: true, Reach: Reach(os.Getenv(reachVar)),
		Args: []string{"-c", `read go; (setsid true &); (env -i setsid sleep 0.1 &); (setsid sleep 1000 &); (env -i setsid sleep 1000 &); echo made; read end`},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_ = p.Send([]byte("go"))
	_, _ = p.Recv()
	fmt.Println("while it lives:", awaitOrphans(2))
	report, err := p.Stop(context.Background(), quick)
	fmt.Println("after the stop:", awaitOrphans(0), report.Left, err)
	fmt.Println("the child:", child.Wait())
	return 0
}

// awaitOrphans waits until this process has as many children besides its own one and
// the worker, or for a while, and tells how many it has.
func awaitOrphans(want int) int {
	var n int
	for range 200 {
		n = -1 // the own child
		for _, p := range snapshot() {
			if p.parent == os.Getpid() {
				n++
			}
		}
		if want > 0 {
			n-- // the worker
		}
		if n == want {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return n
}

// burn does nothing, as fast as it can.
func burn() int {
	for {
		runtime.Gosched()
	}
}

// initLike gets orphans that no host has started, as PID 1 does, while a child of its own
// exits and a worker is stopped. It tells what becomes of them.
func initLike() int {
	if err := adopt(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		reapStrays(ctx, 300*time.Millisecond)
	}()
	p, err := Start(Spec{Plugin: "worker", Path: "sh", Env: self("").Env, Args: []string{"-c", "(sleep 1000 &); read go; exit 5"}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	child := exec.Command("sh", "-c", "(setsid sleep 0.05 &); (setsid sleep 0.1 &); (setsid true &); exit 7")
	fmt.Println("the child:", child.Run())
	_ = p.Send([]byte("go"))
	<-p.exited
	time.Sleep(time.Second) // several times the grace
	fmt.Println("zombies, the worker among them:", zombies())
	_, err = p.Stop(context.Background(), quick)
	fmt.Println("the worker:", p.exit, err)
	for zombies() > 0 {
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Println("none is left")
	cancel()
	<-done
	return 0
}

// zombies are the dead children of this process.
func zombies() (n int) {
	for _, p := range snapshot() {
		if p.parent == os.Getpid() && p.state == 'Z' {
			n++
		}
	}
	return n
}
