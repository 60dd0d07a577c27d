// A function is no plugin.
export default function plugin() {}
