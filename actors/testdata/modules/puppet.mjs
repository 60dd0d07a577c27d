// Calls what the test orders, once it is ready, and tells what came of it.
import { defineInvoke, defineInvokeEventa } from '@moeru/eventa'

export function setupModules({ channels }) {
  obey(channels.host)
}

export async function obey(context) {
  const next = defineInvoke(context, defineInvokeEventa('lab:next'))
  for (let order = await next(); order; order = await next(await call(context, order))) {
    // All is done in the loop's head.
  }
}

async function call(context, { tag, content }) {
  try {
    return { value: await defineInvoke(context, defineInvokeEventa(tag))(content) }
  }
  catch (error) {
    return { error: error.message }
  }
}
