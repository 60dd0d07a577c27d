// Which of the host's calls the plugin is at, however many it serves at a time: what it
// calls meanwhile is for the sake of that one.
import { AsyncLocalStorage } from 'node:async_hooks'

const calls = new AsyncLocalStorage()

// inCall runs what serves a call.
export const inCall = (invokeId, run) => calls.run(invokeId, run)

// currentCall is the invokeId of the call that is served; undefined where the plugin acts
// of its own accord.
export const currentCall = () => calls.getStore()
