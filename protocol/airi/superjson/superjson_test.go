package superjson

import (
	"math"
	"math/big"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const limit = 1 << 20

func read(t testing.TB, text string) Frame {
	t.Helper()
	f, err := Read([]byte(text))
	require.NoError(t, err, text)
	return f
}

func TestRead_knowsAnEnvelope(t *testing.T) {
	for _, c := range []struct {
		text, event string
		wrapped     bool
	}{
		{`{"json":{"type":"a","data":{}}}`, `{"type":"a","data":{}}`, true},
		{" {\"meta\":{\"v\":1},\n\"json\" : {\"type\":1} } ", `{"type":1}`, true},
		{`{"type":"outer","json":{"type":"inner"}}`, `{"type":"inner"}`, true},
		{`{"type":"a","data":{}}`, `{"type":"a","data":{}}`, false},
		{`{"type":"a","json":{"data":1}}`, `{"type":"a","json":{"data":1}}`, false},
		{`{"json":[{"type":"a"}]}`, `{"json":[{"type":"a"}]}`, false},
		{`{"json":null,"json":null}`, `{"json":null,"json":null}`, false},
		{`null`, `null`, false},
		{`[]`, `[]`, false},
		{`"ping"`, `"ping"`, false},
	} {
		f := read(t, c.text)
		require.Equal(t, c.event, string(f.JSON))
		require.Equal(t, c.wrapped, f.Wrapped, c.text)
		require.Equal(t, c.text, string(f.Text))
	}
}

func TestRead_refuses(t *testing.T) {
	for _, c := range []struct {
		text string
		is   error
	}{
		{``, ErrNotJSON},
		{`ping`, ErrNotJSON},
		{"{\"json\":{\"type\":\"\xff\"}}", ErrNotJSON},
		{`{"json":{"type":"a"}`, ErrNotJSON},
		{`{"json":{"type":"a"}}{}`, ErrNotJSON},
		{`{"json":{"type":"a"},"json":{"type":"b"}}`, ErrNotJSON},
		{`{"json":{"type":"a"},"meta":{},"meta":{}}`, ErrNotJSON},
		{`{"json":{"type":"a"},"meta":{"values":{"__proto__.x":["Date"]}}}`, ErrPollutes},
		{`{"json":{"type":"a"},"meta":{"values":{"a":["map",{"0.constructor":["Date"]}]}}}`, ErrPollutes},
		{`{"json":{"type":"a"},"meta":{"values":{"data":{"prototype":["undefined"]}}}}`, ErrPollutes},
		{`{"json":{"type":"a"},"meta":{"values":{"\u005f_proto__":["undefined"]}}}`, ErrPollutes},
		{`{"json":{"type":"a"},"meta":{"referentialEqualities":{"a":["data.__proto__"]}}}`, ErrPollutes},
		{`{"json":{"type":"a"},"meta":{"referentialEqualities":[["__proto__"]]}}`, ErrPollutes},
		{`{"json":{"type":"a"},"meta":{"referentialEqualities":[[],{"constructor.prototype":["x"]}]}}`, ErrPollutes},
		// Behind what is wrong otherwise, too.
		{`{"json":{"type":"a"},"meta":{"values":{"x\\y":["Date"],"__proto__.x":["Date"]},"v":1}}`, ErrPollutes},
		{`{"json":{"type":"a"},"meta":{"values":{"x\\y.__proto__":["Date"]},"v":1}}`, ErrPollutes},
		{`{"json":{"type":"a"},"meta":{"values":{"x\\y":["map",{"0.__proto__":["Date"]}]},"v":1}}`, ErrPollutes},
		{`{"json":{"type":"a"},"meta":{"values":{"` + strings.Repeat("y.", maxPath) + `__proto__":["Date"]}}}`, ErrPollutes},
		{`{"json":{"type":"a"},"meta":{"values":{"` + strings.Repeat("y.", maxPath) + `":["map",{"__proto__":["Date"]}]}}}`, ErrPollutes},
		{`{"json":{"type":"a"},"meta":{"values":{"x\\y":["Date"]},"referentialEqualities":{"a":["y\\z","b.prototype"]},"v":1}}`, ErrPollutes},
		{`{"json":{"type":"a"},"meta":{"values":` + strings.Repeat(`{"a":`, 600) + `{"__proto__":["Date"]}` + strings.Repeat(`}`, 600) + `}}`, ErrDeep},
	} {
		_, err := Read([]byte(c.text))
		require.ErrorIs(t, err, c.is, c.text)
	}
	// The words may be said, where they are no path.
	for _, text := range []string{
		`{"json":{"type":"a","data":{"__proto__":1}}}`,
		`{"json":{"type":"a","data":"constructor"},"meta":{"values":{"data":["constructor"]}}}`,
		`{"json":{"type":"a"},"meta":{"values":{"a.x__proto__":["undefined"]},"prototype":1}}`,
	} {
		read(t, text)
	}
}

func TestForward_keepsTheBytesOfAnEnvelope(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{` {"json": {"type":"a", "n":1.0}, "meta":{"values":{"x":["unheard of"]}}} `, ``},
		{`{"type":"a", "n":1.0}`, `{"json":{"type":"a", "n":1.0}}`},
	} {
		if c.want == "" {
			c.want = c.text
		}
		require.Equal(t, c.want, string(read(t, c.text).Forward()))
	}
}

