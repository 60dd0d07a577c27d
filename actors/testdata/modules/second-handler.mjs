// Handles an invoke that the host handles as well, and then obeys as the puppet does.
import { defineInvokeHandler } from '@moeru/eventa'
import { protocolListProviders } from '@proj-airi/plugin-sdk'
import { obey } from './puppet.mjs'

export function setupModules({ channels }) {
  defineInvokeHandler(channels.host, protocolListProviders, () => [{ name: 'from second handler' }])
  obey(channels.host)
}
