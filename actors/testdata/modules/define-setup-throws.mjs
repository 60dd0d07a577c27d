import { definePlugin } from '@proj-airi/plugin-sdk'

export default definePlugin('define-setup-throws', '1.0.0', () => {
  throw new Error('setup() exploded')
})