func TestPlain_leavesOutWhatIsUndefined(t *testing.T) {
	for _, c := range []struct{ json, values, want string }{
		{`{"type":"a", "n":1.0}`, `{}`, `{"type":"a", "n":1.0}`},
		{`{"type":"a","x":null}`, `{"x":["undefined"]}`, `{"type":"a"}`},
		{`{"x":null,"type":"a"}`, `{"x":["undefined"]}`, `{"type":"a"}`},
		{`{"type":"a","m":{"e":{"id":"\ud800","parentId":null}},"n":[1 , 2]}`, `{"m.e.parentId":["undefined"]}`, `{"type":"a","m":{"e":{"id":"\ud800"}},"n":[1 , 2]}`},
		{`{"type":"a","l":[null,{"x":null,"y":2},3]}`, `{"l.0":["undefined"],"l.1.x":["undefined"]}`, `{"type":"a","l":[null,{"y":2},3]}`},
		{`{"type":"a","m":[["k",{"x":null}]]}`, `{"m":["map",{"0.1.x":["undefined"]}]}`, `{"type":"a","m":[["k",{}]]}`},
		{`{"type":"a","a.b":null,"a":{"b":1}}`, `{"a\\.b":["undefined"]}`, `{"type":"a","a":{"b":1}}`},
		{`{"type":"a","d":"2020-01-01T00:00:00.000Z"}`, `{"d":["Date"],"nowhere":["undefined"],"d.x":["undefined"]}`, `{"type":"a","d":"2020-01-01T00:00:00.000Z"}`},
		{`{"type":"a","x":{"y":null}}`, `{"x":["undefined"],"x.y":["undefined"]}`, `{"type":"a"}`},
		{`{"type":"a","x":{"y":null}}`, `{"x.y":["undefined"],"x":["undefined"]}`, `{"type":"a"}`},
		{`{"type":"a"}`, `["undefined"]`, `{"type":"a"}`},
		{`{"type":"a","e":{},"f":[ ]}`, `{"e.x":["undefined"],"f.0":["undefined"]}`, `{"type":"a","e":{},"f":[]}`},
	} {
		f := read(t, `{"json":`+c.json+`,"meta":{"values":`+c.values+`,"v":1}}`)
		plain, err := f.Plain()
		require.NoError(t, err)
		require.Equal(t, c.want, string(plain))
	}
}

