// Its init takes until the test lets it pass.
import { defineInvoke, defineInvokeEventa } from '@moeru/eventa'

export async function init({ channels }) {
  await defineInvoke(channels.host, defineInvokeEventa('lab:gate'))()
}
