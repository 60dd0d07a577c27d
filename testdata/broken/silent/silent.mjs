// Never answers: its init hook waits for ever.
export const init = () => new Promise(() => setInterval(() => {}, 1000))