func TestValue_isWhatAnnotationsSay(t *testing.T) {
	f := read(t, `{"json":{"type":"a","u":null,"d":"2020-01-02T03:04:05.006Z","b":"-12345678901234567890","nan":"NaN","inf":"-Infinity","zero":"-0",
		"map":[["k","2020-01-02T03:04:05.006Z"],[1,null]],"set":["a",1.5],"re":"/a\\/b/gi","url":"https://x.example/?q=1",
		"err":{"name":"TypeError","message":"no","cause":null},"bytes":[1,255],"same":{"x":1},"again":{"x":1},"dot.ted":null},
		"meta":{"values":{"u":["undefined"],"d":["Date"],"b":["bigint"],"nan":["number"],"inf":["number"],"zero":["number"],
		"map":["map",{"0.1":["Date"],"1.1":["undefined"]}],"set":["set"],"re":["regexp"],"url":["URL"],"err":["Error",{"cause":["undefined"]}],
		"bytes":[["typed-array","Uint8Array"]],"dot\\.ted":["undefined"],"not.there":["Date"]},"referentialEqualities":{"same":["again"]},"v":1}}`)
	v, err := f.Value()
	require.NoError(t, err)
	o := v.(*Object)
	at := time.Date(2020, 1, 2, 3, 4, 5, 6e6, time.UTC)
	big, _ := new(big.Int).SetString("-12345678901234567890", 10)
	address, _ := url.Parse("https://x.example/?q=1")
	for name, want := range map[string]any{
		"u": Undefined{}, "d": at, "b": big, "inf": math.Inf(-1), "map": &Map{[][2]any{{"k", at}, {1.0, Undefined{}}}},
		"set": &Set{[]any{"a", 1.5}}, "re": &RegExp{`a\/b`, "gi"}, "url": address,
		"err": &Error{"TypeError", "no", Undefined{}, true}, "bytes": &TypedArray{"Uint8Array", []float64{1, 255}}, "dot.ted": Undefined{},
	} {
		got, ok := o.Get(name)
		require.True(t, ok, name)
		require.Equal(t, want, got, name)
	}
	nan, _ := o.Get("nan")
	require.True(t, math.IsNaN(nan.(float64)))
	zero, _ := o.Get("zero")
	require.True(t, math.Signbit(zero.(float64)))
	same, _ := o.Get("same")
	again, _ := o.Get("again")
	require.Same(t, same, again)
}

func TestValue_saysWhatCannotBeFollowed(t *testing.T) {
	for _, c := range []struct{ x, note, want string }{
		{`{}`, `[["class","Cat"]]`, `x: the kind "class" is unknown`},
		{`"a"`, `["Temporal"]`, `x: the kind "Temporal" is unknown`},
		{`1`, `["Date"]`, `stand-in for a Date`},
		{`"tomorrow"`, `["Date"]`, `cannot parse "tomorrow"`},
		{`"0x10"`, `["bigint"]`, `no bigint`},
		{`"` + strings.Repeat("9", maxDigits+1) + `"`, `["bigint"]`, `no bigint`},
		{`"NaN?"`, `["number"]`, `no number`},
		{`[[1]]`, `["map"]`, `no pair`},
		{`{}`, `["map"]`, `stand-in for a map`},
		{`{}`, `["set"]`, `stand-in for a set`},
		{`[]`, `["Error"]`, `stand-in for an Error`},
		{`["a"]`, `[["typed-array","Uint8Array"]]`, `no number`},
		{`[]`, `[["typed-array","DataView"]]`, `typed array "DataView"`},
		{`"a/b"`, `["regexp"]`, `no regular expression`},
		{`{}`, `{"y\\z":["Date"]}`, `escapes nothing`},
		{`{}`, `{"` + strings.Repeat("y.", maxPath) + `":["Date"]}`, `more than 64 segments`},
		{`{}`, `{"` + strings.Repeat("y.", maxPath/2) + `y":{"` + strings.Repeat("y.", maxPath/2) + `":["Date"]}}`, `more than 64 segments`},
		{`{}`, `{"` + strings.Repeat("y.", maxPath/2) + `y":{` + strings.Repeat(`"y":["Date"],`, 999) + `"z":["Date"]}}`, `paths have together`},
	} {
		f := read(t, `{"json":{"type":"a","x":`+c.x+`},"meta":{"values":{"x":`+c.note+`},"v":1}}`)
		_, err := f.Value()
		require.ErrorContains(t, err, c.want, c.note)
	}
	_, err := read(t, `{"json":{"type":`+strings.Repeat("[", 600)+strings.Repeat("]", 600)+`}}`).Value()
	require.ErrorIs(t, err, ErrDeep)
	_, err = read(t, `{"json":{"type":1},"meta":`+strings.Repeat("[", 600)+strings.Repeat("]", 600)+`}`).Plain()
	require.ErrorIs(t, err, ErrDeep)
}

