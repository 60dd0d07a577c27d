// Command ledger is a Paperclip worker written in Go: it keeps the books of each
// company in the host's state.
//
//	tool:ledger-add         adds an entry
//	tool:ledger-pay         adds one, has another plugin write the receipt, and tells all
//	action:ledger-clear     throws all entries of the company away
//	data:entries            lists them, with the balance
//	event:payment.received  adds an entry, too
//	job:tally               logs how many were added since the last time
//
// What a Paperclip host has to know before it starts the worker, the schema of the
// tool's parameters and the job's schedule among it, stands in manifest.mjs.
package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/airi-host/airi-host/plugin"
)

// Entry is one line of the ledger; its amount is in cents.
type Entry struct {
	Text   string `json:"text"`
	Amount int64  `json:"amount"`
}

// Balanced is what data:entries tells.
type Balanced struct {
	Entries []Entry `json:"entries"`
	Balance int64   `json:"balance"`
}

func main() {
	plugin.Main(new(ledger).plugin())
}

// ledger is what the worker itself remembers.
type ledger struct {
	// mu is held while the entries are read and written back.
	mu    sync.Mutex
	added int
}

func (l *ledger) plugin() *plugin.Definition {
	p := plugin.Define("ledger")
	plugin.Tool(p, "ledger-add", func(ctx context.Context, e Entry) (plugin.Result, error) {
		books, err := l.add(ctx, e)
		if err != nil {
			return plugin.Result{}, err
		}
		return plugin.Result{Content: fmt.Sprintf("%s: the balance is %d cents", e.Text, books.Balance), Data: books}, nil
	})
	plugin.Tool(p, "ledger-pay", l.pay)
	plugin.Action(p, "ledger-clear", func(ctx context.Context, _ plugin.Invocation[struct{}]) (any, error) {
		return nil, plugin.From(ctx).Call(ctx, "state.delete", entriesOf(ctx), nil)
	})
	plugin.Data(p, "entries", func(ctx context.Context, _ struct{}) (Balanced, error) { return read(ctx) })
	plugin.On(p, "payment.received", func(ctx context.Context, e Entry) error {
		_, err := l.add(ctx, e)
		return err
	})
	plugin.Job(p, "tally", l.tally)
	return p
}

// add appends an entry to the books of the company for which ctx's call is made.
func (l *ledger) add(ctx context.Context, e Entry) (Balanced, error) {
	if e.Text == "" {
		return Balanced{}, errors.New("what is the entry for? give a text")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	books, err := read(ctx)
	if err != nil {
		return Balanced{}, err
	}
	books.Entries = append(books.Entries, e)
	books.Balance += e.Amount
	where := entriesOf(ctx)
	where["value"] = books.Entries
	if err := plugin.From(ctx).Call(ctx, "state.set", where, nil); err != nil {
		return Balanced{}, err
	}
	l.added++
	plugin.From(ctx).Log().InfoContext(ctx, "added", "text", e.Text, "amount", e.Amount)
	return books, nil
}

// Payment is what somebody pays, in cents.
type Payment struct {
	Name   string `json:"name"`
	Amount int64  `json:"amount"`
}

// pay takes money, calls the tool of an AIRI module for the receipt, and tells whoever
// hears the event plugin.ledger.paid.
func (l *ledger) pay(ctx context.Context, paid Payment) (plugin.Result, error) {
	books, err := l.add(ctx, Entry{paid.Name, paid.Amount})
	if err != nil {
		return plugin.Result{}, err
	}
	var receipt plugin.Result
	text := fmt.Sprintf("%s pays %d cents: the balance is %d.", paid.Name, paid.Amount, books.Balance)
	if err := plugin.From(ctx).Call(ctx, "tool:echo", map[string]string{"text": text}, &receipt); err != nil {
		return plugin.Result{}, err
	}
	told := map[string]any{"name": "paid", "companyId": plugin.Scope(ctx), "payload": paid}
	if err := plugin.From(ctx).Call(ctx, "events.emit", told, nil); err != nil {
		return plugin.Result{}, err
	}
	return plugin.Result{Content: receipt.Content}, nil
}

// read returns the books of the company.
func read(ctx context.Context) (Balanced, error) {
	var books Balanced
	if err := plugin.From(ctx).Call(ctx, "state.get", entriesOf(ctx), &books.Entries); err != nil {
		return Balanced{}, err
	}
	if books.Entries == nil { // the host answers null where nothing is kept
		books.Entries = []Entry{}
	}
	for _, e := range books.Entries {
		books.Balance += e.Amount
	}
	return books, nil
}

// entriesOf says where the host keeps the entries of the company.
func entriesOf(ctx context.Context) map[string]any {
	return map[string]any{"scopeKind": "company", "scopeId": plugin.Scope(ctx), "stateKey": "entries"}
}

func (l *ledger) tally(ctx context.Context, run plugin.Run) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	plugin.From(ctx).Log().InfoContext(ctx, "tally", "added", l.added, "trigger", run.Trigger)
	l.added = 0
	return nil
}
