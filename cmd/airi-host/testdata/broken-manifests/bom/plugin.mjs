export const init = () => {}