func TestValue_ofAnOlderVersionHasNoEscapedBackslash(t *testing.T) {
	f := read(t, `{"json":{"type":"a","x\\y":null},"meta":{"values":{"x\\y":["undefined"]}}}`)
	plain, err := f.Plain()
	require.NoError(t, err)
	require.Equal(t, `{"type":"a"}`, string(plain))
}

func TestEncode_marksWhatIsInItself(t *testing.T) {
	o := &Object{}
	o.Members = []Member{{"type", "a"}, {"self", o}, {"list", &Array{[]any{o}}}}
	text, err := Encode(o, limit)
	require.NoError(t, err)
	require.Equal(t, `{"json":{"type":"a","self":null,"list":[null]},"meta":{"referentialEqualities":[["self","list.0"]],"v":1}}`, string(text))
	v, err := read(t, string(text)).Value()
	require.NoError(t, err)
	self, _ := v.(*Object).Get("self")
	require.Same(t, v, self)
}

// A few shared arrays would be gigabytes when they are written out.
func TestEncode_hasALimit(t *testing.T) {
	v := &Array{[]any{"x"}}
	for range 40 {
		v = &Array{[]any{v, v}}
	}
	_, err := Encode(v, limit)
	require.ErrorIs(t, err, ErrLong)
	_, err = Encode(&Object{[]Member{{"__proto__", 1}}}, limit)
	require.ErrorIs(t, err, ErrPollutes)
	_, err = Encode(struct{}{}, limit)
	require.ErrorContains(t, err, "no way to write")
}

// FuzzRead looks that no text does harm, and that what is read is written so that it reads
// as the same.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		`{"json":{"type":"a","data":{"d":"2020-01-02T03:04:05.006Z","s":["x"]}},"meta":{"values":{"data.d":["Date"],"data.s":["set"]},"v":1}}`,
		`{"json":{"type":"a","m":[["k",null]],"e":{"name":"E","message":"m"}},"meta":{"values":{"m":["map",{"0.1":["undefined"]}],"e":["Error"]},"referentialEqualities":{"m":["e"]},"v":1}}`,
		`{"json":{"type":"a","b":"1","n":"-0","r":"/a/g","u":"x:y","t":[1]},"meta":{"values":{"b":["bigint"],"n":["number"],"r":["regexp"],"u":["URL"],"t":[["typed-array","Int8Array"]]}}}`,
		`{"json":{"type":"a","x":{}},"meta":{"referentialEqualities":[["x"],{"x":["y"]}],"v":1}}`,
		`{"type":"a","data":null}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		frame, err := Read(text)
		if err != nil {
			return
		}
		_, err = Read(frame.Forward())
		require.NoError(t, err)
		if plain, err := frame.Plain(); err == nil {
			_, err := Read(plain)
			require.False(t, err != nil && !frame.Wrapped, "%s", plain)
		}
		v, err := frame.Value()
		if err != nil {
			return
		}
		first, err := Encode(v, limit)
		if err != nil {
			return
		}
		again, err := Read(first)
		require.NoError(t, err)
		if !again.Wrapped {
			return
		}
		v, err = again.Value()
		require.NoError(t, err, "%s", first)
		second, err := Encode(v, limit)
		require.NoError(t, err)
		require.Equal(t, string(first), string(second))
	})
}

// The paths of annotations are written in parts: a short text can mean long ones, and many.
func TestRead_makesNoMuchOfAnnotations(t *testing.T) {
	const levels, leaves = 100, 2000
	text := []byte(`{"json":{"type":"a"},"meta":{"values":` + strings.Repeat(`{"`+strings.Repeat("a.", 63)+`a":`, levels) +
		`{` + strings.Repeat(`"a":["Date"],`, leaves) + `"\u0061":["Date"]}` + strings.Repeat(`}`, levels) + `}}`)
	require.Less(t, len(text), 64<<10)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Read(text)
	runtime.ReadMemStats(&after)
	require.NoError(t, err, "it is passed on, and followed by nobody")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20))
}
