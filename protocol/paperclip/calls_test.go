package paperclip

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestCalls_areNumberedAndAnsweredInAnyOrder(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	require.Equal(t, []string{`send {"id":1,"method":"getData","params":{"key":"a","params":{}}}`}, r.invoke(10, protocol.Call{Key: "data:a"}))
	require.Equal(t, []string{`send {"id":2,"method":"getData","params":{"key":"b","params":{"n":9007199254740993}}}`},
		r.invoke(11, protocol.Call{Key: "data:b", Input: raw(`{"n":9007199254740993}`)}))
	require.Equal(t, []string{`complete 11 ok {"n":-0}`}, r.receive(`{"id":2,"result":{"n":-0}}`))
	require.Equal(t, []string{"complete 10 error no"}, r.receive(`{"id":1,"error":{"message":"no"}}`))
}

func TestCalls_matchIDsWithoutConversion(t *testing.T) {
	for id, want := range map[string]string{
		`2`:                    "complete 2 ok 1",
		`2.0`:                  "complete 2 ok 1",
		`2e0`:                  "complete 2 ok 1",
		`20E-1`:                "complete 2 ok 1",
		`"2"`:                  `complete 2 error wire: plugin lab: getData was answered under the id "2", a string; expected the number 2`,
		`3`:                    "dropped unknown-call 3",
		`"3"`:                  `dropped unknown-call "3"`,
		`0`:                    "dropped unknown-call 0",
		`-2`:                   "dropped unknown-call -2",
		`2.5`:                  "dropped unknown-call 2.5",
		`1e999`:                "dropped unknown-call 1e999",
		`"2 "`:                 `dropped unknown-call "2 "`,
		`[2]`:                  "dropped unknown-call [2]",
		`{"id":2}`:             `dropped unknown-call {"id":2}`,
		`true`:                 "dropped unknown-call true",
		`18446744073709551617`: "dropped unknown-call 18446744073709551617",
	} {
		r := newRig(t, Plugin{}, protocol.Settings{})
		r.call(1, "")
		r.call(2, "")
		require.Equal(t, []string{want}, r.receive(`{"id":`+id+`,"result":1}`), id)
	}
}

func TestCalls_aStepsAnswerIsMatchedAlike(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.setup()
	require.Equal(t, []string{`ran setup error wire: plugin lab: initialize was answered under the id "1", a string; expected the number 1`},
		r.receive(`{"id":"1","result":{"ok":true}}`))
}

func TestCalls_countWhatComesLate(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.call(1, "")
	r.call(2, "")
	r.receive(`{"id":1,"result":1}`)
	require.Empty(t, r.step(protocol.Cancel{ID: 2, Reason: "timeout"}), "this wire has no word for it")
	require.Equal(t, []string{"dropped late-answer 1"}, r.receive(`{"id":1,"result":1}`))
	require.Equal(t, []string{"dropped late-answer 2"}, r.receive(`{"id":2,"result":1}`))
	require.Equal(t, []string{`dropped unknown-call "2"`}, r.receive(`{"id":"2","result":1}`))
	require.Equal(t, []string{`dropped answer-without-id {"code":-32700}`}, r.receive(`{"id":null,"error":{"code":-32700}}`))
}

func TestCalls_areBounded(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{MaxPending: 1})
	r.call(1, "")
	require.Equal(t, []string{"complete 2 error overloaded: plugin lab: 1 calls are in flight, the limit: call data:k again later"},
		r.invoke(2, protocol.Call{Key: "data:k"}))
	require.Contains(t, r.invoke(3, protocol.Call{Key: "event:e"})[1], "complete 3 ok", "an event takes no place")
	r.step(protocol.Cancel{ID: 1})
	r.call(4, "")
}

func TestCalls_endWithTheConnectionInTheirOrder(t *testing.T) {
	r := newRig(t, Plugin{}, protocol.Settings{})
	r.call(5, "")
	r.call(3, "c")
	require.Equal(t, []string{
		"complete 5 error outcome-unknown: plugin lab ended while the call of data:k was in flight; it may have run: signal 9",
		"complete 3 error outcome-unknown: plugin lab ended while the call of data:k was in flight; it may have run: signal 9",
	}, r.step(protocol.Closed{Err: errors.New("signal 9")}))
}
