package configuration

import (
	"context"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// keepTime is how long the Store may take over one revision.
const keepTime = time.Minute

// keep has the Store keep the next revision, also when whoever set it gives up in that moment:
// what is kept is to be in force.
func (s *step) keep(ctx context.Context) (Kept, error) {
	if ctx.Err() != nil {
		return s.next, &protocol.Error{
			Code: protocol.CodeCancelled, Plugin: s.next.Plugin, Message: "the configuration was not kept: its change was given up", Err: context.Cause(ctx),
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer cancel()
	kept, err := s.Store.SetConfiguration(ctx, s.old.Revision, s.next)
	if code := protocol.CodeOf(err); code == protocol.CodeOutcomeUnknown || code == protocol.CodeConflict {
		s.doubt(whose{s.next.Plugin, s.next.Company})
	}
	return kept, err
}

// doubt notes that the Store may have a newer revision than the Book.
func (c *Configurator) doubt(who whose) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.doubts[who] = true
}

// settle has the Book go by what the Store has, where that is in doubt. It is for who has the
// plugin's turn.
func (c *Configurator) settle(ctx context.Context, who whose) error {
	c.mu.Lock()
	doubtful := c.doubts[who]
	c.mu.Unlock()
	if !doubtful {
		return nil
	}
	all, err := c.Store.ConfigurationHistory(ctx, who.plugin, who.company)
	if err != nil {
		return err
	}
	if len(all) > 0 {
		c.Book.Put(all[0])
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.doubts, who)
	return nil
}
