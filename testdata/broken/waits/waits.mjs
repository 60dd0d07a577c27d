// Needs what a slow plugin offers.
export const init = () => {}
