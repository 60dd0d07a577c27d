// setup() may take its time.
import { definePlugin } from '@proj-airi/plugin-sdk'

export default definePlugin('define-async', '1.0.0', async () => {
  await null
  return {
    init({ channels }) {
      channels.host.emit({ id: 'lab:init', type: 'event' }, null)
    },
  }
})
