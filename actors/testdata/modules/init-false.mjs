export const init = () => false
