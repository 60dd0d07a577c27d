import { definePlugin } from '@proj-airi/plugin-sdk'

export default definePlugin('define-returns-undefined', '1.0.0', () => {})
