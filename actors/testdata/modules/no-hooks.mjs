// Nothing here is a hook.
export const init = 'not a function'
