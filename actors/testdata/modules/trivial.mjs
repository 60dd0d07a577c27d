// A plugin that does nothing.
import { definePlugin } from '@proj-airi/plugin-sdk'

export default definePlugin('trivial', '1.0.0', () => ({}))
