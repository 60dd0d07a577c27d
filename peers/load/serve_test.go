package load_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/peers/load"
)

func TestServe_endsAtWhatIsNoOrder(t *testing.T) {
	err := load.Serve(t.Context(), strings.NewReader("{}\nhello\n"), io.Discard, &parrot{})
	require.ErrorContains(t, err, "order: invalid character 'h'")
}

func TestServe_answersInTurn(t *testing.T) {
	var out strings.Builder
	require.NoError(t, load.Serve(t.Context(), strings.NewReader(`{"id":1,"op":"workers","workers":[{"dir":"/x"}]}
{"id":2,"op":"sing"}
`), &out, &parrot{}))
	require.Equal(t, `{"id":1,"result":null}
{"id":2,"result":null,"error":{"message":"unknown operation \"sing\": expected workers, run or memory"}}
`, out.String())
}
